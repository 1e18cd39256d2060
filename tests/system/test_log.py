"""Request ids: in answers, records and the journal; and "myelinctl log"."""
import json
import os
import re
import signal
import unittest

from approvals import AGENT, OPERATOR, Split
from harness import Instance, wait_for
from test_journal import Played

RID = re.compile(r"^r-[0-9a-f]{16}$")


def answered(i, method, path, body=None, operator=False, connection=None):
    """Status, request id and JSON."""
    c = connection or i.connection(operator)
    c.request(method, path, None if body is None else json.dumps(body),
              {} if body is None else {"Content-Type": "application/json"})
    r = c.getresponse()
    text = r.read()
    if connection is None:
        c.close()
    return r.status, r.headers["Myelin-Request-Id"], json.loads(text or "{}")


def records(i):
    lines, after = [], 0
    while after is not None:
        page = i.get("/v1/audit?limit=500&after=%d" % after, operator=True)[1]
        lines += [json.loads(one) for one in page["lines"]]
        after = page["next"]
    return lines


class Ids(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_each_request_has_another(self):
        seen = set()
        for operator in (False, True):
            c = self.i.connection(operator)
            for _ in range(20):
                _, rid, _ = answered(self.i, "GET", "/v1/whoami",
                                     connection=c)
                self.assertRegex(rid, RID)
                self.assertNotIn(rid, seen)
                seen.add(rid)
            c.close()
        status, rid, j = answered(self.i, "GET", "/nowhere")
        self.assertEqual((status, j["error"]["request_id"]), (404, rid))

    def test_records_of_what_changed_something(self):
        i = self.i
        _, rid, call = answered(i, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]}, "wait_ms": 50000})
        self.assertEqual(call["request_id"], rid)
        _, opened, session = answered(i, "POST", "/v1/sessions", {})
        _, ended, _ = answered(i, "DELETE", "/v1/sessions/" +
                               session["session"])
        _, killed, other = answered(i, "POST", "/v1/sessions", {})
        _, killed, _ = answered(i, "DELETE", "/v1/sessions/" +
                                other["session"], operator=True)
        _, added, _ = answered(i, "POST", "/v1/secrets", {
            "name": "log", "value": "a value of some length"}, operator=True)
        _, gone, _ = answered(i, "DELETE", "/v1/secrets/log", operator=True)
        _, drained, _ = answered(i, "POST", "/v1/drain", {}, operator=True)
        _, again, _ = answered(i, "DELETE", "/v1/drain", operator=True)
        _, made, neuron = answered(i, "POST", "/v1/neurons", {})
        status, destroyed, _ = answered(i, "DELETE", "/v1/neurons/" +
                                        neuron["neuron"])
        self.assertEqual(status, 200)
        found = {}
        for r in records(i):
            if "request_id" in r:
                found.setdefault(r["request_id"], []).append(r["event"])
        self.assertEqual(found[rid], ["call.asked"])
        self.assertEqual(found[opened], ["session.opened"])
        self.assertEqual(found[ended], ["session.ended"])
        self.assertEqual(found[killed], ["session.killed", "session.ended"])
        self.assertEqual(found[added], ["secret.added"])
        self.assertEqual(found[gone], ["secret.deleted"])
        self.assertEqual(found[drained], ["drain.started"])
        self.assertEqual(found[again], ["drain.ended"])
        self.assertEqual(found[made], ["neuron.created"])
        self.assertEqual(found[destroyed], ["neuron.destroyed"])

    def test_one_request_is_not_anothers(self):
        """Many on one connection, one behind the other."""
        c = self.i.connection()
        ids = [answered(self.i, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true", str(n)]},
            "wait_ms": 50000}, connection=c)[1:] for n in range(5)]
        c.close()
        asked = {r["request_id"]: r["call"] for r in records(self.i)
                 if r["event"] == "call.asked"}
        for rid, call in ids:
            self.assertEqual(asked[rid], call["call"])

    def events(self, *args):
        r = self.i.ctl("log", "--json", *args)
        self.assertEqual(r.returncode, 0, r.stderr)
        return [json.loads(one) for one in r.stdout.splitlines()]

    def test_log_of_a_call(self):
        i = self.i
        answered(i, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]}, "wait_ms": 50000})
        _, rid, call = answered(i, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["false"]}, "wait_ms": 50000})
        for what in (rid, call["call"]):
            found = self.events(what)
            names = [r["event"] for r in found]
            self.assertEqual(names[:2], ["call.asked", "call.judged"])
            self.assertLessEqual({"neuron.made", "call.started",
                                  "call.finished"}, set(names))
            for r in found:
                self.assertIn(r.get("call", call["call"]), (call["call"],))
                self.assertEqual(r.get("neuron", call["neuron"]),
                                 call["neuron"])
        r = i.ctl("log", rid)
        self.assertIn(b"call.finished", r.stdout)

    def test_log_of_a_session(self):
        i = self.i
        _, rid, session = answered(i, "POST", "/v1/sessions", {})
        s = session["session"]
        call = i.call("exec", {"argv": ["true"]}, session=s)["call"]
        answered(i, "DELETE", "/v1/sessions/" + s)
        mine = [(r["event"], r.get("call")) for r in self.events(s)]
        self.assertEqual(mine[0], ("session.opened", None))
        self.assertIn(("call.finished", call), mine)
        self.assertIn(("session.ended", None), mine)
        # the request that opened it is none of its calls'
        names = [r["event"] for r in self.events(rid)]
        self.assertEqual(names, ["session.opened", "session.ended"])

    def test_what_it_is_told_wrong(self):
        for args, status, words in (
                ((), 2, b"the id of a request"),
                (("x",), 2, b"the id of a request"),
                (("r-0",), 2, b"the id of a request"),
                (("r-0123456789abcdef",), 1, b"has nothing of")):
            r = self.i.ctl("log", *args)
            self.assertEqual(r.returncode, status, args)
            self.assertIn(words, r.stderr)


