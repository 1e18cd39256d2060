"""What the tests of approvals share: an instance where those who ask are not
those who decide, each a user of their own."""
import json
import os

from harness import IDS, Instance, wait_for

AGENT = 12345       # asks
OTHER = 12350       # asks, too
OPERATOR = 12346    # approves
SECOND = 12347      # approves, too
AUDITOR = 12348     # looks
CONFIG = """
listen api "%s/api.sock" mode 0666
listen operator "%s/operator.sock" mode 0666
principal user root { preset standard; workspace "/*"; owner any }
principal user 12345 { preset standard; workspace "/*" }
principal user 12350 { preset standard; workspace "/*" }
operator user root may audit, manage
operator user 12345 may approve
operator user 12346 may approve
operator user 12347 may approve
operator user 12348 may audit
hourly 10000000
calls-session 10000000
restart-window 1s
"""
# What asks, and what it leaves behind if it runs.
ASKS = "rm -rf .git; echo ran"


class As:
    """Connections made here are that user's."""

    def __init__(self, uid):
        self.uid = uid

    def __enter__(self):
        IDS.acquire()
        os.setegid(self.uid)
        os.seteuid(self.uid)

    def __exit__(self, *_):
        os.seteuid(0)
        os.setegid(0)
        IDS.release()


class Split:
    """An instance, and requests to it by user."""

    def __init__(self, extra="", start=True, **more):
        self.i = Instance(start=False, **more)
        self.configure(extra)
        if start:
            self.i.start()

    def configure(self, extra="", text=CONFIG):
        self.i.configure(text % (self.i.dir, self.i.dir) + extra)

    def stop(self):
        self.i.stop()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.i.stop(check=kind is None)

    def connect(self, uid, operator=False, timeout=60):
        c = self.i.connection(operator, timeout)
        with As(uid):
            c.connect()
        return c

    def request(self, uid, method, path, body=None, operator=False,
                timeout=60):
        c = self.connect(uid, operator, timeout)
        try:
            c.request(method, path,
                      None if body is None else json.dumps(body),
                      {} if body is None else
                      {"Content-Type": "application/json"})
            r = c.getresponse()
            return r.status, json.loads(r.read())
        finally:
            c.close()

    def session(self, uid=AGENT, **fields):
        status, body = self.request(uid, "POST", "/v1/sessions", fields)
        assert status == 201, (status, body)
        return body["session"]

    def ask(self, command=ASKS, uid=AGENT, session=None, wait=0, tool="bash",
            args=None, **more):
        """A call that asks: its answer, which is 202."""
        body = {"tool": tool, "args": args if args is not None else
                {"command": command}, "wait_ms": wait}
        body.update(more)
        path = "/v1/sessions/%s/calls" % session if session else "/v1/calls"
        status, body = self.request(uid, "POST", path, body)
        assert status == 202, (status, body)
        return body["call"]

    def call(self, call, uid=AGENT, wait=0):
        return self.request(uid, "GET", "/v1/calls/%s?wait_ms=%d" %
                            (call, wait))[1]

    def waiting(self, call, uid=AGENT):
        """The approval of a call that waits for one: its id."""
        r = wait_for(lambda: [r for r in [self.call(call, uid)]
                              if r["state"] != "queued"], 60)[0]
        assert r["state"] == "awaiting_approval", r
        return r["approval"]

    def asked(self, *args, **more):
        """A call that waits: its id, and its approval's."""
        uid = more.get("uid", AGENT)
        call = self.ask(*args, **more)
        return call, self.waiting(call, uid)

    def result(self, call, uid=AGENT):
        return wait_for(lambda: [r for r in [self.call(call, uid, 50000)]
                                 if "stdout" in r], 90)[0]

    def look(self, approval, uid=OPERATOR):
        return self.request(uid, "GET", "/v1/approvals/" + approval,
                            operator=True)

    def list(self, state="pending", uid=OPERATOR, more=""):
        status, body = self.request(
            uid, "GET", "/v1/approvals?state=%s%s" % (state, more),
            operator=True)
        assert status == 200, (status, body)
        return body["approvals"]

    def decide(self, approval, decision="allow_once", uid=OPERATOR,
               digest=None, **more):
        if digest is None:
            digest = self.look(approval, uid)[1].get("digest", "0" * 64)
        body = {"decision": decision, "digest": digest}
        body.update(more)
        return self.request(uid, "POST", "/v1/approvals/" + approval, body,
                            operator=True)

    def audit(self):
        records, after = [], 0
        while True:
            status, body = self.request(
                AUDITOR, "GET", "/v1/audit?after=%d&limit=500" % after,
                operator=True)
            assert status == 200, (status, body)
            records += [json.loads(l) for l in body["lines"]]
            if body["next"] is None:
                return records
            after = body["next"]
