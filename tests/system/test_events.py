"""GET /v1/events: the audit log as events, left and taken up again."""
import json
import os
import signal
import socket
import threading
import unittest

from harness import Instance, parse_events, wait_for


class Stream:
    """A reader of /v1/events, in a thread of its own."""

    def __init__(self, i, query="", last=None):
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.c = i.connection(operator=True, timeout=60)
        self.c.request("GET", "/v1/events" + query, headers=headers)
        self.r = self.c.getresponse()
        self.got = []
        self.over = False
        if self.r.status != 200:
            self.error = json.loads(self.r.read())["error"]
            self.c.close()
            return
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for event in parse_events(self.r):
                self.got.append(event)
        except (OSError, ValueError):
            pass
        self.over = True

    def close(self):
        try:
            self.c.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(60)
        self.c.close()

    def records(self):
        return [e for e in self.got if e[1] != "ping"]

    def ids(self):
        return [e[0] for e in self.records()]

    def wait(self, event, seconds=60):
        return wait_for(lambda: [e for e in self.got if e[1] == event],
                        seconds)


def head(i):
    status, page = i.get("/v1/audit?limit=1", operator=True)
    assert status == 200, page
    return page["head"]


def synced(i):
    """The head, once all of it is on the disk."""
    def whole():
        h = head(i)
        return h["synced"] == h["sequence"] and h["sequence"]
    return wait_for(whole, 60)


def all_lines(i):
    lines, after = [], 0
    while after is not None:
        status, page = i.get("/v1/audit?limit=500&after=%d" % after,
                             operator=True)
        assert status == 200, page
        lines += page["lines"]
        after = page["next"]
    return [json.loads(l) for l in lines]


