"""A read-write workspace at its own path, owned by its owner outside."""
import contextlib
import os
import re
import signal
import subprocess
import threading
import time
import unittest

from footprint import children, state, uid_of
from harness import Instance, Workspace, wait_for

GIT = ["git", "-c", "safe.directory=*", "-c", "user.name=A",
       "-c", "user.email=a@example.org"]


class Checkout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.w = Workspace()
        subprocess.run(GIT + ["init", "-q", "-b", "main", cls.w.path],
                       check=True)
        cls.w.write("main.c", "#include <stdio.h>\n"
                    "int main(void) { puts(\"built\"); return 0; }\n")
        cls.w.write("Makefile", "main: main.c\n\tcc -o main main.c\n")
        subprocess.run(GIT + ["-C", cls.w.path, "add", "-A"], check=True)
        subprocess.run(GIT + ["-C", cls.w.path, "commit", "-qm", "first"],
                       check=True)
        cls.w.give()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def bash(self, command, **more):
        fields = dict(self.w.fields(), **more)
        return self.i.bash(command, **fields)

    def ok(self, command):
        r = self.bash(command)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def test_same_path(self):
        self.assertEqual(self.ok("pwd"), self.w.path + "\n")
        self.assertIn("main.c", self.ok("ls"))

    def test_git(self):
        self.assertEqual(self.ok("git status --porcelain -uno"), "")
        self.ok("echo more >> new.txt && git add new.txt && "
                "git -c user.name=A -c user.email=a@example.org "
                "commit -qm second")
        out = subprocess.run(GIT + ["-C", self.w.path, "log", "--format=%s"],
                             check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(out, b"second\nfirst\n")

    def test_build(self):
        self.assertTrue(self.ok("make -s && ./main").endswith("built\n"))

    def test_python(self):
        self.assertEqual(self.ok("python3 -c 'print(open(\"main.c\")"
                                 ".readline(), end=\"\")'"),
                         "#include <stdio.h>\n")

    def test_new_files_are_the_owners(self):
        self.ok("mkdir -p a/b && touch a/b/c && ln -s c a/b/d && mkfifo a/p")
        seen = 0
        for path in map(self.w.at, self.w.names()):
            below = [os.path.join(root, name)
                     for root, dirs, files in os.walk(path)
                     for name in dirs + files]
            for name in [path] + below:
                st = os.lstat(name)
                self.assertEqual((st.st_uid, st.st_gid),
                                 (self.w.uid, self.w.gid), name)
                seen += 1
        self.assertGreater(seen, 5)

    def test_nothing_else_of_the_parents(self):
        up = os.path.dirname(self.w.path)
        self.assertEqual(self.ok("ls " + up), os.path.basename(self.w.path)
                         + "\n")
        # In code, which the judge doesn't follow: it denies the path itself.
        r = self.i.call("python", {"code": "open(%r, 'w')" % (up + "/x")},
                        **self.w.fields())
        self.assertRegex(r["stderr"],
                         "Read-only file system|Permission denied")

    def test_foreign_group_can_be_written(self):
        path = os.path.join(self.w.path, "foreign")
        with open(path, "w") as f:
            f.write("x")
        os.chown(path, self.w.uid, 54321)
        os.chmod(path, 0o600)
        self.assertEqual(self.ok("cat foreign && echo y > foreign && "
                                 "rm foreign"), "x")

    def test_roots_file_can_not_be_touched(self):
        path = os.path.join(self.w.path, "roots")
        with open(path, "w") as f:
            f.write("x")
        os.chown(path, 0, 0)
        os.chmod(path, 0o666)
        r = self.bash("echo y >> roots")
        self.assertNotEqual(r["exit_code"], 0)
        with open(path) as f:
            self.assertEqual(f.read(), "x")
        os.unlink(path)

    def test_run_fills_in_the_owner(self):
        r = self.i.ctl("run", "-w", self.w.path, "--", "sh", "-c",
                       "pwd; touch byrun")
        self.assertEqual((r.returncode, r.stdout.decode()),
                         (0, self.w.path + "\n"), r.stderr)
        st = os.stat(os.path.join(self.w.path, "byrun"))
        self.assertEqual((st.st_uid, st.st_gid), (self.w.uid, self.w.gid))

    def test_run_never_takes_roots_group(self):
        """A directory given away by "chown USER" alone."""
        w = Workspace(uid=12345, gid=0)
        try:
            r = self.i.ctl("run", "-w", w.path, "--", "touch", "new")
            self.assertEqual(r.returncode, 0, r.stderr)
            st = os.stat(os.path.join(w.path, "new"))
            self.assertEqual(st.st_uid, 12345)
            self.assertNotEqual(st.st_gid, 0)
        finally:
            w.close()


class Owners(unittest.TestCase):
    # the directory, and what maps its owner unless that was made before
    WALKED = r"neurond.*imsg maker gets WALKED, \d+ bytes, %d fds"

    def several(self, w):
        """Calls in the same workspace, at the same time, each write there:
        more than there is stock."""
        calls = [self.i.request("POST", "/v1/calls", dict(
            w.fields(), tool="bash", args={"command": "echo x >f%d" % n},
            wait_ms=0)) for n in range(14)]
        for n, (status, call) in enumerate(calls):
            self.assertIn(status, (200, 202), call)
            r = self.i.get("/v1/calls/%s?wait_ms=50000" % call["call"])[1]
            self.assertEqual((r["state"], r["exit_code"]),
                             ("completed", 0), r)
            path = w.at("f%d" % n)
            st = os.stat(path)
            self.assertEqual((st.st_uid, st.st_gid), (w.uid, w.gid))
            os.unlink(path)

    def test_the_owner_who_was_expected(self):
        """The stock that is made behind a neuron has what maps its owner: it
        is used for him, and for nobody else."""
        spaces = Workspace(), Workspace(12355, 12356)
        for w in spaces:
            self.addCleanup(w.close)
        with Instance(extra="pool 0\n", start=False) as self.i:
            self.i.start(("-v", "-T", "imsg"))

            def used():
                # each once as the one who was not expected
                for w in spaces * 2:
                    self.several(w)
                log = self.i.log()
                self.assertRegex(log, self.WALKED % 2)
                return re.search(self.WALKED % 1, log)
            wait_for(used, 60)


class StoodStill(unittest.TestCase):
    def stopped(self, maker, uid):
        """A worker of the maker that is the owner by now, and has not ended."""
        for pid in children(maker):
            if uid_of(pid) == uid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                wait_for(lambda: state(pid) not in ("R", "S", "D"), 10, 0)
                if state(pid) == "T":
                    return pid
        return None

    def test_a_machine_that_stood_still(self):
        """A walk has its 2 s, also if it was not there to use them."""
        w, end = Workspace(), threading.Event()
        self.addCleanup(w.close)
        wrong = []

        def ask(i):
            while not end.is_set():
                r = i.bash("pwd", **w.fields())
                if r["stdout"] != w.path + "\n":
                    wrong.append(r)
        with Instance(extra="pool 0\n") as i:
            maker = i.pid("maker")
            threads = [threading.Thread(target=ask, args=(i,))
                       for _ in range(8)]
            for t in threads:
                t.start()
            try:
                worker = wait_for(lambda: self.stopped(maker, w.uid), 60, 0)
                os.kill(maker, signal.SIGSTOP)
                time.sleep(2.2)
                os.kill(maker, signal.SIGCONT)
                time.sleep(0.3)  # that it looks, and more than once
                os.kill(worker, signal.SIGCONT)
            finally:
                end.set()
                for t in threads:
                    t.join(60)
        self.assertEqual(wrong, [])

    def test_a_machine_that_stood_still_for_longer(self):
        """And a neuron the 5 s in which it has to be up."""
        with Instance(extra="pool 0\n") as i:
            pids = [i.pid(name) for name in ("spawner", "neurond")]
            os.kill(pids[0], signal.SIGSTOP)
            try:
                call = i.request("POST", "/v1/calls", {
                    "tool": "bash", "args": {"command": "echo ok"}})[1]
                # neurond has sent what makes one
                wait_for(lambda: i.status()["neurons"]["live"] == 1, 10)
                os.kill(pids[1], signal.SIGSTOP)
                time.sleep(5.2)
                os.kill(pids[1], signal.SIGCONT)
                time.sleep(0.3)
            finally:
                os.kill(pids[0], signal.SIGCONT)
            r = i.get("/v1/calls/%s?wait_ms=50000" % call["call"])[1]
            self.assertEqual(r["stdout"], "ok\n", r)
            self.assertEqual([i.pid(name) for name in ("spawner", "neurond")],
                             pids)


class Refused(unittest.TestCase):
    """A workspace that can't be had is refused, saying why."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def refused(self, path, words, uid=None, gid=None):
        status, body = self.i.request("POST", "/v1/sessions", {
            "workspace": path,
            "owner": {"uid": self.w.uid if uid is None else uid,
                      "gid": self.w.gid if gid is None else gid}})
        self.assertIn(status, (400, 403, 409), body)
        self.assertRegex(body["error"]["message"], words)
        # and the next request works
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def test_missing(self):
        self.refused(self.w.path + "/none", "none|does not exist|No such")

    def test_a_file(self):
        self.w.write("file", "x")
        self.refused(self.w.path + "/file", "director")

    def test_another_owner(self):
        self.refused(self.w.path, "own|uid", uid=23456)

    def test_root_as_owner(self):
        self.refused(self.w.path, "owner.uid", uid=0)

    def test_symlink_in_the_path(self):
        link = os.path.join(self.w.top, "link")
        os.symlink(self.w.path, link)
        self.refused(link, "link|loop")

    def test_system_directories(self):
        for path in ("/", "/proc", "/usr", "/etc", "/usr/lib"):
            self.refused(path, ".")

    def test_not_clean(self):
        for path in ("relative", self.w.path + "/../x", self.w.path + "//",
                     "/proc/self/cwd", ""):
            status, body = self.i.request("POST", "/v1/sessions", {
                "workspace": path,
                "owner": {"uid": self.w.uid, "gid": self.w.gid}})
            self.assertIn(status, (201, 400, 403), (path, body))
            if path != "":
                self.assertNotEqual(status, 201, path)

    def test_tmpfs_or_proc_is_told(self):
        if not os.path.isdir("/dev/shm"):
            self.skipTest("no /dev/shm")
        d = "/dev/shm/myelin-test-%d" % os.getpid()
        os.mkdir(d)
        os.chown(d, self.w.uid, self.w.gid)
        try:
            status, body = self.i.request("POST", "/v1/sessions", {
                "workspace": d,
                "owner": {"uid": self.w.uid, "gid": self.w.gid}})
            # where the kernel can idmap tmpfs it works, elsewhere it is told
            if status != 201:
                self.assertRegex(body["error"]["message"], "tmpfs|filesystem"
                                 "|idmap|/dev")
        finally:
            os.rmdir(d)


class Patterns(unittest.TestCase):
    def test_sibling_prefix(self):
        w = Workspace()
        evil = w.path + "-evil"
        os.mkdir(evil)
        os.chown(evil, w.uid, w.gid)
        conf = """
principal user root { preset standard; workspace "%s"; owner any }
operator user root may approve, audit, manage
""" % w.path
        try:
            with Instance(conf) as i:
                self.assertTrue(i.session(**w.fields()))
                status, body = i.request("POST", "/v1/sessions", {
                    "workspace": evil,
                    "owner": {"uid": w.uid, "gid": w.gid}})
                self.assertEqual(status, 403, body)
                self.assertIn(evil, body["error"]["message"])
        finally:
            w.close()


if __name__ == "__main__":
    unittest.main()
