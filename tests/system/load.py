"""Clients that do all kinds of calls at once, and somebody who kills.

A client knows what each of its calls may end as, with kills and without, and
keeps whatever else it saw in `wrong`.
"""
import collections
import http.client
import os
import random
import signal
import statistics
import threading
import time

import footprint
import storms
from harness import HELPERS, NAMES, output_of, parse_events, stdout_of

KILLED = ("interrupted", "neuron_lost", "launch_failed")
GONE = (OSError, http.client.HTTPException)
DEADLINE = 90		# seconds that any one answer may take
CALL_MS = 8000		# the time limit of a call here
STORM_SECONDS = 90	# that a storm may take, on a host that is starved
KNOWN_MAX = 2000	# calls looked up after a batch

CONFIG = """
principal user root { preset standard; workspace "/*"; owner any }
operator user root may approve, audit, manage
hourly 10000000
calls-session 10000000
neurons 24
neurons-principal 24
result-kept 5s
"""


class Lost(Exception):
    """The service said that it is being started, or said nothing."""


class Client(threading.Thread):
    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.i = load, load.i
        self.random = random.Random(load.seed * 1000 + number)
        self.number = number
        self.serial = 0

    # ---- what all kinds do ----

    def ask(self, method, path, body=None, headers=None):
        try:
            status, r = self.i.request(method, path, body, timeout=DEADLINE,
                                       headers=headers)
        except TimeoutError:
            raise
        except GONE as e:
            raise Lost(type(e).__name__)
        if status in (503, 429):
            raise Lost(r["error"]["code"])
        return status, r

    def word(self):
        self.serial += 1
        return "w%d-%d" % (self.number, self.serial)

    def body(self, command, **more):
        b = {"tool": "bash", "args": {"command": command},
             "timeout_ms": CALL_MS, "wait_ms": 50000}
        b.update(more)
        return b

    def post(self, body, session=None):
        path = "/v1/sessions/%s/calls" % session if session else "/v1/calls"
        status, r = self.ask("POST", path, body)
        if session and status in (404, 409):
            raise Lost("session")
        if status not in (200, 202):
            raise AssertionError("status %d: %s" % (status, r))
        self.load.known.append(r["call"])
        return r

    def poll(self, call):
        """The call's end; a service that is away is asked again."""
        end = time.monotonic() + CALL_MS / 1000 + 60
        while time.monotonic() < end:
            try:
                status, r = self.ask("GET", "/v1/calls/" + call)
                if status == 404:
                    raise Lost("forgotten")
                if r["state"] not in ("queued", "running"):
                    return r
            except Lost as e:
                if str(e) == "forgotten":
                    raise
            time.sleep(0.05)
        raise AssertionError("%s has not ended" % call)

    def ended(self, r, expected, stdout=None):
        """One of (state, reason), or what a death makes of it."""
        end = (r["state"], r["reason"])
        if end == ("failed", r["reason"]) and r["reason"] in KILLED:
            if "not up within" in (
                    (r.get("error") or {}).get("message") or ""):
                return "too slow"	# a host that is starved, or nice
            if not self.load.killing:
                raise AssertionError("without a kill: %s" % r)
            return r["reason"]
        if self.load.killing and end == ("failed", "signalled") and \
                r["signal"] == "PIPE":
            return "no reader"	# it wrote when its apid had just died
        if end not in expected:
            raise AssertionError("ended as %s: %s" % (end, r))
        # apid's memory of the output went with it (myelin-api(7))
        if stdout is not None and "stdout" not in r and self.load.killing:
            return "output gone"
        if stdout is not None and end[0] == "completed" and \
                stdout_of(r) != stdout:
            raise AssertionError("wrong output: %s" % r)
        return "ok"

    # ---- the kinds ----

    def one_shot(self):
        w = self.word()
        r = self.post(self.body("echo " + w))
        return self.ended(r, [("completed", None)], w.encode() + b"\n")

    def exit_code(self):
        r = self.post(self.body("exit 3"))
        return self.ended(r, [("completed", None)])

    def python(self):
        r = self.post({"tool": "python", "args": {"code": "print(6 * 7)"},
                       "timeout_ms": CALL_MS, "wait_ms": 50000})
        return self.ended(r, [("completed", None)], b"42\n")

    def in_workspace(self):
        body = self.body("pwd")
        body.update(self.load.workspace.fields())
        return self.ended(self.post(body), [("completed", None)],
                          self.load.workspace.path.encode() + b"\n")

    def session(self):
        try:
            status, r = self.ask("POST", "/v1/sessions", {})
        except Lost as e:
            raise Lost("session refused" if str(e) == "unavailable" else e)
        if status != 201:
            raise AssertionError("session: %d %s" % (status, r))
        session, outcome = r["session"], "ok"
        for _ in range(3):
            w = self.word()
            r = self.post(self.body("echo %s | tee -a f" % w), session)
            outcome = self.ended(r, [("completed", None)],
                                 w.encode() + b"\n")
            if outcome != "ok":
                break
        self.ask("DELETE", "/v1/sessions/" + session)
        return outcome

    def stream(self):
        c = self.i.connection(timeout=DEADLINE)
        try:
            c.request("POST", "/v1/calls", self.json(self.body(
                "for n in 1 2 3; do echo $n; sleep 0.02; done")),
                {"Content-Type": "application/json",
                 "Accept": "text/event-stream"})
            r = c.getresponse()
            if r.status != 200:
                r.read()
                raise Lost(str(r.status))
            out, ends, last = b"", [], 0
            for ident, event, data in parse_events(r):
                if event == "ping":
                    continue
                if ident != last + 1:
                    raise AssertionError("event %s after %s" % (ident, last))
                last = ident
                if event == "call.output":
                    out += output_of(data)
                elif event == "call.finished":
                    ends.append(data)
        except TimeoutError:
            raise
        except GONE as e:
            raise Lost(type(e).__name__)
        finally:
            c.close()
        if len(ends) != 1:
            raise Lost("cut")
        return self.ended(ends[0], [("completed", None)]) \
            if out == b"1\n2\n3\n" or ends[0]["state"] != "completed" \
            else self.wrong("stream lost output: %r" % out)

    def cancel(self):
        r = self.post(self.body("sleep 20", wait_ms=0))
        if self.random.random() < 0.5:
            time.sleep(self.random.random() * 0.05)
        self.ask("POST", "/v1/calls/%s/cancel" % r["call"], {})
        return self.ended(self.poll(r["call"]), [("cancelled", None)])

    def stdin(self):
        w = self.word().encode()
        r = self.post(self.body("cat", stdin={"stream": True}, wait_ms=0))
        path = "/v1/calls/%s/stdin" % r["call"]
        for n, part in enumerate((w, w)):
            status, a = self.ask("POST", path + ("?eof=1" if n else ""), part,
                                 {"Content-Type": "application/octet-stream"})
            if status != 200 and not self.load.killing:
                raise AssertionError("stdin: %d %s" % (status, a))
        return self.ended(self.poll(r["call"]), [
            ("completed", None), ("failed", "timed_out")] if
            self.load.killing else [("completed", None)], w + w)

    def time_limit(self):
        r = self.post(self.body("sleep 20", timeout_ms=1000))
        return self.ended(r, [("failed", "timed_out")])

    def leave(self):
        """Hangs up in the middle; the call is still known and ends."""
        c = self.i.connection(timeout=DEADLINE)
        try:
            c.request("POST", "/v1/calls", self.json(self.body(
                "echo x; sleep 0.3")), {"Content-Type": "application/json",
                                        "Accept": "text/event-stream"})
            r = c.getresponse()
            r.read(20)
        except TimeoutError:
            raise
        except GONE as e:
            raise Lost(type(e).__name__)
        finally:
            c.close()
        return "ok"

    def nonsense(self):
        status, r = self.ask("POST", "/v1/calls", {"tool": "bash",
                                                   "args": {"no": 1}})
        if status == 400:
            return "ok"
        self.load.known.append(r["call"])
        return self.ended(self.poll(r["call"]),
                          [("failed", "invalid_arguments")])

    def storm(self):
        """Takes all that a neuron has; the record tells the truth of it."""
        name = self.random.choice(sorted(storms.STORMS))
        body = storms.body(name)
        body["wait_ms"] = 50000
        r, end = self.post(body), time.monotonic() + STORM_SECONDS
        while r["state"] in ("queued", "running"):
            if time.monotonic() > end:
                raise AssertionError("%s has not ended" % name)
            r = self.poll(r["call"])
        if r["reason"] in KILLED:
            return self.ended(r, [])
        words = storms.wrong(name, r)
        if words and not (self.load.killing and r["signal"] == "PIPE"):
            raise AssertionError("%s: %s: %s" % (name, words, r))
        return "ok: " + name

    KINDS = (one_shot, one_shot, one_shot, exit_code, python, in_workspace,
             session, session, stream, stream, cancel, stdin, leave, nonsense)
    RARE = (time_limit,)

    @staticmethod
    def json(body):
        import json
        return json.dumps(body).encode()

    def wrong(self, words):
        raise AssertionError(words)

    def run(self):
        while not self.load.over():
            kind = self.random.choice(
                self.RARE if self.random.random() < 0.01 else self.KINDS)
            if self.load.storms and self.random.random() < self.load.storms:
                kind = Client.storm
            begin = time.monotonic()
            try:
                outcome = kind(self)
            except Lost as e:
                outcome = "lost: %s" % e
                if not self.load.killing and str(e) not in (
                        "too_many", "session refused"):
                    self.load.wrong.append("%s: %s" % (kind.__name__, e))
                time.sleep(0.02)
            except Exception as e:
                outcome = "wrong"
                self.load.wrong.append("%s: %r" % (kind.__name__, e))
            self.load.count(kind.__name__, outcome, time.monotonic() - begin)