class Far(unittest.TestCase):
    """In a log of many files: what is old, and what is not there."""

    def test_far_back(self):
        with Instance(extra="audit-file 64K\n") as i:
            _, opened, s = answered(i, "POST", "/v1/sessions", {})
            session = s["session"]
            _, rid, call = answered(
                i, "POST", "/v1/sessions/%s/calls" % session, {
                    "tool": "exec", "args": {"argv": ["true"]},
                    "wait_ms": 50000})
            _, alone, one = answered(i, "POST", "/v1/calls", {
                "tool": "exec", "args": {"argv": ["true"]},
                "wait_ms": 50000})
            status, first, _ = answered(i, "POST", "/v1/log", {
                "level": "brief"}, operator=True)
            self.assertEqual(status, 200)
            # more than the pages in which what begins is looked for
            c = i.connection(operator=True)
            for _ in range(2600):
                answered(i, "POST", "/v1/log", {"level": "brief"},
                         connection=c)
            c.close()
            answered(i, "DELETE", "/v1/sessions/" + session)
            _, last, _ = answered(i, "POST", "/v1/log", {"level": "brief"},
                                  operator=True)
            _, rid2, _ = answered(i, "POST", "/v1/calls", {
                "tool": "exec", "args": {"argv": ["true"]},
                "wait_ms": 50000})
            # neurons go after the calls and sessions that they were of
            gone = {one["neuron"], s["neuron"]}
            wait_for(lambda: gone <= {r["neuron"] for r in records(i)
                                      if r["event"] == "neuron.gone"}, 60)
            everything = records(i)
            at = {r["request_id"]: r["seq"] for r in everything
                  if "request_id" in r}
            for what, names in (
                    (session, ["session.opened", "call.asked", "call.judged",
                               "call.started", "call.finished",
                               "session.ended"]),
                    (opened, ["session.opened", "session.ended"]),
                    (call["call"], ["call.asked", "call.judged",
                                    "call.started", "call.finished"]),
                    (rid, ["call.asked", "call.judged", "call.started",
                           "call.finished"]),
                    (alone, ["call.asked", "call.judged", "neuron.made",
                             "call.started", "call.finished",
                             "neuron.gone"]),
                    (one["neuron"], [
                        "call.asked", "call.judged", "neuron.made",
                        "call.started", "call.finished", "neuron.gone"]),
                    (s["neuron"], [
                        "neuron.made", "session.opened", "call.asked",
                        "call.judged", "call.started", "call.finished",
                        "neuron.gone"]),
                    (first, ["log.level"]), (last, ["log.level"])):
                r = i.ctl("log", "--json", what)
                self.assertEqual((r.returncode, r.stderr), (0, b""), what)
                got = [json.loads(one)["event"]
                       for one in r.stdout.splitlines()]
                self.assertEqual(sorted(got), sorted(names), what)
            # as far as it is told to look, and not further
            for what, since, there in (
                    (first, str(at[first]), True),
                    (first, str(at[first] + 1), False),
                    (rid2, str(at[last]), True),
                    (first, everything[0]["time"], True),
                    (first, "2999-01-01", False)):
                r = i.ctl("log", "--json", "--since", since, what)
                self.assertEqual(r.returncode, 0 if there else 1, r.stderr)
                self.assertEqual(bool(r.stdout), there)
                self.assertEqual(b"is not in the records from" in r.stderr,
                                 not there)
            r = i.ctl("log", "--since", "yesterday", first)
            self.assertEqual(r.returncode, 2)
            # nor after it is over
            r = i.ctl("log", "r-0123456789abcdef")
            self.assertIn(b"has nothing of", r.stderr)
            self.assertNotIn(b"is not in the records", r.stderr)


