"""A client of POST /mcp that can say anything, and the stdio server's."""
import json
import os
import subprocess
import threading

from harness import CTL, IDS

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = "io.modelcontextprotocol/"
SSE = "application/json, text/event-stream"


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


def meta(**more):
    m = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
    m.update(more)
    return m


def tasks_meta():
    """What a client adds that knows tasks."""
    return {META + "clientCapabilities": {
        "extensions": {META + "tasks": {}}}}


def messages(text):
    """Of a body, whether it is JSON or a stream."""
    if text.startswith(("data:", ":")):
        return [json.loads(l[5:]) for l in text.splitlines()
                if l.startswith("data:")]
    return [json.loads(text)] if text else []


class Mcp:
    def __init__(self, instance, uid=0):
        self.i = instance
        self.uid = uid
        self.session = None
        self.version = None
        self.count = 0

    def connect(self, timeout=60):
        c = self.i.connection(timeout=timeout)
        with As(self.uid):
            c.connect()
        return c

    def send(self, body, headers=None, connection=None, method="POST",
             accept=SSE, kind="application/json"):
        """A request on its way: the connection."""
        c = connection or self.connect()
        h = {"Accept": accept}
        if kind is not None:
            h["Content-Type"] = kind
        h.update(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        c.request(method, "/mcp", body, h)
        return c

    def raw(self, body, headers=None, **more):
        """(status, response, messages)"""
        c = self.send(body, headers, **more)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        if r.getheader("Content-Type") is None:
            return r.status, r, []
        return r.status, r, messages(text)

    # ---- the handshake era ----

    def legacy_headers(self):
        h = {}
        if self.session:
            h["Mcp-Session-Id"] = self.session
        if self.version:
            h["MCP-Protocol-Version"] = self.version
        return h

    def initialize(self, version=LEGACY):
        status, r, m = self.raw({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": version, "capabilities": {},
                       "clientInfo": {"name": "test", "version": "1"}}})
        assert status == 200, (status, m)
        self.session = r.getheader("Mcp-Session-Id")
        self.version = m[0]["result"]["protocolVersion"]
        self.notify("notifications/initialized")
        return m[0]["result"]

    def notify(self, method, params=None):
        body = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            body["params"] = params
        status, _, m = self.raw(body, self.legacy_headers())
        assert (status, m) == (202, []), (status, m)

    def legacy(self, method, params=None, ident=None):
        self.count += 1
        body = {"jsonrpc": "2.0", "method": method,
                "id": self.count if ident is None else ident}
        if params is not None:
            body["params"] = params
        return self.raw(body, self.legacy_headers())

    def call(self, tool, arguments, **more):
        """A call in the session: its result."""
        status, _, m = self.legacy("tools/call", dict(
            {"name": tool, "arguments": arguments}, **more))
        assert status == 200 and "result" in m[-1], (status, m)
        return m[-1]["result"]

    # ---- the modern era ----

    @staticmethod
    def modern_message(method, params=None, ident=1, extra=None):
        params = dict(params or {})
        params["_meta"] = meta(**(extra or {}))
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in params or "taskId" in params:
            headers["Mcp-Name"] = params.get("name", params.get("taskId"))
        return {"jsonrpc": "2.0", "id": ident, "method": method,
                "params": params}, headers

    def modern(self, method, params=None, headers=None, ident=1, extra=None,
               **more):
        body, h = self.modern_message(method, params, ident, extra)
        h.update(headers or {})
        return self.raw(body, h, **more)

    def modern_call(self, tool, arguments, headers=None):
        status, _, m = self.modern("tools/call", {
            "name": tool, "arguments": arguments}, headers)
        assert status == 200 and "result" in m[-1], (status, m)
        return m[-1]["result"]

    def delete(self):
        return self.raw(None, self.legacy_headers(), method="DELETE",
                        kind=None)


class Stdio:
    """myelinctl mcp, started as a client would."""

    def __init__(self, instance, *args, socket=None):
        env = dict(os.environ, MYELIN_SOCKET=socket or instance.api)
        self.p = subprocess.Popen(
            [CTL, "mcp"] + list(args), env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = []
        self.came = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.p.stdout:
            with self.came:
                # nothing but protocol: each line is a message
                self.lines.append(json.loads(line))
                self.came.notify_all()

    def say(self, *bodies):
        for body in bodies:
            if not isinstance(body, bytes):
                body = json.dumps(body).encode()
            self.p.stdin.write(body + b"\n")
        self.p.stdin.flush()

    def answer(self, ident, timeout=90):
        """The answer to a request."""
        def there():
            return [l for l in self.lines
                    if l.get("id") == ident and "method" not in l]
        with self.came:
            assert self.came.wait_for(there, timeout), self.lines
            return there()[0]

    def initialize(self):
        self.say({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                  "params": {"protocolVersion": LEGACY, "capabilities": {},
                             "clientInfo": {"name": "t", "version": "1"}}},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self.answer(0)["result"]

    @staticmethod
    def call_message(ident, tool, arguments, modern=False):
        params = {"name": tool, "arguments": arguments}
        if modern:
            params["_meta"] = meta()
        return {"jsonrpc": "2.0", "id": ident, "method": "tools/call",
                "params": params}

    def call(self, ident, tool, arguments, modern=False):
        self.say(self.call_message(ident, tool, arguments, modern))
        return self.answer(ident)["result"]

    def end(self, timeout=60):
        """Closes its input: (exit status, standard error)."""
        if not self.p.stdin.closed:
            self.p.stdin.close()
        status = self.p.wait(timeout)
        self.thread.join(timeout)
        err = self.p.stderr.read().decode()
        self.p.stdout.close()
        self.p.stderr.close()
        return status, err
