"""The audit log over several files, its anchors, exports of it, and a disk
that is full."""
import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import threading
import time
import unittest

from harness import CONFIG, Instance, wait_for
from test_events import Stream, all_lines, synced


def old_names(policy):
    """Files before audit.jsonl, oldest first."""
    found = [(int(m.group(1)), m.group(0)) for m in (
        re.fullmatch(r"audit\.([0-9]+)\.jsonl", n)
        for n in os.listdir(policy)) if m]
    return [name for _, name in sorted(found)]


def fill(i, files):
    """Calls, until so many files are there before audit.jsonl."""
    policy = os.path.join(i.state, "policy")
    for n in range(400):
        if len(old_names(policy)) >= files:
            return
        i.call("exec", {"argv": ["true", "x" * 1500, str(n)]})
    raise AssertionError("no new file")


def rechain(lines):
    """Records with right hashes again, as one who rewrites all would."""
    prev, out = None, []
    for line in lines:
        text = line.rstrip(b"\n").decode()
        body = text[:text.rindex(',"prev":"')]
        if prev is None:
            prev = json.loads(text)["prev"]
        body += ',"prev":"%s"' % prev
        prev = hashlib.sha256(body.encode()).hexdigest()
        out.append((body + ',"hash":"%s"}\n' % prev).encode())
    return out, prev


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG + "audit-file 64K\n")
        try:
            cls.run_it()
        except BaseException:
            cls.i.stop(check=False)
            raise

    @classmethod
    def run_it(cls):
        fill(cls.i, 3)
        cls.i.bash("true")
        last = synced(cls.i)
        cls.lines = all_lines(cls.i)
        stream = Stream(cls.i, "?after=0")
        wait_for(lambda: stream.ids()[-1:] >= [last], 60)
        stream.close()
        cls.streamed = stream.ids()[:last]
        cls.last = last
        cls.live = cls.i.ctl("audit", "verify")
        cls.tail = cls.i.ctl("audit", "tail", "-n", "300")
        cls.export = os.path.join(cls.i.dir, "export")
        cls.exported = cls.i.ctl("audit", "export", cls.export)
        cls.again = cls.i.ctl("audit", "export", cls.export)
        cls.part = cls.i.ctl("audit", "export", "--since", "50",
                             "--until", "99")
        cls.day = cls.lines[0]["time"][:10]
        cls.days = [cls.i.ctl("audit", "export", *args) for args in (
            ("--since", cls.day), ("--until", "2001-01-01"),
            ("--since", cls.lines[49]["time"], "--until",
             cls.lines[98]["time"]))]
        cls.bad = [cls.i.ctl("audit", "export", "--since", when)
                   for when in ("yesterday", "0", "2026-1-1", "")]
        cls.i.process.terminate()
        cls.i.process.wait(60)
        cls.i.process = None
        cls.kept = cls.i.state + "-kept"
        shutil.copytree(cls.i.state, cls.kept)
        cls.anchors = os.path.join(cls.i.dir, "anchors")
        with open(cls.anchors, "w") as f:
            f.write(cls.i.log())

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def setUp(self):
        self.state = os.path.join(self.i.dir, "copy")
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.kept, self.state)
        self.policy = os.path.join(self.state, "policy")
        self.old = old_names(self.policy)

    def path(self, name):
        return os.path.join(self.policy, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read().splitlines(keepends=True)

    def write(self, name, lines):
        with open(self.path(name), "wb") as f:
            f.write(b"".join(lines))

    def whole(self, *args):
        r = self.i.ctl("audit", "verify", *(args or (self.state,)))
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout.decode()

    def refused(self, words, *args):
        r = self.i.ctl("audit", "verify", *(args or (self.state,)))
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assertIn(words, r.stderr.decode())

    def mark(self, change):
        db = sqlite3.connect(self.path("state.db"))
        db.execute(change)
        db.commit()
        db.close()

    # ---- what is there ----

    def test_whole(self):
        """Live and stopped, all records over all files."""
        self.assertGreaterEqual(len(self.old), 3)
        self.assertEqual([l["seq"] for l in self.lines],
                         list(range(1, len(self.lines) + 1)))
        self.assertEqual(self.streamed, list(range(1, self.last + 1)))
        self.assertEqual(self.live.returncode, 0, self.live.stderr)
        self.assertEqual(len(self.tail.stdout.splitlines()), 300)
        self.assertIn("The audit log is whole", self.whole())

    def test_first_record_of_a_file(self):
        for before, name in zip(self.old, self.old[1:] + ["audit.jsonl"]):
            first = json.loads(self.read(name)[0])
            self.assertEqual(first["event"], "audit.rotated")
            self.assertEqual(first["before"], before)
            self.assertEqual(first["prev"],
                             json.loads(self.read(before)[-1])["hash"])
            size = os.path.getsize(self.path(before))
            self.assertGreaterEqual(size, 65536)
            self.assertLess(size, 3 * 65536)

    def test_modes(self):
        for name in self.old + ["audit.jsonl"]:
            st = os.lstat(self.path(name))
            self.assertEqual(stat.S_IMODE(st.st_mode), 0o600, name)
        self.assertEqual(stat.S_IMODE(os.lstat(self.export).st_mode), 0o600)

    def test_goes_on(self):
        """Another start, with files before: no gap, one chain."""
        state = self.i.state
        self.i.start()
        try:
            self.assertFalse(self.i.status()["audit"]["gap"])
            self.i.bash("true")
            r = self.i.ctl("audit", "verify")
            self.assertEqual(r.returncode, 0, r.stderr)
        finally:
            self.i.process.terminate()
            self.i.process.wait(60)
            self.i.process = None
            shutil.rmtree(state)
            shutil.copytree(self.kept, state)

    # ---- taken away ----

    def test_archived(self):
        """The oldest may be taken away; verify says from where on it looked,
        and takes the others by themselves."""
        aside = os.path.join(self.i.dir, "aside.jsonl")
        os.rename(self.path(self.old[0]), aside)
        last = int(self.old[0].split(".")[1])
        out = self.whole()
        self.assertIn("records %d to " % (last + 1), out)
        self.assertIn("Records before %d are not here" % (last + 1), out)
        out = self.whole(aside)
        self.assertIn("%d records" % last, out)
        # in any order
        names = [self.path(n) for n in self.old[1:] + ["audit.jsonl"]]
        self.assertIn("%d records" % self.total(),
                      self.whole(*(names[::-1] + [aside])))
        self.refused("is missing", *([aside] + names[1:]))
        # one in the middle is no archive
        os.unlink(self.path(self.old[2]))
        self.refused("record %d is missing" % (
            int(self.old[1].split(".")[1]) + 1))

    def total(self):
        return json.loads(self.read("audit.jsonl")[-1])["seq"]

    # ---- tampering ----

    def test_old_record_changed(self):
        lines = self.read(self.old[1])
        lines[3] = lines[3].replace(b'"seq"', b'"seQ"', 1)
        self.write(self.old[1], lines)
        self.refused(self.old[1])

    def test_old_record_removed(self):
        lines = self.read(self.old[1])
        number = json.loads(lines[7])["seq"]
        del lines[7]
        self.write(self.old[1], lines)
        self.refused("record %d is missing" % number)

    def test_record_inserted(self):
        lines = self.read(self.old[0])
        lines.insert(9, lines[8])
        self.write(self.old[0], lines)
        self.refused("inserted")

    def test_files_swapped(self):
        one, two = self.read(self.old[1]), self.read(self.old[2])
        self.write(self.old[1], two)
        self.write(self.old[2], one)
        self.refused(self.old[1])
        # with their names alone: the records are in order then
        self.write(self.old[1], one + two)
        os.unlink(self.path(self.old[2]))
        self.refused("not with the one of its name")

    def test_old_file_cut(self):
        lines = self.read(self.old[1])
        self.write(self.old[1], lines[:-1])
        self.refused(self.old[1])
        self.write(self.old[1], lines[:-1] + [lines[-1][:40]])
        self.refused(self.old[1])
        self.write(self.old[1], [])
        self.refused(self.old[1])

    def test_file_cut_inside_a_record(self):
        lines = self.read("audit.jsonl")
        self.write("audit.jsonl", lines[:-1] + [lines[-1][:40]])
        self.refused("audit.jsonl: record %d" % self.total_of(lines))

    def total_of(self, lines):
        return json.loads(lines[-1])["seq"]

    def test_last_file_emptied(self):
        self.write("audit.jsonl", [])
        self.refused("cut off")

    def test_mark_ahead(self):
        self.mark("UPDATE mark SET sequence = sequence + 5")
        self.refused("cut off")

    def test_mark_of_another_record(self):
        self.mark("UPDATE mark SET hash = '%s'" % ("0" * 64))
        self.refused("written anew")

    def rewritten(self):
        """All of the log written anew, and the mark with it."""
        lines = [l for name in self.old + ["audit.jsonl"]
                 for l in self.read(name)]
        at = next(n for n, l in enumerate(lines)
                  if b'"event":"call.asked"' in l)
        lines[at] = lines[at].replace(b"exec", b"read")
        lines, last = rechain(lines)
        for name in self.old:
            os.unlink(self.path(name))
        self.write("audit.jsonl", lines)
        self.mark("UPDATE mark SET hash = '%s'" % last)

    def test_anchors(self):
        """Written anew as a whole: a good chain, which the anchors in the
        log of the service are not of."""
        out = self.whole("--anchors", self.anchors, self.state)
        met = re.search(r"([0-9]+) of ([0-9]+) anchors", out)
        self.assertGreaterEqual(int(met.group(1)), 4, out)
        self.assertEqual(met.group(1), met.group(2))
        self.rewritten()
        self.whole()
        self.refused("is not the one that its anchor names",
                     "--anchors", self.anchors, self.state)
        with open(self.anchors) as f:
            anchor = re.findall(r"audit anchor (\S+)", f.read())[-1]
        self.refused("its anchor names", "--anchor", anchor, self.state)

    def test_anchor_behind_the_end(self):
        self.refused("was cut off", "--anchor",
                     "%d:%s" % (self.total() + 1, "0" * 64), self.state)
        for bad in ("1", "1:", "0:" + "0" * 64, "1:" + "0" * 63,
                    "1:" + "0" * 65, "x:" + "0" * 64):
            self.refused(bad, "--anchor", bad, self.state)
        self.refused("no line with an anchor", "--anchors", "/dev/null",
                     self.state)

    # ---- exports ----

    def test_export(self):
        """Lines as they are, which verify takes; none is written over."""
        self.assertEqual(self.exported.returncode, 0, self.exported.stderr)
        with open(self.export) as f:
            lines = f.read().splitlines()
        self.assertEqual([json.loads(l)["seq"] for l in lines],
                         list(range(1, len(lines) + 1)))
        self.assertIn("is whole: %d records" % len(lines),
                      self.whole(self.export))
        self.assertEqual(self.again.returncode, 1)
        self.assertIn(b"File exists", self.again.stderr)

    def test_export_of_a_part(self):
        self.assertEqual(self.part.returncode, 0, self.part.stderr)
        lines = self.part.stdout.splitlines(keepends=True)
        self.assertEqual([json.loads(l)["seq"] for l in lines],
                         list(range(50, 100)))
        path = os.path.join(self.i.dir, "part")
        for wrong, words in ((lines, None), (lines[:9] + lines[10:],
                                             "record 59 is missing"),
                             (lines[:-1] + [lines[-1][:-9]], "record 99")):
            with open(path, "wb") as f:
                f.write(b"".join(wrong))
            if words is None:
                self.assertIn("records 50 to 99", self.whole(path))
            else:
                self.refused(words, path)
        since, until, between = self.days
        self.assertGreaterEqual(len(since.stdout.splitlines()),
                                len(self.lines))
        self.assertEqual(until.stdout, b"")
        times = [json.loads(l)["time"] for l in between.stdout.splitlines()]
        self.assertEqual((times[0], times[-1]), (self.lines[49]["time"],
                                                 self.lines[98]["time"]))
        for r in self.bad:
            self.assertEqual(r.returncode, 2, r)
            self.assertIn(b"--since", r.stderr)


class Archived(unittest.TestCase):
    def test_taken_away_while_it_runs(self):
        """Old files go while the service runs: what reads the log goes on,
        and says what is not there."""
        with Instance(CONFIG + "audit-file 64K\n") as i:
            fill(i, 2)
            policy = os.path.join(i.state, "policy")
            last = int(old_names(policy)[0].split(".")[1])
            os.unlink(os.path.join(policy, old_names(policy)[0]))
            first = all_lines(i)[0]
            self.assertEqual((first["seq"], first["event"]),
                             (last + 1, "audit.rotated"))
            s = Stream(i, "?after=3&event=audit.rotated")
            s.wait("audit.rotated")
            s.close()
            self.assertEqual(s.got[0], (last, "events.gap",
                                        {"from": 4, "to": last}))
            self.assertEqual(s.got[1][0], last + 1)
            r = i.ctl("audit", "verify")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("Records before %d are not here" % (last + 1),
                          r.stdout.decode())
            self.assertFalse(i.status()["audit"]["gap"])


class Kills(unittest.TestCase):
    def test_new_files_and_kills(self):
        """kill -9 of policyd at any moment, with a new file every few calls:
        one chain, whatever happened."""
        chance = random.Random(7)
        with Instance(CONFIG + "audit-file 64K\nrestart-window 1s\n") as i:
            over = threading.Event()

            def work(n):
                while not over.is_set():
                    try:
                        i.call("exec", {"argv": ["true", "x" * 1500]})
                    except (OSError, AssertionError, ValueError):
                        time.sleep(0.02)
            workers = [threading.Thread(target=work, args=(n,))
                       for n in range(3)]
            for w in workers:
                w.start()
            try:
                for _ in range(12):
                    pid = wait_for(lambda: self.pid(i), 60)
                    time.sleep(0.3 + chance.random() * 0.7)
                    os.kill(pid, signal.SIGKILL)
                    # five within a second would be too many
                    wait_for(lambda: self.pid(i) not in (None, pid), 60)
                wait_for(lambda: len(old_names(os.path.join(
                    i.state, "policy"))) >= 2, 120, 0.1)
            finally:
                over.set()
                for w in workers:
                    w.join(60)
            i.wait_up()
            self.assertFalse(i.status()["audit"]["gap"])
            r = i.ctl("audit", "verify")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertGreaterEqual(len(old_names(os.path.join(
                i.state, "policy"))), 2)
            i.process.terminate()
            i.process.wait(60)
            r = i.ctl("audit", "verify", i.state)
            self.assertEqual(r.returncode, 0, r.stderr)
            i.process = None

    def pid(self, i):
        try:
            return i.pid("policyd")
        except (OSError, AssertionError, ValueError, KeyError):
            return None


class Full(unittest.TestCase):
    def test_full_disk(self):
        """A full disk: no new call runs, those that run end as they end, and
        the chain is whole; with room again, all goes on."""
        i = Instance(start=False)
        self.addCleanup(i.stop)
        os.mkdir(i.state, 0o700)
        # a filesystem of its own, which nobody else sees or has to take away
        i.start(prefix=("unshare", "--mount", "sh", "-c",
                        'mount -t tmpfs -o size=6m,mode=0700 myelin "$0" && '
                        'exec "$@"', i.state))
        inside = "/proc/%d/root%s" % (i.process.pid, i.state)
        self.assertNotIn("policy", os.listdir(i.state))
        policyd = i.pid("policyd")
        session = i.session()
        status, running = i.request("POST", "/v1/sessions/%s/calls" % session, {
            "tool": "bash", "args": {"command": "read x; echo got $x; exit 7"},
            "stdin": {"stream": True}})
        self.assertEqual(status, 202, running)
        path = "/v1/calls/" + running["call"]
        wait_for(lambda: i.get(path)[1]["state"] == "running", 60)
        filler = os.path.join(inside, "policy", "filler")
        with open(filler, "wb", buffering=0) as f:
            with self.assertRaises(OSError):
                while True:
                    f.write(b"\0" * 65536)
        for _ in range(200):
            status, body = i.request("POST", "/v1/calls", {
                "tool": "exec", "args": {"argv": ["true", "x" * 1500]},
                "wait_ms": 50000})
            if status == 503:
                break
        self.assertEqual(status, 503, body)
        self.assertIn("store_full", body["error"]["message"])
        self.assertTrue(i.status()["store_full"])
        # one that has been running ends as it ends
        status, body = i.request("POST", path + "/stdin?eof=1", b"it\n",
                                 headers={"Content-Type":
                                          "application/octet-stream"})
        self.assertLess(status, 300, body)
        status, body = i.get(path + "?wait_ms=50000")
        self.assertEqual((body["state"], body["exit_code"], body["stdout"]),
                         ("completed", 7, "got it\n"))
        with self.lines(inside) as f:
            self.assertTrue(f.read().endswith("}\n"))
        os.unlink(filler)
        wait_for(lambda: not i.status()["store_full"], 60)
        self.assertEqual(i.bash("echo on")["stdout"], "on\n")
        self.assertEqual(i.pid("policyd"), policyd)
        r = i.ctl("audit", "verify")
        self.assertEqual(r.returncode, 0, r.stderr)
        ends = [l for l in all_lines(i) if l["event"] == "call.finished" and
                l["call"] == running["call"]]
        self.assertEqual([(e["state"], e["exit_code"]) for e in ends],
                         [("completed", 7)])

    def lines(self, inside):
        return open(os.path.join(inside, "policy", "audit.jsonl"))


if __name__ == "__main__":
    unittest.main()
