"""What the tests of apid alone share: one apid with a policyd that is played,
and a client that reads strictly.
"""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from harness import BUILD

APID = os.path.join(BUILD, "apid", "apid")
FAKE = os.path.join(BUILD, "tests", "fake_policyd")


class Fake:
    """One apid with its played policyd."""

    def __init__(self, *limits, operator=False, tcp=None):
        self.dir = tempfile.mkdtemp(prefix="apid-")
        os.chmod(self.dir, 0o755)
        self.path = os.path.join(self.dir, "sock")
        argv = [FAKE] + (["-o"] if operator else []) + \
            (["-t", str(tcp)] if tcp else []) + \
            [APID, self.path] + list(limits)
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self.pid = int(self.proc.stdout.readline().split()[1])

    def command(self, word):
        self.proc.stdin.write(word.encode() + b"\n")
        self.proc.stdin.flush()
        self.proc.stdout.readline()

    def rss(self):
        with open("/proc/%d/status" % self.pid) as f:
            text = f.read()
        # A sanitizer keeps what is freed: no measure of anything.
        if int(re.search(r"VmSize:\s+(\d+)", text).group(1)) > 1 << 30:
            return 0
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) * 1024

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def stop(self):
        self.proc.stdin.close()
        self.proc.stdout.close()
        self.proc.wait(60)
        shutil.rmtree(self.dir)


class Client:
    """A connection, read strictly."""

    def __init__(self, path, timeout=90):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.s.settimeout(timeout)
        self.s.connect(path)
        self.f = self.s.makefile("rb")

    def close(self):
        self.f.close()
        self.s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.s.sendall(data)

    def request(self, method, target, body=None, headers=()):
        lines = ["%s %s HTTP/1.1" % (method, target), "Host: x"]
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            lines.append("Content-Type: application/json")
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        lines += headers
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))

    def head(self):
        line = self.f.readline()
        if not line:
            return None, {}
        status = int(line.split()[1])
        headers = {}
        while True:
            line = self.f.readline()
            if line == b"\r\n":
                break
            name, value = line.decode().rstrip("\r\n").split(": ", 1)
            headers[name.lower()] = value
        if status == 100:
            return self.head()
        return status, headers

    def answer(self):
        status, headers = self.head()
        if status is None:
            return None, {}, None
        body = self.f.read(int(headers["content-length"]))
        return status, headers, json.loads(body)

    def do(self, method, target, body=None, headers=()):
        self.request(method, target, body, headers)
        status, _, j = self.answer()
        return status, j

    def chunks(self):
        """The chunks of a body, to its proper end."""
        while True:
            line = self.f.readline()
            assert re.fullmatch(rb"[0-9a-f]+\r\n", line), line
            size = int(line, 16)
            data = self.f.read(size)
            assert len(data) == size
            assert self.f.read(2) == b"\r\n"
            if size == 0:
                return
            yield data

    def events(self):
        for chunk in self.chunks():
            fields = {}
            for line in chunk.decode().split("\n"):
                if line:
                    name, value = line.split(": ", 1)
                    assert name not in fields
                    fields[name] = value
            yield (fields["event"], int(fields["id"])
                   if "id" in fields else None, json.loads(fields["data"]))


def exec_(*argv, **more):
    return dict({"tool": "exec", "args": {"argv": list(argv)}}, **more)


def bash(text, **more):
    return dict({"tool": "bash", "args": {"command": text}}, **more)


def data_of(event):
    data = event["data"]
    return base64.b64decode(data, validate=True) \
        if event["encoding"] == "base64" else data.encode()


STREAM = ["Accept: text/event-stream"]


class Base(unittest.TestCase):
    LIMITS = ()
    OPERATOR = False

    @classmethod
    def setUpClass(cls):
        cls.fake = Fake(*cls.LIMITS, operator=cls.OPERATOR)

    @classmethod
    def tearDownClass(cls):
        cls.fake.stop()

    def client(self, timeout=90):
        c = Client(self.fake.path, timeout)
        self.addCleanup(c.close)
        return c

    def run_call(self, body, **more):
        status, j = self.client().do(
            "POST", "/v1/calls", dict(body, wait_ms=50000, **more))
        self.assertEqual(status, 200, j)
        return j
