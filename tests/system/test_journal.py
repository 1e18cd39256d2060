"""What an operator is woken by: lines of the journal with a MESSAGE_ID.

The journal is played: a socket at its place, which this instance alone sees.
"""
import os
import re
import signal
import socket
import threading
import time
import unittest

from approvals import AGENT, ASKS, OPERATOR, Split
from harness import TOP, wait_for

# Puts our directory where the journal's socket is looked for, and a small
# filesystem under the state, for this process and what it starts.
ALONE = """
set -e
if [ -d /run/systemd/journal ]; then
	mount --bind "$0/journal" /run/systemd/journal
else
	[ -d /run/myelin-uids ] || mkdir -m 755 /run/myelin-uids
	mount -t tmpfs run "$0/run"
	mkdir -p "$0/run/systemd/journal" "$0/run/myelin-uids"
	mount --bind "$0/journal" "$0/run/systemd/journal"
	mount --bind /run/myelin-uids "$0/run/myelin-uids"
	mount --rbind "$0/run" /run
fi
mount -t tmpfs -o size=6m,mode=0700 myelin "$0/state"
exec "$@"
"""
WARNING, INFO = "4", "6"


def documented():
    """MESSAGE_IDs, by the name that the code has for each, and the page's."""
    with open(os.path.join(TOP, "common", "log.h")) as f:
        ids = dict(re.findall(r"^#define LOG_(\w+)\s+\"([0-9a-f]{32})\"$",
                              f.read(), re.M))
    with open(os.path.join(TOP, "man", "myelind.8")) as f:
        page = re.findall(r"(?m)^\.It Li MESSAGE_ID=([0-9a-f]{32})$",
                          f.read())
    return ids, page


def native(data):
    """The fields of a packet, as systemd's JOURNAL_NATIVE_PROTOCOL has them."""
    fields, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, equals, value = data[at:end].partition(b"=")
        at = end + 1
        if not equals:
            end = at + 8 + int.from_bytes(data[at:at + 8], "little")
            value = data[at + 8:end]
            assert data[end:end + 1] == b"\n", data
            at = end + 1
        assert name.decode() not in fields, data
        fields[name.decode()] = value.decode()
    return fields


class Played(Split):
    """An instance, and what it sent to the journal."""

    def __init__(self, extra=""):
        super().__init__(extra, start=False)
        for name in ("journal", "run", "state"):
            os.mkdir(os.path.join(self.i.dir, name), 0o700)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(os.path.join(self.i.dir, "journal", "socket"))
        self.lock = threading.Lock()
        self.entries = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        try:
            self.i.start(prefix=("unshare", "--mount", "sh", "-c", ALONE,
                                 self.i.dir), debug=False)
        except BaseException:
            self.stop()
            raise
        self.inside = "/proc/%d/root%s" % (self.i.process.pid, self.i.state)

    def read(self):
        while True:
            try:
                data = self.sock.recv(65536)
            except OSError:
                return
            if not data:
                return
            fields = native(data)
            with self.lock:
                self.entries.append(fields)

    def of(self, name):
        """The entries with that MESSAGE_ID."""
        with self.lock:
            return [e for e in self.entries
                    if e.get("MESSAGE_ID") == documented()[0][name]]

    def want(self, name, n=1, seconds=60):
        wait_for(lambda: len(self.of(name)) >= n, seconds)
        return self.of(name)[-1]

    def stop(self):
        super().stop()
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.reader.join(5)


class Expires(unittest.TestCase):
    def test_approvals(self):
        s = Played("approval-expiry 10s\n")
        self.addCleanup(s.stop)
        call, approval = s.asked()
        e = s.want("APPROVAL_WAITS")
        self.assertEqual({k: e[k] for k in (
            "PRIORITY", "MYELIN_PROCESS", "MYELIN_APPROVAL", "MYELIN_CALL")},
            {"PRIORITY": WARNING, "MYELIN_PROCESS": "policyd",
             "MYELIN_APPROVAL": approval, "MYELIN_CALL": call})
        self.assertEqual(e["MESSAGE"], "approval %s waits for a decision, 10 "
                         "s at most: the call %s, bash by uid:%d" % (
                             approval, call, AGENT))
        e = s.want("APPROVAL_EXPIRED")
        self.assertEqual((e["PRIORITY"], e["MYELIN_APPROVAL"],
                          e["MYELIN_CALL"], e["MESSAGE"]), (
            WARNING, approval, call,
            "approval %s has expired: nobody decided" % approval))
        self.assertEqual(len(s.of("APPROVAL_WAITS")), 1)
        self.assertEqual(len(s.of("APPROVAL_EXPIRED")), 1)


