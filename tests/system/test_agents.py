"""Agents that people have, by README's own recipes: each starts `myelinctl mcp`
itself and calls a tool, as a scripted model tells it to.  Skipped where npm has
not got them.  There is no network here but the loopback: what an agent tells
its makers goes nowhere."""
import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import peers
from approvals import AGENT, Split
from harness import BUILD, CTL, TOP, wait_for
from models import Model
from upstream import lo_up

NEW_NET = 0x40000000
SECONDS = 240       # of an agent on a loaded machine; alone it takes three
COMMAND = "echo $((6*7)); cat greeting; echo made >made"
WORDS = "It is all done."


def recipes():
    """The blocks of README's chapter, a list of lines each."""
    with open(os.path.join(TOP, "README.md")) as f:
        chapter = f.read().split("## Use it from the agent you have\n")[1] \
            .split("\n## ")[0]
    return [re.sub(r"^    ", "", block, flags=re.M).splitlines()
            for block in re.findall(r"(?:^    .*\n)+", chapter, re.M)]


def recipe(first):
    """The block that begins so, and the one behind it."""
    found = recipes()
    for block, after in zip(found, found[1:]):
        if block[0] == first:
            return block, after
    raise AssertionError("README has no recipe that begins: " + first)


def unattended(line):
    """README's line for Codex, where nobody sits before it: then it has no
    server either, and does not know that option."""
    assert line.startswith("codex ") and line.endswith(" --no-daemon"), line
    return line.replace("codex ", "codex exec --skip-git-repo-check ") \
        .replace(" --no-daemon", "")


class Agents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = peers.install_agents()
        if why is not None:
            raise unittest.SkipTest(why)
        if ctypes.CDLL(None, use_errno=True).unshare(NEW_NET) == -1:
            raise OSError(ctypes.get_errno(), "unshare")
        lo_up()
        cls.s = Split()

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def setUp(self):
        """A home with a project, of a user who may ask."""
        self.top = tempfile.mkdtemp(prefix="w-", dir=os.path.join(BUILD,
                                                                  "tests"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        os.chmod(self.top, 0o755)
        self.home = os.path.join(self.top, "home")
        self.app = os.path.join(self.home, "src", "app")
        os.makedirs(self.app)
        os.mkdir(os.path.join(self.home, ".codex"))
        with open(os.path.join(self.app, "greeting"), "w") as f:
            f.write("hello\n")
        programs = os.path.join(self.top, "bin")
        os.mkdir(programs)
        for name, path in peers.agent_programs().items():
            os.symlink(path, os.path.join(programs, name))
        self.path = ":".join((programs, os.path.dirname(CTL), "/usr/bin",
                              "/bin"))
        self.before = self.calls()

    def calls(self):
        return self.s.request(AGENT, "GET", "/v1/calls")[1]["calls"]

    def run_agent(self, lines, model, **more):
        """What it says in the end."""
        for path, dirs, files in os.walk(self.home):
            for name in [path] + [os.path.join(path, n) for n in dirs + files]:
                os.lchown(name, AGENT, AGENT)
        p = subprocess.run(
            ["sh", "-ec", "\n".join(lines)], cwd=self.home, env=dict({
                "HOME": self.home, "PATH": self.path, "LC_ALL": "C.UTF-8",
                "TMPDIR": self.home, "MYELIN_SOCKET": self.s.i.api}, **more),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=SECONDS, user=AGENT, group=AGENT,
            extra_groups=[])
        out = p.stdout.decode(errors="replace")
        self.assertEqual(p.returncode, 0, "%s %s %s" % (
            out[-2000:], p.stderr[-2000:], model.came))
        return out

    def look(self, out, model):
        self.assertTrue(out.endswith(WORDS + "\n"), (out, model.came))
        # text, or a JSON object as text
        self.assertIn("42\nhello\n", re.sub(r"\\+n", "\n", json.dumps(
            model.came[-1])))
        made = os.path.join(self.app, "made")
        with open(made) as f:
            self.assertEqual(f.read(), "made\n")
        self.assertEqual(os.stat(made).st_uid, AGENT)
        old = {c["call"] for c in self.before}
        new = [c for c in self.calls() if c["call"] not in old]
        self.assertEqual([(c["tool"], c["state"]) for c in new],
                         [("bash", "completed")])
        # the agent is gone, and so is its session
        wait_for(lambda: [x["state"] for x in self.s.request(
            AGENT, "GET", "/v1/sessions")[1]["sessions"]
            if x["session"] == new[0]["session"]] == ["ended"], 60)

    def test_claude_code(self):
        lines, _ = recipe("cd ~/src/app")
        self.assertTrue(lines[-1].startswith("claude "), lines)
        with Model(COMMAND, WORDS) as model:
            out = self.run_agent(
                lines[:-1] + [lines[-1] + " -p 'what is six times seven?'"],
                model, ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none",
                MCP_TIMEOUT="%d" % (SECONDS * 500),
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
        self.look(out, model)
        for tools in model.offered:
            # the second names no tool, but where late ones will stand
            self.assertEqual({t for t in tools
                              if not t.startswith("mcp__myelin__")} -
                             {"DeferredToolPlaceholder"}, set())
            self.assertIn("mcp__myelin__bash", tools)

    def test_codex(self):
        config, (line,) = recipe("[mcp_servers.myelin]")
        with Model(COMMAND, WORDS) as model:
            with open(os.path.join(self.home, ".codex", "config.toml"),
                      "w") as f:
                f.write('model = "scripted"\nmodel_provider = "ours"\n'
                        '[model_providers.ours]\nname = "ours"\n'
                        'base_url = "%s/v1"\nwire_api = "responses"\n' %
                        model.url)
                # it hands on few variables
                f.write("\n".join(config).replace(
                    "/home/me/src/app", self.app).replace(
                    "tool_timeout_sec", 'env = { MYELIN_SOCKET = "%s" }\n'
                    "startup_timeout_sec = %d\ntool_timeout_sec" % (
                        self.s.i.api, SECONDS // 2)))
            out = self.run_agent(
                ["cd ~/src/app", unattended(line) +
                 " 'what is six times seven?'"], model)
        self.look(out, model)
        for tools in model.offered:
            self.assertIn("mcp__myelin", tools)
            for tool in ("exec_command", "shell", "local_shell",
                         "apply_patch", "write_stdin"):
                self.assertNotIn(tool, tools)


if __name__ == "__main__":
    unittest.main()
