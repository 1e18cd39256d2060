"""README, typed by somebody who has just come: what stands there, in the order
in which it stands there, on a fresh Debian.  Then what is to be there after the
power was cut (test_power.py).

The tests of class Newcomer run in the order of their names."""
import glob
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "system")]
from models import Model  # noqa: E402
from test_package import (PAYLOAD, get, journal, sh, show,  # noqa: E402
                          wait_for)

POWER = "/var/lib/vm-power.json"
CONF = "/etc/myelin/conf.d/vm.conf"
HOME = "/home/me"


def chapter(title):
    with open(os.path.join(TOP, "README.md")) as f:
        return f.read().split("## %s\n" % title)[1].split("\n## ")[0]


def blocks(text):
    """The commands of a chapter: a list for each block."""
    found = [[]]
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1].append(line[4:].split("    #")[0].rstrip())
        elif found[-1]:
            found.append([])
    return [b for b in found if b]


def start(line, approval=None, cwd=HOME):
    """A line as "me" types it, who has just logged in."""
    if approval is not None:
        line = line.replace("a-...", approval)
    return subprocess.Popen(
        ["runuser", "-u", "me", "--", "sh", "-c", line],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=cwd, env={
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "USER": "me", "HOME": HOME, "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive"})


class Newcomer(unittest.TestCase):
    def type(self, line, want=0, **more):
        return self.wait(start(line, **more), line, want)

    def wait(self, p, line, want):
        out, err = p.communicate(timeout=300)
        self.assertEqual(p.returncode, want, "%s: %s %s\n%s" % (
            line, out[-1000:], err[-2000:], journal("-n", "30")))
        return out.decode(errors="replace")

    def approval_of(self, p):
        line = p.stderr.readline().decode()
        said = re.search(r"waits for an operator's decision: (a-\w+)", line)
        self.assertTrue(said, line)
        return said.group(1)

    @classmethod
    def setUpClass(cls):
        for name in ("me", "alice"):
            sh("useradd", "-m", "-s", "/bin/bash", name)
        # sudo looks for its own host's name
        with open("/etc/hosts", "a") as f:
            f.write("127.0.1.1 %s\n" % os.uname().nodename)
        with open("/etc/sudoers.d/me", "w") as f:
            f.write("me ALL=(ALL) NOPASSWD: ALL\n")

    def test_1_install(self):
        install, group, first = blocks(chapter(
            "Use it from the agent you have"))[0]
        self.type(install, cwd=PAYLOAD)
        self.assertTrue(wait_for(lambda: show("ActiveState") == "active", 300),
                        journal())
        self.type("mkdir -p ~/src/app && echo hello >~/src/app/greeting")
        self.type(group)
        self.assertEqual(self.type(first), "greeting\n")

    def test_2_who_may_ask_and_who_decides(self):
        users, two, second, alone = blocks(chapter(
            "Who may ask, and who may decide"))
        for line in users:
            self.type(line)
        run, table, look, approve = two
        p = start(run)
        a = self.approval_of(p)
        self.assertIn(a, self.type(table))
        self.assertIn("rm -rf .git", self.type(look, approval=a))
        self.type(approve, approval=a)
        self.assertEqual(self.wait(p, run, 0), "ran\n")
        for line in second:
            self.type(line)
        run, own, other = alone
        p = start(run)
        a = self.approval_of(p)
        self.type(own, 4, approval=a)
        self.type(other, approval=a)
        self.assertEqual(self.wait(p, run, 0), "ran\n")

    def test_3_the_packages_own_test(self):
        """By Debian's runner, which installs the package again; the users that
        the test makes are its own."""
        package, = glob.glob(PAYLOAD + "/myelin_*.deb")
        out = "/var/tmp/autopkgtest"
        # as a build leaves it: it would build another one, with dpkg-dev
        shutil.copytree(os.path.join(TOP, "debian"),
                        "/var/tmp/myelin/debian")
        open("/var/tmp/myelin/debian/files", "w").close()
        # the machine is for tests alone, which "null" may not say of its host
        r = sh("autopkgtest", "--ignore-restrictions=isolation-machine",
               "--output-dir", out, package, "/var/tmp/myelin", "--", "null",
               timeout=1200)
        # 8 would be: a test was skipped
        self.assertEqual(r.returncode, 0, r.stdout[-3000:] + r.stderr[-3000:])
        with open(out + "/summary") as f:
            self.assertRegex(f.read(), r"\Alife +PASS\n\Z")
        with open(out + "/life-stdout") as f:
            self.assertIn("life: done\n", f.read())

    def test_3b_an_agent_by_its_recipe(self):
        """Codex CLI, as far as it can be typed: a scripted model, on the
        loopback, says what a person or a real one would."""
        program = PAYLOAD + "/codex"
        if not os.path.exists(program):
            self.skipTest("the host's npm had no Codex CLI for this machine")
        sh("install", "-m", "755", program, "/usr/local/bin/codex")
        found = blocks(chapter("Use it from the agent you have"))
        config, (line,) = [found[n:n + 2] for n, b in enumerate(found)
                           if b[0] == "[mcp_servers.myelin]"][0]
        with Model("cat greeting; pwd", "It is done.") as model:
            config = [
                'model = "scripted"', 'model_provider = "ours"',
                "[model_providers.ours]", 'name = "ours"',
                'base_url = "%s/v1"' % model.url, 'wire_api = "responses"',
                ] + config + ["startup_timeout_sec = 120"]
            self.type("mkdir -p ~/.codex && cat >~/.codex/config.toml <<'E'\n"
                      "%s\nE" % "\n".join(config))
            # nobody sits before it: then it has no server of its own either
            line = line.replace("codex ", "codex exec --skip-git-repo-check ") \
                .replace(" --no-daemon", "")
            out = self.type(line + " 'what is there?'", cwd=HOME + "/src/app")
        self.assertEqual(out, "It is done.\n")
        self.assertIn("hello", json.dumps(model.came))
        self.assertIn(HOME + "/src/app", json.dumps(model.came))
        self.assertIn(("bash", "completed"), [
            (c["tool"], c["state"]) for c in get("/v1/calls")["calls"]])

    def test_4_a_stranger_finds_the_log(self):
        self.assertIn("myelind", journal("-n", "50"))

    def test_5_what_the_power_will_be_cut_from(self):
        """State of every kind, a call that runs, and one after the other that
        is asked for while the lights go out."""
        os.sync()   # the system is installed; what follows is Myelin's own
        with open(CONF, "w") as f:
            f.write('principal key "ci" { preset "standard" }\n')
        self.type("sudo systemctl reload myelin")
        kept = {"key": self.type("sudo myelinctl keys add ci").strip()}
        self.assertTrue(kept["key"].startswith("myelin_"), kept)
        kept["session"] = self.type("myelinctl sessions open -w ~/src/app") \
            .strip()
        done = json.loads(self.type(
            "myelinctl call --session %s bash '{\"command\":\"echo kept\"}'"
            % kept["session"]))
        self.assertEqual(done["stdout"], "kept\n")
        kept["done"] = done["call"]
        os.sync()   # a transcript is not waited for
        subprocess.Popen(
            ["runuser", "-u", "me", "--", "myelinctl", "call", "--session",
             kept["session"], "bash", '{"command":"touch made; sleep 600"}'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, cwd="/")
        self.assertTrue(wait_for(lambda: os.path.exists(
            HOME + "/src/app/made"), 120))

        def running():
            for c in get("/v1/calls")["calls"]:
                if c["state"] == "running":
                    return c["call"]
        self.assertTrue(wait_for(running, 120))
        kept["running"] = running()

        def synced():
            head = get("/v1/audit?limit=1")["head"]
            return head if head["synced"] == head["sequence"] else None
        self.assertTrue(wait_for(synced, 120))
        head = synced() or get("/v1/audit?limit=1")["head"]
        kept["anchor"] = "%d:%s" % (head["sequence"], head["hash"])
        with open(POWER, "w") as f:
            json.dump(kept, f)
            f.flush()
            os.fsync(f.fileno())
        os.fsync(os.open("/var/lib", os.O_RDONLY))
        subprocess.Popen(
            ["runuser", "-u", "me", "--", "sh", "-c",
             "while :; do myelinctl run -- true; done"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, cwd="/")
        self.assertEqual(pwd.getpwnam("me").pw_dir, HOME)


if __name__ == "__main__":
    unittest.main()
