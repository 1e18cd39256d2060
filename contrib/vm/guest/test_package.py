"""The package's life on a Debian 12: installed, used, restarted, purged.

The tests of class Package run in the order of their names and build on each
other."""
import contextlib
import glob
import grp
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PAYLOAD = "/srv/payload"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
USERS = {"apid": "_myelin-api", "apid-operator": "_myelin-op",
         "judged": "_myelin-judge", "policyd": "_myelin-policy",
         "egressd": "_myelin-egress"}
UNIT = "/sys/fs/cgroup/system.slice/myelin.service"


def sh(*argv, user=None, timeout=300, **more):
    if user is not None:
        argv = ("runuser", "-u", user, "--") + argv
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(argv, stdout=subprocess.PIPE, timeout=timeout,
                          stderr=subprocess.PIPE, cwd="/", **more)


def show(name):
    out = sh("systemctl", "show", "-p", name, "--value", "myelin").stdout
    return out.decode().strip()


def journal(*options):
    return sh("journalctl", "-q", "-u", "myelin", "--no-pager", *options) \
        .stdout.decode(errors="replace")


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def answers():
    """A call works for alice, who is a member."""
    r = sh("myelinctl", "run", "--", "id", "-u", user="alice")
    return r.returncode == 0


def processes():
    """pid: (name, uid) of all that is in the unit's cgroup or below."""
    found = {}
    for path in glob.glob(UNIT + "/**/cgroup.procs", recursive=True):
        with open(path) as f:
            pids = f.read().split()
        for pid in pids:
            try:
                with open("/proc/%s/status" % pid) as f:
                    status = f.read()
            except OSError:
                continue
            found[int(pid)] = (
                re.search(r"^Name:\t(.*)$", status, re.M).group(1),
                int(re.search(r"^Uid:\t(\d+)", status, re.M).group(1)))
    return found