class Journal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Played("approval-expiry 10m\n")

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def test_page(self):
        """Each is on the page, once, and no two are the same."""
        ids, page = documented()
        self.assertEqual(len(set(ids.values())), len(ids))
        self.assertEqual(sorted(ids.values()), sorted(page))

    def test_decided(self):
        s = self.s
        call, decided = s.asked("rm -rf .git; echo 'a\nMESSAGE_ID=x'")
        self.assertEqual(s.decide(decided, "reject_once")[0], 200)
        wait_for(lambda: [e for e in s.of("APPROVAL_WAITS")
                          if e["MYELIN_CALL"] == call], 60)
        self.assertEqual([e["MYELIN_APPROVAL"] for e in s.of("APPROVAL_WAITS")
                          if e["MYELIN_CALL"] == call], [decided])
        # one that is decided on expires nowhere
        self.assertEqual(s.of("APPROVAL_EXPIRED"), [])
        # what was asked for is not the journal's
        with s.lock:
            self.assertFalse([e for e in s.entries for v in e.values()
                              if ASKS in v or "rm -rf" in v])

    def test_status_shows_the_oldest(self):
        s = self.s
        r = s.i.ctl("status")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout.decode(), r"(?m)^approvals waiting +0$")
        first, approval = s.asked()
        wait_for(lambda: s.i.status()["approvals"]["oldest_s"], 60)
        begin = time.monotonic()
        _, second = s.asked("rm -rf .git; echo 2")
        wait_for(lambda: s.i.status()["approvals"]["oldest_s"] > 1, 60)
        r = s.i.ctl("status")
        self.assertRegex(r.stdout.decode(), r"(?m)^approvals waiting +2$")
        self.assertRegex(r.stdout.decode(),
                         r"(?m)^the oldest \(s\) +([2-9]|[1-9]\d+)$")
        self.assertEqual(s.decide(approval, "reject_once")[0], 200)
        now = s.i.status()["approvals"]
        self.assertEqual(now["pending"], 1)
        # it is the second one's now
        self.assertLessEqual(now["oldest_s"], time.monotonic() - begin)
        self.assertEqual(s.decide(second, "reject_once")[0], 200)
        self.assertEqual(s.i.status()["approvals"],
                         {"pending": 0, "oldest_s": None})

    def test_deaths(self):
        s = self.s
        for name in ("judged", "maker"):
            n = len(s.of("PROCESS_DIED"))
            os.kill(s.i.pid(name), signal.SIGKILL)
            e = s.want("PROCESS_DIED", n + 1)
            self.assertEqual((e["PRIORITY"], e["MYELIN_CHILD"]),
                             (WARNING, name))
            self.assertIn("is started again", e["MESSAGE"])
            s.i.wait_up()
            self.assertEqual(len(s.of("PROCESS_DIED")), n + 1)

    def test_anchor(self):
        s = self.s
        _, approval = s.asked()
        n = len(s.of("AUDIT_ANCHOR"))
        self.assertEqual(s.decide(approval, "reject_once",
                                  OPERATOR)[0], 200)
        e = s.want("AUDIT_ANCHOR", n + 1)
        self.assertEqual(e["PRIORITY"], INFO)
        self.assertEqual(e["MESSAGE"], "audit anchor %s:%s" % (
            e["MYELIN_AUDIT_SEQUENCE"], e["MYELIN_AUDIT_HASH"]))

    def test_store_full(self):
        s = self.s
        filler = os.path.join(s.inside, "policy", "filler")
        with open(filler, "wb", buffering=0) as f:
            with self.assertRaises(OSError):
                while True:
                    f.write(b"\0" * 65536)
        try:
            for _ in range(200):
                status, body = s.i.request("POST", "/v1/calls", {
                    "tool": "exec", "args": {"argv": ["true", "x" * 1500]},
                    "wait_ms": 50000})
                if status == 503:
                    break
            self.assertEqual(status, 503, body)
            e = s.want("STORE_FULL")
            self.assertEqual((e["PRIORITY"], e["MYELIN_PROCESS"]),
                             (WARNING, "policyd"))
            self.assertEqual(s.of("STORE_AGAIN"), [])
        finally:
            os.unlink(filler)
        self.assertEqual(s.want("STORE_AGAIN")["PRIORITY"], INFO)
        # one line, however many were refused
        self.assertEqual(len(s.of("STORE_FULL")), 1)


if __name__ == "__main__":
    unittest.main()
