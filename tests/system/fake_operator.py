"""An operator socket that is played: approvals, their events, decisions.

It keeps to the API of myelin-api(7), and says what a test wants it to say.
"""
import hashlib
import json
import queue
import random
import threading
import time

import played_service as client

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
random_letters = random.Random(7)


def make_id(letter):
    return letter + "-" + "".join(random_letters.choice(LETTERS)
                                  for _ in range(20))


class Operator:
    """who: the principal that decides here; rights: what it may."""

    def __init__(self, who="uid:1001", events=True, rights=("approve",)):
        self.who, self.events, self.rights = who, events, rights
        self.approvals = {}     # id: (row, whole), in the order they came
        self.decisions = []     # (id, body) as they were sent
        self.fetched = []       # ids that were read whole
        self.deleted = []
        self.sequence = 0
        self.followers = []
        self.lock = threading.RLock()
        self.down = False
        self.delay = 0          # seconds before a decision is answered
        self.service = client.Service(self.handle)
        self.path = self.service.path

    def stop(self):
        with self.lock:
            for q in self.followers:
                q.put(None)
        self.service.stop()

    # ---- what the test does ----

    def add(self, shown="rm -rf build", expires=300, **more):
        a = make_id("a")
        arguments = more.pop("arguments", {
            "args": {"command": shown}, "cwd": "/srv/app",
            "env": {"LANG": "C"}})
        whole_only = {"arguments": arguments, "shown": shown,
                      "input": more.pop("input", None),
                      "commands": more.pop("commands", []),
                      "paths": more.pop("paths", []),
                      "commands_cut": False}
        row = {"approval": a, "call": make_id("c"), "session": make_id("s"),
               "neuron": make_id("n"), "principal": "uid:1000",
               "tool": "bash", "workspace": "/srv/app",
               "class": "delete", "effect": "destructive",
               "marks": ["elevated"], "rule": "", "where": "",
               "reason": "it deletes files", "command": shown[:60],
               "from": 0, "to": len(shown), "state": "pending",
               "scope": None, "decided_by": None, "decision_reason": None,
               "created": "2026-01-02T03:04:05.678Z", "decided": None,
               "digest": hashlib.sha256((a + shown).encode()).hexdigest(),
               "bytes": len(shown.encode()), "long": False,
               "rememberable": True, "revoked": False}
        row.update(more)
        with self.lock:
            self.approvals[a] = (row, whole_only, time.monotonic() + expires)
        self.tell("approval.requested", approval=a)
        return a

    def end(self, a, state, by=None, reason=None, scope=None, tell=True):
        with self.lock:
            row = self.approvals[a][0]
            if row["state"] != "pending":
                return False
            row.update(state=state, decided_by=by, decision_reason=reason,
                       scope=scope, decided="2026-01-02T03:05:00.000Z")
        if tell:
            self.tell("approval.resolved", approval=a)
        return True

    def tell(self, event, **data):
        with self.lock:
            self.sequence += 1
            data.update(seq=self.sequence, event=event)
            for q in self.followers:
                q.put((self.sequence, event, data))

    def row(self, a):
        return self.approvals[a][0]

    # ---- what it answers ----

    def public(self, a, whole=False):
        row, more, deadline = self.approvals[a]
        row = dict(row)
        pending = row["state"] == "pending"
        row["expires_in_ms"] = int((deadline - time.monotonic()) * 1000) \
            if pending else None
        if whole and pending:
            row.update(more)
        return row

    def refuse(self, conn, status, code, message):
        conn.json(status, {"error": {"code": code, "message": message,
                                     "request_id": "r-1"}})

    def handle(self, conn, method, target, headers, body):
        if self.down:
            conn.sock.shutdown(2)
            return
        path, _, query = target.partition("?")
        if path == "/v1/events":
            self.follow(conn)
        elif not self.rights:
            self.refuse(conn, 403, "forbidden", "no operator line names you")
        elif path == "/v1/approvals":
            self.list(conn, dict(p.split("=") for p in query.split("&")))
        elif path.startswith("/v1/approvals/"):
            self.one(conn, method, path[len("/v1/approvals/"):], body)
        else:
            self.refuse(conn, 404, "not_found", "no such route")

    def follow(self, conn):
        if not self.events:
            self.refuse(conn, 403, "forbidden", "that needs the right audit")
            return
        q = queue.Queue()
        with self.lock:
            self.followers.append(q)
        conn.begin()
        while True:
            try:
                said = q.get(timeout=0.5)
            except queue.Empty:
                conn.raw(b"7\r\n: ping\n\r\n")
                continue
            if said is None:
                conn.raw(b"0\r\n\r\n")
                return
            n, event, data = said
            conn.event(event, n, **data)

    def list(self, conn, query):
        states = {"pending": ("pending",), "decided": (
            "allowed", "rejected", "expired", "cancelled",
            "policy_changed")}
        state = query.get("state", "pending")
        with self.lock:
            rows = [self.public(a) for a in self.approvals]
        if state == "remembered":
            rows = [r for r in rows if r["state"] == "allowed" and
                    r["scope"] == "session" and not r["revoked"]]
        elif state != "all":
            rows = [r for r in rows if r["state"] in states[state]]
        at, limit = int(query.get("cursor", 0)), int(query["limit"])
        conn.json(200, {"approvals": rows[at:at + limit], "next":
                        str(at + limit) if len(rows) > at + limit else None})

    def one(self, conn, method, a, body):
        with self.lock:
            if a not in self.approvals:
                self.refuse(conn, 404, "not_found", "no such approval")
            elif method == "GET":
                self.fetched.append(a)
                conn.json(200, self.public(a, whole=True))
            elif method == "DELETE":
                self.deleted.append(a)
                self.row(a)["revoked"] = True
                conn.json(200, self.public(a))
            else:
                self.decide(conn, a, json.loads(body))

    def decide(self, conn, a, body):
        time.sleep(self.delay)
        row = self.row(a)
        self.decisions.append((a, body))
        state, scope = {"allow_once": ("allowed", "once"),
                        "allow_session": ("allowed", "session"),
                        "reject_once": ("rejected", None)}[body["decision"]]
        if row["principal"] == self.who:
            self.refuse(conn, 403, "forbidden", "nobody approves their own "
                        "call; it was asked by " + self.who)
        elif row["state"] != "pending":
            self.refuse(conn, 409, "conflict", "%s by %s at %s" % (
                row["state"], row["decided_by"], row["decided"]))
        elif body["digest"] != row["digest"]:
            self.refuse(conn, 409, "conflict", "it has another digest")
        elif row["long"] and a not in self.fetched:
            self.refuse(conn, 409, "conflict", "it was not read whole")
        else:
            self.end(a, state, self.who, body.get("reason"), scope)
            conn.json(200, self.public(a))