class Journal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Played("approval-expiry 60s\nlog verbose\n"
                       "profile default { egress { allow host "
                       "listed.example } }\n")

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def of(self, **fields):
        with self.s.lock:
            return [e for e in self.s.entries if all(
                e.get(k) == v for k, v in fields.items())]

    def come(self, n=1, **fields):
        """Waits for so many: the journal hears of them beside the answer."""
        wait_for(lambda: len(self.of(**fields)) >= n, 60)
        return self.of(**fields)

    def test_fields(self):
        s = self.s
        c = s.connect(AGENT)
        _, rid, call = answered(s.i, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]}, "wait_ms": 50000},
            connection=c)
        c.close()
        mine = self.come(3, MYELIN_CALL=call["call"])
        self.assertGreaterEqual(len(mine), 3, mine)
        for e in mine:
            self.assertEqual(e["MYELIN_REQUEST_ID"], rid)
            self.assertEqual(e["MYELIN_NEURON"], call["neuron"])
            self.assertEqual(e["PRIORITY"], "7")
            self.assertNotIn("MYELIN_SESSION", e)
        # an error's cause is found by the id that its client was told
        c = s.connect(AGENT)
        status, rid, _ = answered(s.i, "GET", "/nowhere", connection=c)
        c.close()
        (e,) = self.come(MYELIN_REQUEST_ID=rid)
        self.assertIn("not_found", e["MESSAGE"])

    def test_approvals(self):
        s = self.s
        call, approval = s.asked()
        (e,) = wait_for(lambda: [
            e for e in self.of(MYELIN_APPROVAL=approval)
            if "MESSAGE_ID" in e], 60)
        self.assertRegex(e["MYELIN_REQUEST_ID"], RID)
        self.assertEqual(s.decide(approval, "reject_once", OPERATOR)[0], 200)
        decided = wait_for(lambda: [
            e for e in self.of(MYELIN_APPROVAL=approval)
            if "by operator" in e["MESSAGE"]], 60)
        self.assertEqual(len(decided), 1)
        self.assertRegex(decided[0]["MYELIN_REQUEST_ID"], RID)

    def test_fields_of_egress(self):
        """What is let through to the network names the call it is of."""
        s = self.s
        _, call = s.request(AGENT, "POST", "/v1/calls", {
            "tool": "fetch", "args": {"url": "http://not.listed.example/"},
            "wait_ms": 50000})
        self.assertEqual(call.get("state"), "completed", call)
        (e,) = self.come(MYELIN_NEURON=call["neuron"],
                         MYELIN_PROCESS="egressd")
        self.assertIn("not.listed.example:80 is refused", e["MESSAGE"])
        self.assertEqual(e["MYELIN_CALL"], call["call"])

    def test_no_text_becomes_a_field(self):
        """What a client says is in the message, whatever it looks like."""
        s = self.s
        evil = ("x\nPRIORITY=0\nMYELIN_CALL=c-00000000000000000000\n"
                "MYELIN_PROCESS=policyd\nMESSAGE=forged")
        _, body = s.request(AGENT, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]}, evil: 1})
        rid = body["error"]["request_id"]
        s.request(AGENT, "GET", "/v1/calls?" + "x%0aMYELIN_CALL=1")
        s.request(AGENT, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": [evil]}, "wait_ms": 50000})
        # where the words of a refusal have it as it came
        status, body = s.request(AGENT, "POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]}, "wait_ms": 50000,
            "workspace": "/nowhere/at all/" + evil})
        self.assertIn("workspace", str(body))
        (e,) = self.come(MYELIN_REQUEST_ID=rid)
        self.assertEqual((e["PRIORITY"], e["MYELIN_PROCESS"]),
                         ("7", "apid"))
        self.assertNotIn("MYELIN_CALL", e)
        self.assertEqual(self.of(PRIORITY="0"), [])
        self.assertEqual(self.of(MESSAGE="forged"), [])
        self.assertEqual(self.of(MYELIN_CALL="c-00000000000000000000"), [])


