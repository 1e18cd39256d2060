"""myelinctl run, and contrib/try: a program's life seen from outside."""
import os
import random
import subprocess
import time
import unittest

import footprint
from harness import CTL, TOP, Instance, descendants_of, wait_for


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def run_(self, *argv, **more):
        return self.i.ctl("run", *argv, **more)

    def test_output(self):
        r = self.run_("--", "python3", "-c", "print(6*7)")
        self.assertEqual((r.returncode, r.stdout), (0, b"42\n"), r.stderr)

    def test_exit_code(self):
        self.assertEqual(self.run_("--", "sh", "-c", "exit 7").returncode, 7)

    def test_signal(self):
        r = self.run_("--", "sh", "-c", "kill -9 $$")
        self.assertEqual(r.returncode, 137)

    def test_not_found(self):
        r = self.run_("--", "nosuchcmd_xyz")
        self.assertEqual(r.returncode, 127)
        self.assertIn(b"nosuchcmd_xyz", r.stderr)

    def test_not_executable(self):
        r = self.run_("--", "/etc/passwd")
        self.assertEqual(r.returncode, 126)

    def test_timeout(self):
        begin = time.monotonic()
        r = self.run_("--timeout", "1", "--", "sleep", "600")
        self.assertEqual(r.returncode, 124)
        self.assertLess(time.monotonic() - begin, 60)

    def test_timeout_leaves_nothing(self):
        # with all the neurons that are kept ready
        footprint.settle(self.i)
        before = len(descendants_of(self.i.process.pid))
        script = "trap '' TERM; (setsid sleep 16 &) ; sleep 15"
        r = self.run_("--timeout", "1", "--", "bash", "-c", script)
        self.assertEqual(r.returncode, 124)
        wait_for(lambda: len(descendants_of(self.i.process.pid)) <= before, 60)

    def test_leftovers_do_not_outlive_their_call(self):
        """In a session the neuron stays; what a call left in it does not."""
        s = self.i.session()
        r = self.i.bash("setsid sleep 41 >/dev/null 2>&1 & echo done",
                        session=s)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "done\n"))
        for p in descendants_of(self.i.process.pid):
            try:
                with open("/proc/%d/cmdline" % p, "rb") as f:
                    self.assertNotEqual(f.read(), b"sleep\x0041\0")
            except OSError:
                pass
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_output_before_the_deadline_is_kept(self):
        r = self.run_("--timeout", "4", "--", "sh", "-c",
                      "echo one; sleep 600")
        self.assertEqual((r.returncode, r.stdout), (124, b"one\n"))

    def test_streams_apart(self):
        r = self.run_("--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((r.stdout, r.stderr), (b"out\n", b"err\n"))

    def test_bytes_are_lossless(self):
        data = bytes(range(256)) * 4096 + b"\xff\xfe no newline"
        path = os.path.join(self.i.dir, "in")
        with open(path, "wb") as f:
            f.write(data)
        with open(path, "rb") as f:
            r = self.run_("--", "cat", stdin=f)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(r.stdout, data)

    def test_streamed_stdin(self):
        # the same each time: some random bytes hold what looks like a secret
        data = random.Random(1).randbytes(3 << 20)
        r = self.run_("--", "cat", input=data)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(r.stdout, data)

    def test_large_regular_stdin_is_streamed(self):
        path = os.path.join(self.i.dir, "large")
        with open(path, "wb") as f:
            f.truncate(17 << 20)
        with open(path, "rb") as f:
            r = self.run_("--", "wc", "-c", stdin=f)
        self.assertEqual(r.stdout.strip(), b"%d" % (17 << 20), r.stderr)

    def test_no_stdin(self):
        r = self.run_("--", "sh", "-c", "cat; echo rc=$?")
        self.assertEqual(r.stdout, b"rc=0\n")

    def test_unread_stdin_does_not_hang(self):
        r = self.run_("--", "true", input=b"x" * (2 << 20), timeout=60)
        self.assertEqual(r.returncode, 0)

    def test_environment(self):
        r = self.run_("-e", "COLOUR=blue", "--", "env")
        names = {l.split("=")[0] for l in r.stdout.decode().splitlines()}
        self.assertIn("COLOUR=blue", r.stdout.decode().splitlines())
        self.assertLessEqual(names, {
            "COLOUR", "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG",
            "TERM", "TZ", "PWD", "TMPDIR", "MYELIN_NEURON", "MYELIN_SESSION",
            "MYELIN_CALL"})
        for pinned in ("HOME=/home/agent", "USER=agent", "SHELL=/bin/bash",
                       "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
                       "/usr/sbin:/sbin"):
            self.assertIn(pinned, r.stdout.decode().splitlines())

    def test_environment_credential_is_refused(self):
        r = self.run_("-e", "MY_API_KEY=1", "--", "env")
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"MY_API_KEY", r.stderr)

    def test_directory(self):
        r = self.run_("-C", "/usr", "--", "pwd")
        self.assertEqual(r.stdout, b"/usr\n", r.stderr)
        r = self.run_("--", "pwd")
        self.assertEqual(r.stdout, b"/home/agent\n", r.stderr)

    def test_directory_missing(self):
        r = self.run_("-C", "/nosuchdir", "--", "pwd")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn(b"/nosuchdir", r.stderr)

    def test_background_child_does_not_hold_the_call(self):
        for script in ("sleep 300 & echo done",
                       "(sleep 300 </dev/null >/dev/null 2>&1 &) ; echo done"):
            begin = time.monotonic()
            r = self.run_("--", "bash", "-c", script, timeout=200)
            self.assertEqual((r.returncode, r.stdout), (0, b"done\n"))
            self.assertLess(time.monotonic() - begin, 150)

    def test_large_argument(self):
        r = self.run_("--", "sh", "-c", 'printf %s "$1" | wc -c', "sh",
                      "x" * 131000)
        self.assertEqual(r.stdout.strip(), b"131000", r.stderr)

    def test_too_large_argument_names_the_limit(self):
        path = os.path.join(self.i.dir, "call.json")
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true #" + "a" * 200000},
            "wait_ms": 50000})
        self.assertIn("65536", str(body))
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n", path)

    def test_interrupt_cancels(self):
        env = dict(os.environ, MYELIN_SOCKET=self.i.api)
        p = subprocess.Popen([CTL, "run", "--", "sh", "-c",
                              "echo up; sleep 100"], env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), b"up\n")
        p.send_signal(2)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)
        wait_for(lambda: any(
            c["state"] == "cancelled" for c in
            self.i.get("/v1/calls?limit=500")[1]["calls"]), 60)


class Try(unittest.TestCase):
    """The two commands of the README are true."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("MYELIN_NO_BUILD"):
            raise unittest.SkipTest("nothing can be built on this machine")

    def try_(self, *args, timeout=300):
        return subprocess.run([os.path.join(TOP, "contrib", "try")] +
                              list(args), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout)

    def test_answers(self):
        r = self.try_("--", "python3", "-c", "print(6*7)")
        self.assertEqual((r.returncode, r.stdout), (0, b"42\n"), r.stderr)
        self.assertEqual(self.try_("--", "sh", "-c", "exit 7").returncode, 7)
        r = self.try_("--timeout", "1", "--", "sleep", "60")
        self.assertEqual(r.returncode, 124)

    def test_tour(self):
        r = self.try_()
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(b"42", r.stdout)
        self.assertIn(b"(exit status 7)", r.stdout)

    def test_long_socket_path(self):
        deep = "/tmp/" + "d" * 100
        r = self.try_("-k", deep)
        os.rmdir(deep)
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"107", r.stderr)


if __name__ == "__main__":
    unittest.main()
