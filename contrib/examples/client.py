#!/usr/bin/env python3
"""A client of Myelin in one file: read it, copy it, import it.

usage: client.py [options] [--] PROGRAM [ARGUMENT...]

Runs a program in a neuron (sandbox), shows its output as it comes, and exits
with its status.  It needs nothing but Python.

    contrib/examples/client.py -w ~/src/app -- make check
    contrib/examples/client.py --url https://myelin.example:8443 \\
        --token-file ~/ci.token -- python3 -c 'print(6*7)'

As a module:

    from client import Client
    myelin = Client()
    print(myelin.call("bash", {"command": "seq 3"})["stdout"])
    with myelin.session(workspace="/home/me/src/app") as session:
        session.put("notes.txt", b"remember")
        for event, data in session.stream("exec", {"argv": ["make"]}):
            print(event, data)

Requests and answers are those of myelin-api(7), as Python's own values.
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import sys
import time
import urllib.parse
import uuid

SOCKET = "/run/myelin/api.sock"
ANSWER_MAX = 64 << 20       # bytes of one answer
WAIT_MS = 30000             # that one request waits for a result
TRIES = 6                   # where the service is being started again


class Refused(Exception):
    """Myelin's own words: status, code, message and what may be done next."""

    def __init__(self, status, error):
        self.status = status
        self.code = error.get("code", "unknown")
        self.next = error.get("next")
        super().__init__("%s: %s" % (self.code,
                                     error.get("message") or self.code))


class Unix(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """One service, by its socket or, with a token, by its URL.  ca is a file
    of certificates to believe beside those of the system."""

    def __init__(self, path=None, url=None, token=None, ca=None, timeout=120):
        self.path = path or os.environ.get("MYELIN_SOCKET", SOCKET)
        self.url = urllib.parse.urlsplit(url) if url else None
        self.token = token
        self.timeout = timeout
        self.tls = None
        if self.url and self.url.scheme == "https":
            self.tls = ssl.create_default_context(cafile=ca)

    def connection(self):
        if self.url is None:
            return Unix(self.path, self.timeout)
        kind, more = http.client.HTTPConnection, {}
        if self.tls:
            kind, more = http.client.HTTPSConnection, {"context": self.tls}
        return kind(self.url.hostname, self.url.port, timeout=self.timeout,
                    **more)

    def open(self, method, target, body=None, headers=None):
        """A request: its connection and answer, whose body is not read."""
        h = dict(headers or {})
        if self.token:
            h["Authorization"] = "Bearer " + self.token
        if body is not None and not isinstance(body, bytes):
            h["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        c = self.connection()
        try:
            c.request(method, target, body, h)
            r = c.getresponse()
            if r.status >= 400:
                raise Refused(r.status, error_of(r))
        except BaseException:
            c.close()
            raise
        return c, r

    def ask(self, method, target, body=None, headers=None):
        """A request: the answer's value, or its bytes if it is no JSON."""
        c, r = self.open(method, target, body, headers)
        try:
            data = r.read(ANSWER_MAX + 1)
        finally:
            c.close()
        if len(data) > ANSWER_MAX:
            raise ValueError("an answer of over %d bytes" % ANSWER_MAX)
        if r.getheader("Content-Type", "").startswith("application/json"):
            return json.loads(data)
        return data

    def ask_again(self, method, target, body=None):
        """The same, of what may be asked twice: while the service is being
        started again, it is."""
        for left in reversed(range(TRIES)):
            try:
                return self.ask(method, target, body)
            except (OSError, http.client.HTTPException):
                if left == 0:
                    raise
            except Refused as e:
                if e.status != 503 or left == 0:
                    raise
            time.sleep(0.5)

    def call(self, tool, args, **more):
        """A call in a neuron of its own, waited for: its result."""
        return self._call("/v1/calls", tool, args, more)

    def stream(self, tool, args, **more):
        """The same, as pairs of an event and its data, as they come."""
        return self._stream("/v1/calls", tool, args, more)

    def _call(self, target, tool, args, more):
        body = {"tool": tool, "args": args, "wait_ms": WAIT_MS,
                # who asks again with it gets the same call, not another
                "idempotency_key": str(uuid.uuid4()), **more}
        if body["idempotency_key"] is None:
            del body["idempotency_key"]
        answer = self.ask_again("POST", target, body)
        while "exit_code" not in answer:        # it is no result yet
            answer = self.ask_again("GET", "/v1/calls/%s?wait_ms=%d" % (
                answer["call"], WAIT_MS))
        return answer

    def _stream(self, target, tool, args, more):
        c, r = self.open("POST", target, {"tool": tool, "args": args, **more},
                         {"Accept": "text/event-stream"})
        try:
            yield from events(r)
        finally:
            c.close()

    @contextlib.contextmanager
    def session(self, **fields):
        """A neuron for several calls; it ends with the block."""
        s = Session(self, self.ask("POST", "/v1/sessions", fields))
        try:
            yield s
        finally:
            with contextlib.suppress(Refused):
                self.ask("DELETE", "/v1/sessions/" + s.id)


class Session:
    def __init__(self, client, answer):
        self.client = client
        self.id = answer["session"]
        self.neuron = answer["neuron"]

    def call(self, tool, args, **more):
        return self.client._call("/v1/sessions/%s/calls" % self.id, tool,
                                 args, more)

    def stream(self, tool, args, **more):
        return self.client._stream("/v1/sessions/%s/calls" % self.id, tool,
                                   args, more)

    def _file(self, path):
        return "/v1/neurons/%s/files/%s" % (self.neuron,
                                            urllib.parse.quote(path))

    def put(self, path, data):
        """Writes a file of the neuron; missing directories are made."""
        return self.client.ask("PUT", self._file(path) + "?parents=1",
                               bytes(data))

    def get(self, path):
        c, r = self.client.open("GET", self._file(path))
        try:
            return r.read()
        finally:
            c.close()


def error_of(r):
    try:
        return json.loads(r.read(1 << 20))["error"]
    except (ValueError, LookupError, TypeError):
        return {"code": "http_%d" % r.status, "message": r.reason}


def events(lines):
    """Server-sent events: what each is called, and its data."""
    event, data = None, []
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if event is not None:
                yield event, json.loads("\n".join(data) or "null")
            event, data = None, []
        elif line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].lstrip())