class Level(unittest.TestCase):
    """log verbose and brief, by reload and at once."""

    def lines(self, i):
        """Whether a call is told of, by policyd and by apid."""
        size = len(i.log())
        call = i.call("exec", {"argv": ["true"]})["call"]
        rid = i.get("/nowhere")[1]["error"]["request_id"]
        i.status()
        text = i.log()[size:]
        return (call in text, rid in text)

    def test_live(self):
        with Instance() as i:
            self.assertEqual(self.lines(i), (False, False))
            for level, told in (("verbose", True), ("brief", False)):
                r = i.ctl("log-level", level)
                self.assertEqual((r.returncode, r.stdout),
                                 (0, level.encode() + b"\n"), r.stderr)
                self.assertEqual(i.ctl("log-level").stdout,
                                 level.encode() + b"\n")
                self.assertEqual(i.status()["log"], level)
                wait_for(lambda: self.lines(i) == (told, told), 60)
            # also where a process is started again
            self.assertEqual(i.ctl("log-level", "verbose").returncode, 0)
            for name in ("apid", "policyd"):
                os.kill(i.pid(name), signal.SIGKILL)
                i.wait_up()
                wait_for(lambda: self.lines(i) == (True, True), 60)
            levels = [r["level"] for r in records(i)
                      if r["event"] == "log.level"]
            self.assertEqual(levels, ["verbose", "brief", "verbose"])
            # the next configuration decides again
            n = i.status()["reload"]["generation"]
            i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: i.status()["reload"]["generation"] > n, 60)
            wait_for(lambda: self.lines(i) == (False, False), 60)

    def test_configured(self):
        for word, told in (("brief", False), ("verbose", True)):
            with Instance(extra="log %s\n" % word) as i:
                self.assertEqual(i.status()["log"], word)
                # what is told comes beside the answer
                wait_for(lambda: self.lines(i) == (told, told), 60)

    def test_who_and_what(self):
        with Instance() as i:
            for body in ({}, {"level": "loud"}, {"level": 1},
                         {"level": "brief", "x": 1}, []):
                self.assertEqual(i.request("POST", "/v1/log", body,
                                           operator=True)[0], 400, body)
            self.assertEqual(i.request("POST", "/v1/log",
                                       {"level": "verbose"})[0], 404)
            self.assertEqual(i.status()["log"], "brief")


class Split_(unittest.TestCase):
    def test_of_an_approval(self):
        with Split("approval-expiry 60s\n") as s:
            call, approval = s.asked()
            self.assertEqual(s.decide(approval, "reject_once")[0], 200)
            s.result(call)
            # the auditor's right is what it takes; root has it here
            r = s.i.ctl("log", "--json", approval)
            self.assertEqual(r.returncode, 0, r.stderr)
            names = [json.loads(one)["event"]
                     for one in r.stdout.splitlines()]
            self.assertEqual(names[0], "call.asked")
            self.assertLess(names.index("approval.requested"),
                            names.index("approval.resolved"))
            self.assertIn("call.finished", names)


if __name__ == "__main__":
    unittest.main()