class Events(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_records(self):
        """From now on: each record of a call, as the log has it."""
        s = Stream(self.i)
        call = self.i.bash("echo here")["call"]
        s.wait("call.finished")
        s.close()
        mine = [e for e in s.records() if e[2].get("call") == call]
        self.assertEqual([e[1] for e in mine], [
            "call.asked", "call.judged", "call.started", "call.finished"])
        by_number = {l["seq"]: l for l in all_lines(self.i)}
        for number, event, record in s.records():
            self.assertEqual(record, by_number[number])
            self.assertEqual(record["event"], event)

    def test_taken_up_again(self):
        """Left after any event, it goes on behind that one."""
        first = synced(self.i)
        for n in range(3):
            self.i.bash("echo %d" % n)
        last = synced(self.i)
        whole = list(range(first + 1, last + 1))
        self.assertGreater(len(whole), 10)
        for after in (first, first + 1, first + 7, last - 1):
            s = Stream(self.i, last=after)
            wait_for(lambda: s.ids()[-1:] >= [last], 60)
            s.close()
            # of what goes on there may be more by now
            self.assertEqual(s.ids()[:last - after],
                             list(range(after + 1, last + 1)))
        # the address that it began with does not take it back
        s = Stream(self.i, "?after=%d" % first, last=last - 2)
        wait_for(lambda: s.ids()[-1:] >= [last], 60)
        s.close()
        self.assertEqual(s.ids()[:2], [last - 1, last])

    def test_from_the_beginning(self):
        last = synced(self.i)
        s = Stream(self.i, "?after=0")
        wait_for(lambda: s.ids()[-1:] >= [last], 60)
        s.close()
        self.assertEqual(s.ids()[:last], list(range(1, last + 1)))

    def test_filter(self):
        wait_for(lambda: self.i.status()["neurons"]["live"] == 0, 60)
        first = synced(self.i)
        self.i.bash("true")
        last = synced(self.i)
        s = Stream(self.i, "?event=call.asked,neuron.", last=first)
        s.wait("neuron.gone")
        s.close()
        self.assertEqual({e[1] for e in s.records()},
                         {"call.asked", "neuron.made", "neuron.gone"})
        self.assertLessEqual(s.ids()[-1], last + 1)
        for bad in ("?event=Call", "?event=a%20b", "?event=" + "a" * 300):
            self.assertEqual(Stream(self.i, bad).r.status, 400, bad)

    def test_bad_beginnings(self):
        s = Stream(self.i, last=synced(self.i) + 1000)
        self.assertEqual(s.r.status, 400)
        self.assertIn("only come to record", s.error["message"])
        self.assertEqual(Stream(self.i, "?after=x").r.status, 400)
        self.assertEqual(Stream(self.i, "?since=1").r.status, 400)
        status, body = self.i.get("/v1/events")
        self.assertEqual(status, 404, body)

    def test_many(self):
        """The 33rd is told that there is no room, and has it later."""
        streams = [Stream(self.i) for _ in range(32)]
        s = Stream(self.i)
        self.assertEqual(s.r.status, 429)
        self.assertEqual(s.r.getheader("Retry-After"), "5")
        streams.pop().close()

        def room():
            s = Stream(self.i)
            if s.r.status == 200:
                streams.append(s)
            return s.r.status == 200
        wait_for(room, 60, 0.1)
        self.i.bash("true")
        for s in streams:
            s.wait("call.finished")
            s.close()

    def test_ping(self):
        s = Stream(self.i, "?event=nothing.")
        ping = s.wait("ping", 55)[0]
        s.close()
        # its id spares a reader with a filter to look at all of it again
        self.assertEqual(ping[0], ping[2]["seq"])
        self.assertGreater(ping[0], 0)

    def test_slow_reader(self):
        """One that reads nothing costs a bounded amount, and loses none."""
        self.i.bash("true")
        first = synced(self.i)
        slow = self.i.connection(operator=True)
        slow.connect()
        slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.request("GET", "/v1/events", headers={
            "Last-Event-ID": str(first)})
        r = slow.getresponse()
        for n in range(60):
            # each is over 2 KiB of the log
            self.i.call("exec", {"argv": ["true", "x" * 1900, str(n)]})
        last = synced(self.i)
        got = []
        for number, event, _ in parse_events(r):
            if event != "ping":
                got.append(number)
            if number >= last:
                break
        slow.close()
        self.assertEqual(got, list(range(first + 1, got[-1] + 1)))


class Restarts(unittest.TestCase):
    def setUp(self):
        self.i = Instance()
        self.addCleanup(self.i.stop)

    def go_on(self, stream):
        """Another, behind what the first was sent, and one call more."""
        wait_for(lambda: stream.over, 60)
        last = stream.ids()[-1]
        wait_for(lambda: self.up(), 60, 0.1)
        again = Stream(self.i, last=last)
        self.assertEqual(again.r.status, 200)
        call = self.i.bash("echo again")["call"]
        wait_for(lambda: [e for e in again.got if e[1] == "call.finished"
                          and e[2]["call"] == call], 60)
        again.close()
        self.assertEqual(again.ids(), list(range(
            last + 1, again.ids()[-1] + 1)))
        return again

    def up(self):
        """Either socket: each has an apid of its own."""
        try:
            return self.i.bash("true")["state"] == "completed" and \
                self.i.get("/v1/status", operator=True)[0] == 200
        except (OSError, AssertionError):
            return False

    def begin(self):
        s = Stream(self.i)
        self.i.bash("echo first")
        s.wait("call.finished")
        return s

    def test_policyd(self):
        s = self.begin()
        os.kill(self.i.pid("policyd"), signal.SIGKILL)
        again = self.go_on(s)
        self.assertIn("service.started", [e[1] for e in again.got])

    def test_apid(self):
        s = self.begin()
        os.kill(self.i.pid("apid-operator"), signal.SIGKILL)
        self.go_on(s)

    def test_service(self):
        s = self.begin()
        self.i.process.terminate()
        self.i.process.wait(60)
        self.i.process = None
        self.i.start()
        again = self.go_on(s)
        self.assertIn("service.started", [e[1] for e in again.got])


class Rights(unittest.TestCase):
    CONFIG = """
principal user root { preset standard; workspace "/*"; owner any }
operator user root may %s
"""

    def test_right(self):
        """The right audit, and only as long as one has it."""
        with Instance(self.CONFIG % "approve, audit") as i:
            s = Stream(i)
            self.assertEqual(s.r.status, 200)
            with open(i.conf, "w") as f:
                f.write(self.CONFIG % "approve, manage")
            os.kill(i.process.pid, signal.SIGHUP)
            wait_for(lambda: s.over, 60)
            self.assertNotIn("config.reloaded",
                             [e[1] for e in s.got])
            s.close()
            again = Stream(i)
            self.assertEqual(again.r.status, 403)
            self.assertIn('"audit"', again.error["message"])


if __name__ == "__main__":
    unittest.main()