def get(path):
    """From the operator socket, as root."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("/run/myelin/operator.sock")
        s.sendall(("GET %s HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n" %
                   path).encode())
        data = b""
        while True:
            more = s.recv(65536)
            if not more:
                break
            data += more
    return json.loads(data.partition(b"\r\n\r\n")[2])


def mounts():
    with open("/proc/self/mountinfo") as f:
        return {l.split()[4] for l in f}


class Package(unittest.TestCase):
    broken = False

    def ok(self, *argv, **more):
        r = sh(*argv, **more)
        # what it said itself comes last: of a long message the end is shown
        self.assertEqual(r.returncode, 0, "%s\n%s: %s %s" % (
            journal("-n", "40"), argv, r.stdout[-2000:], r.stderr[-2000:]))
        return r.stdout.decode(errors="replace")

    def package(self):
        found = glob.glob(PAYLOAD + "/myelin_*.deb")
        self.assertEqual(len(found), 1)
        return found[0]

    def active(self, seconds=300):
        if not wait_for(lambda: show("ActiveState") == "active", seconds):
            self.fail("not active:\n" + journal("-n", "60"))

    @classmethod
    def setUpClass(cls):
        cls.mounts = mounts()
        for name in ("alice", "bob", "olga"):
            sh("useradd", "-m", "-s", "/bin/bash", name)

    @classmethod
    def tearDownClass(cls):
        """A purge leaves the users, and the kernel its profiles; the suite
        wants a host without them."""
        for name in ("myelin-neuron", "myelin-neuron-overlay"):
            with contextlib.suppress(OSError):
                with open("/sys/kernel/security/apparmor/.remove", "w") as f:
                    f.write(name)
        for name in list(USERS.values()) + ["_myelin-neuron"]:
            sh("userdel", name)
        for name in ("myelin", "myelin-operator"):
            sh("groupdel", name)

    def setUp(self):
        if Package.broken:
            self.skipTest("the installation failed")
        sh("systemctl", "reset-failed", "myelin")

    def test_01_installs(self):
        Package.broken = True
        begin = time.monotonic()
        self.ok("apt-get", "-q", "-y", "install", self.package(), timeout=300,
                env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
        print("detail installed in %.1f s" % (time.monotonic() - begin))
        self.active()
        self.assertEqual(show("NRestarts"), "0", journal())
        self.assertEqual(show("UnitFileState"), "enabled")
        Package.broken = False

    def test_02_users_and_groups(self):
        ids = set()
        for name in list(USERS.values()) + ["_myelin-neuron"]:
            p = pwd.getpwnam(name)
            self.assertGreater(p.pw_uid, 0)
            self.assertIn("nologin", p.pw_shell)
            ids.add(p.pw_uid)
        self.assertEqual(len(ids), 6)
        for name in ("myelin", "myelin-operator"):
            self.assertEqual(grp.getgrnam(name).gr_mem, [])

    def test_02_unit_is_sound(self):
        r = sh("systemd-analyze", "verify", "--man=no",
               "--recursive-errors=no", "myelin.service")
        self.assertEqual((r.returncode, r.stderr), (0, b""))

    def test_03_files(self):
        for path, group, mode in (
                ("/run/myelin", "root", 0o755),
                ("/run/myelin/api.sock", "myelin", 0o660),
                ("/run/myelin/operator.sock", "myelin-operator", 0o660),
                ("/etc/myelin", "root", 0o755),
                ("/etc/myelin/myelin.conf", "root", 0o644),
                ("/var/lib/myelin", "root", 0o711),
                ("/var/lib/myelin/policy", "_myelin-policy", 0o700)):
            st = os.stat(path)
            self.assertEqual((st.st_gid, st.st_mode & 0o7777),
                             (grp.getgrnam(group).gr_gid, mode), path)

    def test_03_apparmor_has_the_profiles(self):
        """Loaded by the package, before the service was started."""
        with open("/sys/kernel/security/apparmor/profiles") as f:
            loaded = f.read()
        names = [n for n in os.listdir("/etc/apparmor.d")
                 if n.startswith("myelin")]
        self.assertIn("myelin-neuron", names)
        for name in names:
            self.assertIn("%s (enforce)" % name, loaded)
            self.assertTrue(os.path.exists("/etc/apparmor.d/local/" + name))

    def test_04_configuration_is_checked_by_anybody(self):
        self.ok("myelind", "-n")
        self.ok("/usr/sbin/myelind", "-n", user="bob")

    def test_05_processes(self):
        found = processes()
        names = {name: uid for name, uid in found.values()}
        for name, user in USERS.items():
            self.assertEqual(names.get(name[:15]), pwd.getpwnam(user).pw_uid,
                             (name, found))
        for name in ("myelind", "neurond", "maker", "spawner"):
            self.assertEqual(names.get(name), 0, (name, found))

    def test_06_a_member(self):
        self.ok("usermod", "-aG", "myelin", "alice")
        out = self.ok("myelinctl", "run", "--", "id", user="alice")
        self.assertIn("agent", out)
        self.assertNotIn("alice", out)
        r = sh("myelinctl", "run", "--", "sh", "-c", "exit 7", user="alice")
        self.assertEqual(r.returncode, 7, r.stderr)

    def test_07_a_stranger_is_told_the_group(self):
        r = sh("myelinctl", "run", "--", "id", user="bob")
        self.assertEqual(r.returncode, 125, r)
        self.assertRegex(r.stderr.decode(), r"group \"?myelin\b")
        self.assertEqual(r.stdout, b"")

    def test_08_a_workspace(self):
        self.ok("sh", "-c", "mkdir -p ~/src && echo one >~/src/file",
                user="alice", env={"HOME": "/home/alice", "PATH":
                                   os.environ["PATH"]})
        out = self.ok("myelinctl", "run", "-w", "/home/alice/src", "--", "sh",
                      "-c", "pwd; cat file; echo two >new", user="alice")
        self.assertEqual(out, "/home/alice/src\none\n")
        st = os.stat("/home/alice/src/new")
        self.assertEqual(st.st_uid, pwd.getpwnam("alice").pw_uid)

    def test_09_an_operator(self):
        r = sh("myelinctl", "status", user="alice")
        self.assertNotEqual(r.returncode, 0)
        self.assertRegex(r.stderr.decode(), r"group \"?myelin-operator\b")
        self.ok("usermod", "-aG", "myelin-operator", "olga")
        self.assertIn("policyd", self.ok("myelinctl", "status", user="olga"))
        self.ok("myelinctl", "audit", "verify", user="olga")

    def test_10_memory_of_a_neuron_is_not_the_services(self):
        before = show("MainPID")
        r = sh("myelinctl", "run", "--", "python3", "-c",
               "x = []\nwhile True: x.append(b'x' * (16 << 20))",
               user="alice", timeout=120)
        self.assertEqual(r.returncode, 137, r.stderr)
        time.sleep(2)
        self.assertEqual((show("ActiveState"), show("MainPID"),
                          show("Result")), ("active", before, "success"),
                         journal("-n", "40"))
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))

    def test_11_a_dead_process_comes_back(self):
        main = show("MainPID")
        for name in ("policyd", "neurond", "judged", "egressd", "apid"):
            pid = [p for p, (n, _) in processes().items() if n == name][0]
            os.kill(pid, signal.SIGKILL)
            self.assertTrue(wait_for(answers, 120), "%s\n%s" % (
                name, journal("-n", "40")))
        self.assertEqual((show("MainPID"), show("NRestarts")), (main, "0"))

    def test_12_restart(self):
        before = show("MainPID")
        self.ok("systemctl", "restart", "myelin")
        self.assertNotEqual(show("MainPID"), before)
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
        self.ok("myelinctl", "audit", "verify", user="olga")

    def test_13_reload(self):
        if show("CanReload") != "yes":
            self.skipTest("this version has no reload")
        before = show("MainPID")
        self.ok("systemctl", "reload", "myelin")
        self.assertEqual(show("MainPID"), before)
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))

    def test_14_a_bad_configuration_is_named(self):
        with open("/etc/myelin/conf.d/bad.conf", "w") as f:
            f.write("# one\nnonsense yes\n")
        r = sh("myelind", "-n")
        os.unlink("/etc/myelin/conf.d/bad.conf")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn(b"/etc/myelin/conf.d/bad.conf:2", r.stderr)

    def shown(self, page, text):
        """What a page of the manual shows, as it stands there."""
        with open(os.path.join(TOP, "man", page)) as f:
            plain = f.read().replace("\\e\n    ", "").replace("\\-", "-")
        self.assertIn(text, plain)
        return text

    def test_14b_the_manuals_commands(self):
        """Those that need a service of systemd's."""
        self.ok("sh", "-c", self.shown(
            "myelind.8", "head -c 32 /dev/urandom | systemd-creds encrypt "
            "--name=myelin-seal - /etc/myelin/seal.cred"))
        lines = self.shown("myelind.8", "[Service]\nLoadCredentialEncrypted="
                           "myelin-seal:/etc/myelin/seal.cred\n")
        with open("/root/drop-in", "w") as f:
            f.write(lines)
        version = int(re.search(r"systemd (\d+)", self.ok(
            "systemctl", "--version")).group(1))
        with open("/root/editor", "w") as f:
            # Debian 13's takes what stands between its own comments alone,
            # and names a line before the file
            f.write("#!/bin/sh\nfor file; do :; done\n" + (
                "cat /root/drop-in >\"$file\"\n" if version < 257 else
                "sed -i '/^### Anything between/r /root/drop-in' "
                "\"$file\"\n"))
        os.chmod("/root/editor", 0o755)
        # it wants a terminal
        self.ok("script", "-qec", self.shown("myelind.8",
                                             "systemctl edit myelin"),
                "/dev/null", env=dict(os.environ,
                                      SYSTEMD_EDITOR="/root/editor"))
        self.ok("systemctl", "restart", "myelin", timeout=120)
        self.assertNotIn("no credential store here",
                         self.ok("myelinctl", "status"))
        self.ok("sh", "-c", self.shown(
            "myelind.8", "kill -HUP $(pidof myelind); sleep 1; myelinctl "
            "status"))
        # something asks, and who follows the journal then sees it
        follow = self.shown(
            "myelind.8", "journalctl -f "
            "MESSAGE_ID=f4dba1df5f604fadad3e99300631d72a")
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
        asking = subprocess.Popen(
            ["runuser", "-u", "alice", "--", "timeout", "120", "myelinctl",
             "run", "--", "sh", "-c", "rm -rf .git; echo ran"], cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        there = wait_for(lambda: b"a-" in sh(
            "journalctl", "-q", "--no-pager", follow.split()[-1]).stdout, 120)
        r = sh("timeout", "30", "sh", "-c", follow)
        asking.terminate()
        asking.wait(timeout=150)
        self.assertTrue(there, journal("-n", "40"))
        self.assertIn(b"a-", r.stdout, r.stderr)

    def test_14c_moved_to_another_host(self):
        self.ok("sh", "-c", self.shown(
            "myelinctl.1", "myelinctl drain && systemctl stop myelin"),
            timeout=300)
        self.ok("myelinctl", "audit", "verify", "/var/lib/myelin")
        for command in ("myelinctl backup myelin.tar",
                        "myelinctl restore myelin.tar",
                        "systemctl start myelin && myelinctl secrets"):
            self.ok("sh", "-c", self.shown("myelinctl.1", command))
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
        self.ok("myelinctl", "audit", "verify", user="olga")
        for path in glob.glob("/var/lib/myelin.before-*"):
            shutil.rmtree(path)
        os.unlink("/myelin.tar")
        shutil.rmtree("/etc/systemd/system/myelin.service.d",
                      ignore_errors=True)
        os.unlink("/etc/myelin/seal.cred")
        self.ok("systemctl", "daemon-reload")

    def test_15_the_watchdog(self):
        main = int(show("MainPID"))
        restarts = int(show("NRestarts"))
        os.kill(main, signal.SIGSTOP)
        self.assertTrue(wait_for(lambda: int(show("NRestarts")) > restarts,
                                 300), journal("-n", "20"))
        self.active()
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
        self.assertFalse(os.path.exists("/proc/%d" % main))

    def test_16_a_killed_supervisor(self):
        for _ in range(2):
            main = int(show("MainPID"))
            old = processes()
            os.kill(main, signal.SIGKILL)
            self.assertTrue(wait_for(
                lambda: show("MainPID") not in ("0", str(main)), 300))
            self.active()
            self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
            self.assertFalse([p for p in old if os.path.exists("/proc/%d" % p)])
        self.ok("myelinctl", "audit", "verify", user="olga")

    def test_17_stop_leaves_nothing(self):
        p = subprocess.Popen(["runuser", "-u", "alice", "--", "myelinctl",
                              "run", "--", "sh", "-c", "echo up; sleep 600"],
                             stdin=subprocess.DEVNULL, cwd="/",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), b"up\n")
        old = processes()
        self.ok("systemctl", "stop", "myelin")
        p.communicate(timeout=120)
        self.assertEqual(p.returncode, 125)
        # neither killed by a signal nor for its time
        self.assertEqual(show("Result"), "success", journal("-n", "40"))
        self.assertFalse([q for q in old if os.path.exists("/proc/%d" % q)])
        self.assertFalse(os.path.exists(UNIT))
        self.assertEqual(glob.glob("/sys/fs/cgroup/**/myelin*",
                                   recursive=True), [])
        self.assertEqual(mounts() - self.mounts, set())
        self.assertEqual(os.listdir("/run/myelin"), [])
        r = sh("myelinctl", "run", "--", "id", user="alice")
        self.assertEqual(r.returncode, 125)

    def test_18_installed_over(self):
        self.ok("systemctl", "start", "myelin")
        before = show("MainPID")
        self.ok("dpkg", "-i", self.package(), timeout=300)
        self.active()
        self.assertNotEqual(show("MainPID"), before)
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))

    def repack(self, version):
        """The same package, called another version."""
        d = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, d)
        self.ok("dpkg-deb", "-R", self.package(), d + "/x")
        path = d + "/x/DEBIAN/control"
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(re.sub(r"(?m)^Version: .*$", "Version: " + version, text))
        self.ok("dpkg-deb", "-b", "-Zgzip", "-z1", d + "/x", d + "/new.deb",
                timeout=300)
        return d + "/new.deb"

    def version(self):
        return self.ok("dpkg-query", "-W", "-f",
                       "${Version} ${db:Status-Abbrev}", "myelin").strip()

    def test_18b_upgraded(self):
        """What runs may end, state stays, and so does the operator's file."""
        with open("/etc/myelin/myelin.conf", "a") as f:
            f.write("\n# a word of the operator\n")
        new = self.repack("9.1")
        before = show("MainPID")
        p = subprocess.Popen(
            ["runuser", "-u", "alice", "--", "myelinctl", "run", "-w",
             "/home/alice/src", "--", "sh", "-c",
             "echo up; until [ -e go ]; do sleep 0.2; done; echo by itself"],
            stdin=subprocess.DEVNULL, cwd="/", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), b"up\n")
        head = get("/v1/audit?limit=1")["head"]
        with open("/run/dpkg.log", "w") as log:
            dpkg = subprocess.Popen(
                ["dpkg", "-i", "--force-confold", new], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, cwd="/")

        def draining():
            return dpkg.poll() is not None or get("/v1/status")["draining"]
        self.assertTrue(wait_for(draining, 240))
        # it waits for the call, which goes on and ends as it would have
        self.assertIsNone(dpkg.poll())
        self.assertIsNone(p.poll())
        with open("/home/alice/src/go", "w"):
            pass
        out, err = p.communicate(timeout=300)
        self.assertEqual((p.returncode, out), (0, b"by itself\n"), err)
        dpkg.wait(timeout=300)
        with open("/run/dpkg.log") as log:
            self.assertEqual(dpkg.returncode, 0, log.read())
        self.assertEqual(self.version(), "9.1 ii")
        self.active()
        self.assertNotEqual(show("MainPID"), before)
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))
        self.ok("myelinctl", "audit", "verify", "--anchor", "%d:%s" % (
            head["sequence"], head["hash"]))
        with open("/etc/myelin/myelin.conf") as f:
            self.assertIn("a word of the operator", f.read())

    def refused(self, deb, words):
        """Nothing is changed, and the service does not notice."""
        before = (show("MainPID"), self.version())
        r = sh("dpkg", "-i", deb, timeout=300)
        self.assertNotEqual(r.returncode, 0, r.stdout)
        for word in words:
            self.assertIn(word, r.stderr)
        self.assertEqual((show("MainPID"), self.version()), before)
        self.assertTrue(answers())

    def test_18c_a_configuration_that_the_new_one_does_not_take(self):
        path = "/etc/myelin/conf.d/old.conf"
        with open(path, "w") as f:
            f.write("# one\nnonsense yes\n")
        try:
            self.refused(self.repack("9.2"), [
                b"/etc/myelin/conf.d/old.conf:2: unknown keyword",
                b"the service goes on"])
        finally:
            os.unlink(path)

    def test_18d_what_only_another_program_finds(self):
        """It reads, but judged does not take it: the new files are there, the
        old service goes on until it is mended."""
        path = "/etc/myelin/conf.d/old.conf"
        with open(path, "w") as f:
            f.write('deny command "git" "push" { match "git pull" }\n')
        main = show("MainPID")
        r = sh("dpkg", "-i", "--force-confold", self.repack("9.2"),
               timeout=300)
        self.assertNotEqual(r.returncode, 0, r.stdout)
        self.assertIn(b"/etc/myelin/conf.d/old.conf:1", r.stderr)
        self.assertIn(b"dpkg --configure myelin", r.stderr)
        self.assertEqual((show("MainPID"), self.version()), (main, "9.2 iF"))
        self.assertTrue(answers())
        os.unlink(path)
        self.ok("dpkg", "--configure", "myelin", timeout=300)
        self.active()
        self.assertNotEqual(show("MainPID"), main)
        self.assertEqual(self.version(), "9.2 ii")
        self.assertTrue(wait_for(answers, 120), journal("-n", "40"))

    def test_18e_a_downgrade_is_refused(self):
        self.refused(self.package(), [b"which is older", b"state.db"])

    def test_19_remove_keeps_state(self):
        self.ok("apt-get", "-q", "-y", "remove", "myelin", timeout=300)
        self.assertEqual(processes(), {})
        self.assertTrue(os.path.exists("/etc/myelin/myelin.conf"))
        self.assertTrue(os.path.exists("/var/lib/myelin/policy/audit.jsonl"))
        self.assertFalse(os.path.exists("/usr/sbin/myelind"))

    def test_20_purge(self):
        self.ok("dpkg", "--purge", "myelin", timeout=300)
        left = [p for p in ("/etc/myelin", "/var/lib/myelin", "/run/myelin",
                            "/usr/libexec/myelin", "/usr/share/myelin",
                            "/etc/apparmor.d/myelin-neuron",
                            "/etc/apparmor.d/local/myelin-neuron")
                if os.path.exists(p)]
        self.assertEqual(left, [])
        pwd.getpwnam("_myelin-api")
        self.assertEqual(sh("systemctl", "--failed", "--no-legend").stdout,
                         b"")


if __name__ == "__main__":
    unittest.main()
