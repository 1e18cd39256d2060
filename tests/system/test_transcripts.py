"""Transcripts: what stays of a call when apid, policyd and time are gone."""
import glob
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import threading
import time
import unittest

from harness import CONFIG, Instance, stdout_of, wait_for

EXTRA = "\nrestart-window 1s\n"
KEY = "ghp_" + "a1B2c3D4e5" * 4


def kept(i, call, operator=False):
    """The record once its transcript has come."""
    def look():
        status, r = i.get("/v1/calls/" + call, operator=operator)
        assert status == 200, (status, r)
        return r if r.get("transcript") is not None else None
    return wait_for(look, 60)


def policy_dir(i):
    return os.path.join(i.state, "policy")


def files(i):
    return sorted(glob.glob(policy_dir(i) + "/transcripts/*"))


def index(i):
    """Rows of the index, of a service that is stopped."""
    db = sqlite3.connect("file:%s/state.db?mode=ro" % policy_dir(i), uri=True)
    try:
        return db.execute("SELECT serial, call, offset, record, length FROM "
                          "transcripts ORDER BY serial").fetchall()
    finally:
        db.close()


def age(i, calls, seconds):
    """Makes transcripts older, between a stop and a start."""
    i.process.send_signal(signal.SIGTERM)
    i.process.wait(60)
    db = sqlite3.connect(policy_dir(i) + "/state.db")
    db.executemany("UPDATE transcripts SET time = time - ? WHERE call = ?",
                   [(seconds * 1000000, c) for c in calls])
    db.commit()
    db.close()
    uid = os.stat(policy_dir(i)).st_uid
    for f in glob.glob(policy_dir(i) + "/state.db*"):
        os.chown(f, uid, uid)
    i.start()


def restart(i, name):
    """Kills one process; returns when there is another that serves."""
    pid = i.pid(name)
    os.kill(pid, signal.SIGKILL)

    def other():
        try:
            p = i.processes()
            return p[name]["state"] == "up" and p[name]["pid"] != pid and \
                all(v["state"] == "up" for v in p.values()) and \
                i.get("/v1/whoami")[0] == 200
        except (OSError, AssertionError, KeyError, TypeError):
            return False
    wait_for(other, 60, 0.05)


class Transcripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra=EXTRA)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_result_survives_apid_and_policyd(self):
        i = self.i
        r = i.bash("printf 'a\\nb'; printf e >&2; exit 3")
        before = kept(i, r["call"])
        self.assertIs(before["transcript"], True)
        for name in ("apid", "policyd"):
            restart(i, name)
            status, after = i.get("/v1/calls/" + r["call"])
            self.assertEqual(status, 200)
            for member in ("state", "exit_code", "stdout", "stderr", "bytes",
                           "dropped", "cut", "encoding", "usage", "times",
                           "denials", "layers", "reason", "result"):
                self.assertEqual(after[member], r[member], (name, member))
            self.assertIs(after["transcript"], True)
            self.assertEqual(after["arguments"]["args"]["command"],
                             "printf 'a\\nb'; printf e >&2; exit 3")
            events = list(i.events("/v1/calls/%s/events" % r["call"]))
            self.assertEqual(events[-1][1], "call.finished")
            self.assertEqual(events[-1][2]["stdout"], "a\nb")

    def test_a_stop_loses_none(self):
        """Behind an answer there is nothing to wait for."""
        with Instance(extra=EXTRA) as i:
            for n in range(2):
                r = i.bash("echo last words %d" % n)
                i.process.send_signal(signal.SIGTERM)
                self.assertEqual(i.process.wait(60), 0)
                i.start()
                after = i.get("/v1/calls/" + r["call"])[1]
                self.assertEqual(after.get("stdout"), r["stdout"])

    def test_bytes_that_are_no_text(self):
        r = self.i.bash("printf 'a\\377\\0b'")
        kept(self.i, r["call"])
        restart(self.i, "apid")
        again = self.i.get("/v1/calls/" + r["call"])[1]
        self.assertEqual(again["encoding"]["stdout"], "base64")
        self.assertEqual(stdout_of(again), b"a\xff\0b")

    def test_secrets_are_masked(self):
        r = self.i.call("bash", {
            "command": "true %s; export PASSWORD=hunter2hunter2" % KEY})
        kept(self.i, r["call"])
        r = self.i.call("exec", {"argv": ["true", "--token", KEY]})
        kept(self.i, r["call"])
        # a name is the caller's words as well
        r = self.i.call("exec", {"argv": ["true"], KEY: 1})
        kept(self.i, r["call"])
        text = b"".join(open(f, "rb").read() for f in files(self.i))
        self.assertIn(b"[redacted:", text)
        self.assertNotIn(KEY.encode(), text)
        self.assertNotIn(b"hunter2hunter2", text)

    def test_modes(self):
        kept(self.i, self.i.bash("true")["call"])
        d = policy_dir(self.i) + "/transcripts"
        self.assertEqual(stat.S_IMODE(os.stat(d).st_mode), 0o700)
        self.assertTrue(files(self.i))
        for f in files(self.i):
            self.assertEqual(stat.S_IMODE(os.stat(f).st_mode), 0o600, f)

    def test_long_arguments_and_output_are_cut(self):
        i = self.i
        r = i.call("bash", {"command": "head -c 3000000 /dev/zero | tr '\\0' "
                            "x; echo; echo end # " + "\u00e4" * 20000})
        self.assertEqual(r["dropped"]["stdout"], 0)
        kept(i, r["call"])
        restart(i, "apid")
        again = i.get("/v1/calls/" + r["call"])[1]
        self.assertEqual(again["bytes"]["stdout"], 3000005)
        self.assertEqual(again["dropped"]["stdout"],
                         3000005 - len(again["stdout"]))
        self.assertEqual(again["cut"]["stdout"], 1 << 19)
        self.assertTrue(again["stdout"].endswith("x\nend\n"))
        self.assertLessEqual(len(again["stdout"]), 1 << 20)
        command = again["arguments"]["args"]["command"]
        self.assertLess(len(command.encode()), 33000)
        self.assertRegex(command, r"\u00e4\.\.\. \([0-9]+ bytes more\)$")

    def test_cuts_are_between_characters(self):
        i = self.i
        r = i.bash("yes \u00e4\u20ac | tr -d '\\n' | head -c 4000000; "
                   "printf '\\377%.0s' $(seq 20) >&2")
        kept(i, r["call"])
        restart(i, "apid")
        again = i.get("/v1/calls/" + r["call"])[1]
        self.assertEqual(again["encoding"], {"stdout": "utf-8" if
                         r["encoding"]["stdout"] == "utf-8" else "base64",
                         "stderr": "base64"})
        self.assertEqual(set(again["stdout"]) - {"\u00e4", "\u20ac"}, set())
        self.assertEqual(again["dropped"]["stdout"],
                         4000000 - len(again["stdout"].encode()))
        self.assertGreater(len(again["stdout"].encode()), (1 << 20) - 100)

    def test_a_session_is_listed(self):
        i = self.i
        s = i.session()
        calls = [i.bash("echo %d; exit %d" % (n, n), session=s)["call"]
                 for n in range(5)]
        for c in calls:
            kept(i, c)
        path = "/v1/sessions/%s/transcript" % s
        for operator in (False, True):
            status, all_ = i.get(path, operator=operator)
            self.assertEqual(status, 200, all_)
            self.assertEqual([c["call"] for c in all_["calls"]], calls)
            self.assertEqual([c["stdout"] for c in all_["calls"]],
                             ["%d\n" % n for n in range(5)])
            self.assertIsNone(all_["next"])
        found, after = [], 0
        while after is not None:
            page = i.get("%s?after=%d&limit=2" % (path, after))[1]
            found += [c["call"] for c in page["calls"]]
            self.assertLessEqual(len(page["calls"]), 2)
            after = page["next"]
        self.assertEqual(found, calls)
        i.request("DELETE", "/v1/sessions/" + s)
        restart(i, "policyd")
        self.assertEqual([c["exit_code"] for c in i.get(path)[1]["calls"]],
                         [0, 1, 2, 3, 4])
        self.assertEqual(i.get("/v1/sessions/s-%s/transcript" % ("0" * 20))
                         [0], 404)
        self.assertEqual(i.get(path + "?limit=0")[0], 400)

    def test_sessions_show(self):
        i = self.i
        s = i.session()
        c = i.bash("printf 'one\\033[2J\\n'; echo two >&2; exit 7",
                   session=s)["call"]
        kept(i, c)
        r = i.ctl("sessions", "show", s)
        self.assertEqual(r.returncode, 0, r.stderr)
        text = r.stdout.decode()
        for words in (c, "bash", "exit 7", "one\\x1b[2J", "two", "printf"):
            self.assertIn(words, text)
        self.assertNotIn("\033", text)
        r = i.ctl("sessions", "show", "--json", s)
        self.assertEqual(json.loads(r.stdout)["calls"][0]["call"], c)
        r = i.ctl("sessions", "-o", "show", s)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotEqual(i.ctl("sessions", "show", "s-no").returncode, 0)