class Killer(threading.Thread):
    """kill -9 of one process after the other, never five in a window."""

    WINDOW = 1.0

    def __init__(self, load, kills, pause):
        super().__init__(daemon=True)
        self.load, self.i, self.kills, self.pause = load, load.i, kills, pause
        self.random = random.Random(load.seed)
        self.done = collections.Counter()
        self.when = collections.defaultdict(list)
        self.last = {}

    def pids(self):
        """From /proc: the operator's socket may be the one that is away."""
        found = {}
        for pid in footprint.children(self.i.process.pid):
            found[footprint.comm(pid)] = pid
        for pid in footprint.children(found.get("neurond", -1)):
            if footprint.comm(pid) in HELPERS and \
                    not footprint.in_namespace(pid):
                found[footprint.comm(pid)] = pid
        return found

    def one(self):
        name = self.random.choice(NAMES + HELPERS)
        past = self.when[name]
        pid = self.pids().get(name)
        now = time.monotonic()
        if pid is None or pid == self.last.get(name) or (
                len(past) >= 4 and now - past[-4] < self.WINDOW + 0.3):
            return False
        os.kill(pid, signal.SIGKILL)
        self.last[name] = pid
        past.append(now)
        self.done[name] += 1
        return True

    def run(self):
        while sum(self.done.values()) < self.kills and \
                self.i.process.poll() is None:
            if self.one():
                time.sleep(self.random.uniform(*self.pause))
            else:
                time.sleep(0.01)