def output_of(data):
    """The bytes of a call.output event."""
    if data.get("encoding") == "base64":
        return base64.b64decode(data["data"])
    return data["data"].encode()


def show(stream):
    """Passes a program's output on; its exit status."""
    for event, data in stream:
        if event == "call.output":
            out = sys.stderr if data["stream"] == "stderr" else sys.stdout
            out.buffer.write(output_of(data))
            out.buffer.flush()
        elif event == "approval.requested":
            print("client: waits for an operator's decision: %s" %
                  data["approval"], file=sys.stderr)
        elif event == "call.finished":
            if data.get("exit_code") is not None:
                return data["exit_code"]
            if data.get("signal"):
                return 128 + signal.Signals["SIG" + data["signal"]]
            print("client: %s: %s" % (data["state"], data["reason"]),
                  file=sys.stderr)
            return 125
    print("client: the stream ended before the call", file=sys.stderr)
    return 125


def options():
    p = argparse.ArgumentParser(description="run a program in a neuron "
                                "(sandbox) of Myelin")
    p.add_argument("--socket", help="the agent socket")
    p.add_argument("--url", help="a service that is reached by TCP or TLS")
    p.add_argument("--token-file", help="a file with the key's token")
    p.add_argument("--ca", help="certificates to believe")
    p.add_argument("-w", "--workspace", help="a directory to work in")
    p.add_argument("-p", "--profile")
    p.add_argument("--preset")
    p.add_argument("program", nargs="+")
    return p.parse_args()


def main():
    o = options()
    token = None
    if o.token_file:
        with open(o.token_file) as f:
            token = f.read().strip()
    fields = {k: v for k, v in (
        ("workspace", o.workspace and os.path.realpath(o.workspace)),
        ("profile", o.profile), ("preset", o.preset)) if v}
    try:
        return show(Client(o.socket, o.url, token, o.ca).stream(
            "exec", {"argv": o.program}, **fields))
    except Refused as e:
        print("client: %s" % e, file=sys.stderr)
        if e.next:
            print("  next: %s" % e.next, file=sys.stderr)
    except (OSError, http.client.HTTPException) as e:
        print("client: %s" % e, file=sys.stderr)
    return 125


if __name__ == "__main__":
    sys.exit(main())