class Rights(unittest.TestCase):
    def test_operators_without_the_right_and_strangers(self):
        config = CONFIG.replace("approve, audit, manage", "approve") + EXTRA
        with Instance(config) as i:
            s = i.session()
            c = i.bash("echo private-words", session=s)["call"]
            kept(i, c)
            status, r = i.get("/v1/sessions/%s/transcript" % s,
                              operator=True)
            self.assertEqual((status, r["error"]["code"]), (403, "forbidden"))
            status, r = i.get("/v1/calls/" + c, operator=True)
            self.assertEqual(status, 200)
            self.assertEqual(r["state"], "completed")
            self.assertNotIn("private-words", json.dumps(r))
            status, r = i.request("POST", "/v1/prune", {}, operator=True)
            self.assertEqual(status, 403)
            self.assertIn("manage", r["error"]["message"])
            # nobody else's: the same words as for one that isn't there
            out = subprocess.run(
                ["setpriv", "--reuid=12345", "--regid=12345",
                 "--clear-groups", "curl", "-s", "--unix-socket", i.api,
                 "http://localhost/v1/sessions/%s/transcript" % s],
                stdout=subprocess.PIPE)
            self.assertNotIn(b"private-words", out.stdout)


class Prune(unittest.TestCase):
    def test_prune(self):
        with Instance(extra=EXTRA) as i:
            calls = [i.bash("echo words-of-%d" % n)["call"]
                     for n in range(3)]
            for c in calls:
                kept(i, c)
            age(i, calls, 3600)
            young = i.bash("echo words-of-the-young")["call"]
            kept(i, young)
            r = json.loads(i.ctl("prune", "--json", "--older-than", "30m",
                                 "--dry-run").stdout)
            self.assertEqual((r["transcripts"], r["dry_run"]), (3, True))
            self.assertIn("stdout", i.get("/v1/calls/" + calls[0],
                                          operator=True)[1])
            out = i.ctl("prune", "--older-than", "30m")
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertIn(b"3 transcripts", out.stdout)
            text = b"".join(open(f, "rb").read() for f in files(i))
            self.assertNotIn(b"words-of-0", text)
            self.assertIn(b"words-of-the-young", text)
            for c in calls:
                self.assertNotIn("stdout", i.get("/v1/calls/" + c,
                                                 operator=True)[1])
            self.assertIn("stdout", i.get("/v1/calls/" + young,
                                          operator=True)[1])
            restart(i, "policyd")
            self.assertEqual(i.get("/v1/calls/" + young)[1]["stdout"],
                             "words-of-the-young\n")
            time.sleep(1.1)
            r = json.loads(i.ctl("prune", "--json", "--older-than",
                                 "1s").stdout)
            self.assertEqual(r["left_bytes"], 0)
            self.assertEqual(files(i), [])
            lines = i.ctl("audit", "tail", "--json", "-n", "200").stdout
            self.assertEqual(lines.count(b'"transcripts.pruned"'), 2)
            self.assertIn(b'"operator":"uid:0"', lines.replace(b" ", b""))
            self.assertNotEqual(
                i.ctl("prune", "--older-than", "soon").returncode, 0)

    def test_the_old_ones_go_by_themselves(self):
        with Instance(extra=EXTRA) as i:
            old, young = [i.bash("echo words-of-the-%s" % x)["call"]
                          for x in ("old", "young")]
            kept(i, old)
            kept(i, young)
            age(i, [old], 31 * 86400)

            def gone():
                return b"words-of-the-old" not in b"".join(
                    open(f, "rb").read() for f in files(i))
            wait_for(gone, 60)
            self.assertNotIn("stdout", i.get("/v1/calls/" + old)[1])
            self.assertEqual(i.get("/v1/calls/" + young)[1]["stdout"],
                             "words-of-the-young\n")
            wait_for(lambda: '"transcripts.pruned"' in i.ctl(
                "audit", "tail", "--json", "-n", "50").stdout.decode(), 60)

    def test_the_size_is_bounded(self):
        with Instance(extra=EXTRA + "transcripts-size 1M\n") as i:
            for n in range(4):
                c = i.bash("head -c 400000 /dev/zero | tr '\\0' y")["call"]
                kept(i, c)

            def small():
                return sum(os.stat(f).st_blocks * 512
                           for f in files(i)) <= 1100000
            wait_for(small, 60)
            self.assertIn("stdout", i.get("/v1/calls/" + c)[1])


