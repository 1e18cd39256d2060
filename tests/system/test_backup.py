"""backup and restore: of a service that runs, of one that is stopped, and on a
host that has another key."""
import fcntl
import glob
import io
import json
import os
import subprocess
import tarfile
import tempfile
import threading
import unittest

from harness import Instance, wait_for
from test_homes import loops_work


def end(i):
    i.process.terminate()
    i.process.wait(timeout=60)
    i.process = None


def members(path):
    with tarfile.open(path) as t:
        return {m.name: m for m in t.getmembers()}


def kept(i):
    """A call whose transcript is on the disk."""
    call = i.call("exec", {"argv": ["echo", "kept"]})["call"]
    wait_for(lambda: i.get("/v1/calls/" + call)[1].get("transcript"), 60)
    return call


def events(i):
    found, after = [], 0
    while after is not None:
        page = i.get("/v1/audit?limit=500&after=%d" % after, operator=True)[1]
        found += [json.loads(one) for one in page["lines"]]
        after = page["next"]
    return found


class Backup(unittest.TestCase):
    def setUp(self):
        self.i = Instance()
        self.addCleanup(self.i.stop)
        self.file = os.path.join(self.i.dir, "backup.tar")

    def backup(self, *more, ok=True):
        r = self.i.ctl("backup", self.file, self.i.state, *more)
        self.assertEqual(r.returncode == 0, ok, r.stderr.decode())
        return r

    def restore(self, file=None, ok=True):
        r = self.i.ctl("restore", file or self.file, self.i.state)
        self.assertEqual(r.returncode == 0, ok, r.stderr.decode())
        return r

    def test_while_calls_run(self):
        """All that was there before is there again, and the log is whole."""
        i = self.i
        before = kept(i)
        session = i.session()
        stop, done = threading.Event(), []

        def work():
            while not stop.is_set() or len(done) < 3:
                done.append(i.bash("echo x", session=session)["state"])

        t = threading.Thread(target=work)
        t.start()
        try:
            self.backup()
        finally:
            stop.set()
            t.join(60)
        self.assertEqual(set(done), {"completed"})
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        names = members(self.file)
        self.assertLessEqual({"policy/state.db", "policy/audit.jsonl"},
                             set(names))
        self.assertFalse([n for n in names if "backup" in n or "-wal" in n])
        self.assertFalse(glob.glob(i.state + "/policy/backup*"))
        made = [e for e in events(i) if e["event"] == "backup.made"]
        self.assertEqual(len(made), 1)
        self.assertRegex(made[0]["request_id"], "^r-")
        after = i.call("exec", {"argv": ["true"]})["call"]
        end(i)
        self.restore()
        (aside,) = glob.glob(i.state + ".before-*")
        self.assertTrue(os.path.exists(aside + "/policy/state.db"))
        i.start()
        self.assertEqual(i.get("/v1/calls/" + before)[1]["stdout"], "kept\n")
        self.assertEqual(i.get("/v1/calls/" + after)[0], 404)
        # a session that ran is one that was interrupted
        row = i.get("/v1/sessions/" + session)[1]
        self.assertEqual((row["state"], row["reason"]),
                         ("ended", "interrupted"))
        r = i.ctl("audit", "verify")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertFalse(i.status()["audit"]["gap"])
        self.assertEqual(i.bash("echo again")["stdout"], "again\n")

    def test_stopped(self):
        i = self.i
        call = kept(i)
        end(i)
        os.mkdir(i.state + "/neurons/n-00000000000000000000", 0o700)
        with open(i.state + "/neurons/n-00000000000000000000/home.img",
                  "wb") as f:
            f.truncate(1 << 20)
        self.backup()
        self.assertIn("neurons/n-00000000000000000000/home.img",
                      members(self.file))
        subprocess.run(["rm", "-rf", i.state], check=True)
        self.restore()
        self.assertEqual(os.stat(i.state).st_mode & 0o7777, 0o711)
        self.assertEqual(os.stat(
            i.state + "/neurons/n-00000000000000000000/home.img").st_size,
            1 << 20)
        subprocess.run(["rm", "-rf", i.state +
                        "/neurons/n-00000000000000000000"], check=True)
        i.start()
        self.assertEqual(i.get("/v1/calls/" + call)[1]["stdout"], "kept\n")

    def test_homes_while_it_runs(self):
        """Those that nobody uses are copied; the others stay what they are."""
        i = self.i
        idle, live, later = ("n-%020d" % n for n in range(3))
        homes = i.state + "/neurons/"

        def make(name, text):
            os.mkdir(homes + name, 0o700)
            with open(homes + name + "/home.img", "wb") as f:
                f.write(text)
                f.truncate(64 << 20)

        def read(name):
            with open(homes + name + "/home.img", "rb") as f:
                return f.read(8)

        make(idle, b"as saved")
        make(live, b"in use 1")
        lock = os.open(homes + live, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            r = self.backup()
        finally:
            os.close(lock)
        self.assertIn(b" with 1 of 2 homes of persistent neurons", r.stdout)
        self.assertIn(live.encode() + b" is in use", r.stderr)
        names = members(self.file)
        self.assertIn("neurons/%s/home.img" % idle, names)
        self.assertFalse([n for n in names if live in n])
        self.assertLess(os.stat(self.file).st_size, 16 << 20)
        with open(homes + idle + "/home.img", "r+b") as f:
            f.write(b"changed!")
        make(later, b"from now")
        end(i)
        self.restore()
        self.assertEqual([read(n) for n in (idle, live, later)],
                         [b"as saved", b"in use 1", b"from now"])
        self.assertEqual(os.stat(homes + idle).st_mode & 0o7777, 0o700)
        (aside,) = glob.glob(i.state + ".before-*")
        self.assertEqual(os.listdir(aside + "/neurons"), [idle])
        with open(aside + "/neurons/" + idle + "/home.img", "rb") as f:
            self.assertEqual(f.read(8), b"changed!")
        i.start()

    def test_a_home_comes_back(self):
        if not loops_work():
            self.skipTest("no loop devices, or no mke2fs")
        i = self.i
        made = [i.request("POST", "/v1/neurons", {})[1]["neuron"]
                for _ in range(2)]
        sessions = [i.session(neuron=n) for n in made]
        for s in sessions:
            self.assertEqual(i.bash("echo saved > f", session=s)
                             ["exit_code"], 0)
        i.request("DELETE", "/v1/sessions/" + sessions[0])
        # the answer waits for its end for five seconds, and not longer
        wait_for(lambda: i.get("/v1/neurons/" + made[0])[1]["state"] ==
                 "idle", 60)
        r = self.backup()
        self.assertIn(b" with 1 of 2 homes", r.stdout)
        self.assertIn(made[1].encode() + b" is in use", r.stderr)
        s = i.session(neuron=made[0])
        i.bash("echo lost >> f", session=s)
        end(i)
        self.restore()
        i.start()
        for n in made:
            s = i.session(neuron=n)
            self.assertEqual(i.bash("cat f", session=s)["stdout"], "saved\n")

    def test_what_is_refused(self):
        i = self.i
        self.backup()
        r = self.backup(ok=False)       # it is there
        self.assertIn(b"File exists", r.stderr)
        r = self.restore(ok=False)      # it runs
        self.assertIn(b"an instance uses it", r.stderr)
        # the state of another than the one that is asked
        other = os.path.join(i.dir, "other")
        os.mkdir(other)
        r = i.ctl("backup", other + ".tar", other)
        self.assertEqual(r.returncode, 1)
        self.assertFalse(os.path.exists(other + ".tar"))
        # not an operator who may manage
        status, body = i.request("POST", "/v1/backup", {"x": 1},
                                 operator=True)
        self.assertEqual(status, 400, body)
        self.assertEqual(i.request("POST", "/v1/backup", {})[0], 404)

    def test_archives_that_are_none(self):
        i = self.i
        end(i)
        self.backup()
        with open(self.file, "rb") as f:
            good = f.read()

        def made(change):
            out = io.BytesIO()
            with tarfile.open(fileobj=io.BytesIO(good)) as old, \
                    tarfile.open(fileobj=out, mode="w") as new:
                for m in old.getmembers():
                    data = old.extractfile(m) if m.isfile() else None
                    m, data = change(m, data.read() if data else None)
                    if m is not None:
                        new.addfile(m, io.BytesIO(data) if data is not None
                                    else None)
                extra = change(None, None)
                if extra is not None:
                    new.addfile(*extra)
            return out.getvalue()

        def add(name, **fields):
            def change(m, data):
                if m is not None:
                    return m, data
                t = tarfile.TarInfo(name)
                t.size = 0
                for k, v in fields.items():
                    setattr(t, k, v)
                return t, io.BytesIO()
            return change

        def without(name):
            return lambda m, data: None if m is None else (
                (None, None) if m.name == name else (m, data))

        def spoilt(m, data):
            if m is None:
                return None
            if m.name == "policy/audit.jsonl":
                data = data.replace(b'"service.started"', b'"service.starteD"',
                                    1)
            return m, data

        before = {n: os.stat(os.path.join(i.state, "policy", n)).st_ino
                  for n in os.listdir(i.state + "/policy")}
        for what, data in (
                ("cut", good[:len(good) // 2]), ("no archive", b"x" * 4096),
                ("empty", b""),
                ("a link", made(add("policy/l", type=tarfile.SYMTYPE,
                                    linkname="/etc/passwd"))),
                ("a hard link", made(add("policy/l", type=tarfile.LNKTYPE,
                                         linkname="policy/state.db"))),
                ("a fifo", made(add("policy/f", type=tarfile.FIFOTYPE))),
                ("a device", made(add("neurons/d", type=tarfile.CHRTYPE))),
                ("set-user-id", made(add("neurons/s", mode=0o4755))),
                ("elsewhere", made(add("etc"))),
                ("up", made(add("../up"))),
                ("no database", made(without("policy/state.db"))),
                ("no log", made(without("policy/audit.jsonl"))),
                ("a changed record", made(spoilt))):
            bad = os.path.join(i.dir, "bad.tar")
            with open(bad, "wb") as f:
                f.write(data)
            with self.subTest(what):
                r = self.restore(bad, ok=False)
                self.assertIn(b"nothing was restored", r.stderr)
                self.assertEqual(before, {
                    n: os.stat(os.path.join(i.state, "policy", n)).st_ino
                    for n in os.listdir(i.state + "/policy")})
                self.assertEqual(glob.glob(i.state + ".*"), [])
                self.assertFalse(os.path.exists(i.dir + "/up"))
        # as often as one likes, also within a second
        for n in range(3):
            self.restore()
            self.assertEqual(len(glob.glob(i.state + ".before-*")), n + 1)


class AnotherHost(unittest.TestCase):
    def credential(self):
        d = tempfile.mkdtemp(prefix="cred-")
        self.addCleanup(subprocess.run, ["rm", "-rf", d])
        path = os.path.join(d, "myelin-seal")
        with open(path, "wb") as f:
            f.write(os.urandom(32))
        os.chmod(path, 0o600)
        return ["env", "CREDENTIALS_DIRECTORY=" + d]

    def test_secrets(self):
        """They need re-entry there, and are still good at home."""
        value = "a value that is sealed"
        here, there = self.credential(), self.credential()
        i = Instance(start=False)
        self.addCleanup(i.stop)
        i.start(prefix=here)
        self.assertEqual(i.request("POST", "/v1/secrets", {
            "name": "x", "value": value}, operator=True)[0], 201)
        file = os.path.join(i.dir, "backup.tar")
        r = i.ctl("backup", file, i.state)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(file, "rb") as f:
            self.assertNotIn(value.encode(), f.read())
        end(i)
        for prefix, state, shown in (
                (there, "needs re-entry", value),
                (here, "active", "[redacted:registered]")):
            r = i.ctl("restore", file, i.state)
            self.assertEqual(r.returncode, 0, r.stderr)
            i.start(prefix=prefix)
            (one,) = i.get("/v1/secrets", operator=True)[1]["secrets"]
            self.assertEqual(one["state"], state)
            self.assertEqual(i.bash("echo " + value)["stdout"], shown + "\n")
            r = i.ctl("status")
            self.assertEqual(b"sealed with another key" in r.stdout,
                             prefix is there)
            end(i)


if __name__ == "__main__":
    unittest.main()