class Load:
    """So many calls, or until so many kills, by so many clients."""

    def __init__(self, instance, workspace, clients=6, seed=1, storms=0):
        self.i, self.workspace = instance, workspace
        self.clients, self.seed = clients, seed
        self.storms = storms	# the share of calls that are one
        self.outcomes = collections.Counter()
        self.times = collections.defaultdict(list)
        self.wrong, self.known = [], []
        self.kills = collections.Counter()
        self.killing = False
        self.calls = 0
        self.lock = threading.Lock()

    def count(self, kind, outcome, seconds):
        with self.lock:
            self.outcomes[kind, outcome] += 1
            self.times[kind].append(seconds)
            self.calls += 1

    def over(self):
        if self.killer is not None:
            return not self.killer.is_alive()
        return self.calls >= self.limit

    def run(self, calls=0, kills=0, pause=(0.05, 0.4)):
        """A batch: then everything has ended, and nothing is left."""
        self.killer, self.killing = None, kills > 0
        self.limit = self.calls + calls
        self.seed += 1
        before = self.i.processes()
        if kills:
            self.killer = Killer(self, kills, pause)
            self.killer.start()
        threads = [Client(self, n) for n in range(self.clients)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.check(before)

    def end_sessions(self):
        """Those whose opening was never answered, or whose end was not."""
        self.i.wait_up()
        while True:
            _, body = self.i.get("/v1/sessions?limit=500")
            live = [s["session"] for s in body["sessions"]
                    if s["state"] == "live"]
            if not live:
                return
            for s in live:
                self.i.request("DELETE", "/v1/sessions/" + s)

    def check(self, before):
        if self.i.process.poll() is not None:
            raise AssertionError("myelind ended:\n" + self.i.log()[-4000:])
        if self.wrong:
            raise AssertionError("%d wrong: %s" % (
                len(self.wrong), "\n".join(self.wrong[:10])))
        self.end_sessions()
        footprint.settle(self.i)
        left = footprint.half_known(self.i)
        if left:
            raise AssertionError("half known: %s" % left)
        for call in self.known[-KNOWN_MAX:]:
            status, r = self.i.get("/v1/calls/" + call)
            if status not in (200, 404) or (status == 200 and r["state"] in
                                            ("queued", "running")):
                raise AssertionError("%s: %s %s" % (call, status, r))
        del self.known[:]
        footprint.verify(self.i)
        if self.killer is not None:
            self.check_restarts(before)

    def check_restarts(self, before):
        """A restart for each kill, and none that nobody asked for."""
        after = self.i.processes()
        self.kills += self.killer.done
        for name in NAMES:
            restarts = after[name]["restarts"] - before[name]["restarts"]
            if restarts != self.killer.done[name]:
                raise AssertionError("%s was killed %d times, and started "
                                     "again %d times\n%s" % (
                                         name, self.killer.done[name],
                                         restarts, self.i.log()[-4000:]))

    def summary(self):
        lines = []
        for (kind, outcome), n in sorted(self.outcomes.items()):
            lines.append("%-14s %-28s %6d" % (kind, outcome, n))
        for kind, t in sorted(self.times.items()):
            lines.append("%-14s median %.3f s, worst %.3f s" % (
                kind, statistics.median(t), max(t)))
        return "\n".join(lines)


def recovery(instance, name, rounds):
    """Seconds from a kill to the next good answer, on a quiet instance."""
    took = []
    for _ in range(rounds):
        footprint.settle(instance)
        time.sleep(1.3)		# a clean record: at once
        pid = instance.pid(name)
        begin = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        while True:
            try:
                path = "/v1/status" if name == "apid-operator" else None
                if path:
                    ok = instance.pid(name) != pid
                else:
                    ok = instance.bash("echo ok", wait=5000)["stdout"] == \
                        "ok\n"
                if ok:
                    break
            except (AssertionError, KeyError, *GONE):
                pass
            if time.monotonic() - begin > 60:
                raise AssertionError("%s: no answer within 60 s" % name)
            time.sleep(0.002)
        took.append(time.monotonic() - begin)
    return took