class Failures(unittest.TestCase):
    def test_a_full_disk_breaks_no_call(self):
        with Instance(extra=EXTRA) as i:
            kept(i, i.bash("true")["call"])
            name = files(i)[0]
            # a file that policyd may not open stands for a disk that is full
            os.unlink(name)
            os.mkdir(name)
            for _ in range(3):
                r = i.bash("echo still here")
                self.assertEqual((r["state"], r["stdout"]),
                                 ("completed", "still here\n"))
                self.assertIs(kept(i, r["call"])["transcript"], False)
                self.assertIs(kept(i, r["call"], operator=True)
                              ["transcript"], False)
            self.assertEqual(i.log().count("transcripts can not be written"),
                             1)
            os.rmdir(name)
            r = i.bash("echo again")
            self.assertIs(kept(i, r["call"])["transcript"], True)

    def test_a_call_whose_apid_died(self):
        with Instance(extra=EXTRA) as i:
            s = i.session()
            status, r = i.request("POST", "/v1/sessions/%s/calls" % s, {
                "tool": "bash", "args": {"command": "sleep 600"}})
            self.assertEqual(status, 202)
            wait_for(lambda: i.get("/v1/calls/" + r["call"])[1]["state"] ==
                     "running", 60)
            restart(i, "apid")
            for _ in range(2):
                again = wait_for(lambda: [
                    x for x in [i.get("/v1/calls/" + r["call"])[1]]
                    if x["state"] == "failed"], 60)[0]
                self.assertEqual(again["reason"], "interrupted")
                self.assertIn("times", again)
                restart(i, "policyd")

    def test_index_and_file_agree_whenever_policyd_dies(self):
        with Instance(extra=EXTRA + "running-calls-host 64\n") as i:
            done, stop = [], threading.Event()

            def work(n):
                k = 0
                while not stop.is_set():
                    k += 1
                    try:
                        status, r = i.request("POST", "/v1/calls", {
                            "tool": "bash", "wait_ms": 50000, "args": {
                                "command": "head -c %d /dev/zero | tr '\\0' "
                                "z; echo %d.%d" % (k * 7919 % 60000, n, k)}},
                            timeout=60)
                        if status == 200 and r["state"] == "completed":
                            done.append(r)
                    except (OSError, ValueError):
                        time.sleep(0.05)
            threads = [threading.Thread(target=work, args=(n,))
                       for n in range(3)]
            for t in threads:
                t.start()
            rng = random.Random(4)
            try:
                for n in range(6):
                    # so many that most are told of, whatever the host's speed
                    wait_for(lambda: len(done) > 20 * n, 60)
                    time.sleep(0.3 + rng.random())
                    restart(i, "policyd")
            finally:
                stop.set()
                for t in threads:
                    t.join()
            time.sleep(1)
            kinds = {"stored": 0, "not": 0}
            for r in done:
                again = i.get("/v1/calls/" + r["call"], operator=True)[1]
                if "stdout" in again:
                    self.assertEqual(again["stdout"], r["stdout"])
                    kinds["stored"] += 1
                else:
                    kinds["not"] += 1
            self.assertGreater(kinds["stored"], len(done) // 2, kinds)
            restart(i, "policyd")
            i.process.send_signal(signal.SIGTERM)
            i.process.wait(60)
            rows = index(i)
            self.assertGreaterEqual(len(rows), kinds["stored"])
            ends = {}
            for serial, call, offset, record, length in rows:
                name = "%s/transcripts/%012d.jsonl" % (policy_dir(i),
                                                       serial // 1000)
                with open(name, "rb") as f:
                    f.seek(offset)
                    text = f.read(length)
                self.assertEqual(len(text), length)
                first, second, rest = text.split(b"\n")
                self.assertEqual(rest, b"")
                self.assertEqual(len(first) + 1, record)
                self.assertEqual(json.loads(first)["call"], call)
                if second:
                    json.loads(second)
                ends[name] = max(ends.get(name, 0), offset + length)
            self.assertEqual(ends, {f: os.path.getsize(f) for f in files(i)})


if __name__ == "__main__":
    unittest.main()
