"""What the tests of myelinctl's client share: a service that is played."""
import base64
import json
import os
import socket
import subprocess
import tempfile
import threading
import unittest

from harness import CTL

CALL = "c-" + "a" * 20
SESSION = "s-" + "b" * 20


class Connection:
    """One connection: reads requests, writes what a handler says."""

    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")
        self.chunked = False

    def request(self):
        line = self.file.readline()
        if not line:
            return None
        method, target, _ = line.decode().split()
        headers = {}
        while True:
            line = self.file.readline().rstrip(b"\r\n")
            if not line:
                break
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self.file.read(int(headers.get("content-length", 0)))
        return method, target, headers, body

    def raw(self, data):
        self.sock.sendall(data)

    def json(self, status, value, more=""):
        body = json.dumps(value).encode()
        self.raw(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n%s\r\n" %
                 (status, len(body), more.encode()) + body)

    def begin(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\n")

    def event(self, name, n=None, **data):
        data.setdefault("call", CALL)
        text = "event: %s\ndata: %s\n\n" % (name, json.dumps(data))
        if n is not None:
            text = "id: %d\n" % n + text
        text = text.encode()
        self.raw(b"%x\r\n%s\r\n" % (len(text), text))

    def output(self, data, stream="stdout", seq=0):
        try:
            self.event("call.output", stream=stream, seq=seq,
                       data=data.decode("utf-8"), encoding="utf-8")
        except UnicodeDecodeError:
            self.event("call.output", stream=stream, seq=seq,
                       data=base64.b64encode(data).decode(),
                       encoding="base64")

    def finished(self, state="completed", reason=None, exit_code=0,
                 signal=None, message=None):
        error = {"code": reason, "message": message} if message else None
        self.event("call.finished", state=state, reason=reason,
                   exit_code=exit_code, signal=signal, error=error)
        self.raw(b"0\r\n\r\n")


class Service:
    """handler(connection, method, target, headers, body) for each request."""

    def __init__(self, handler, mode=0o600):
        self.dir = tempfile.mkdtemp(prefix="ctl-")
        self.path = os.path.join(self.dir, "api.sock")
        self.handler = handler
        self.requests = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, mode)
        self.listener.listen(16)
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,),
                             daemon=True).start()

    def serve(self, sock):
        conn = Connection(sock)
        try:
            while True:
                request = conn.request()
                if request is None:
                    return
                self.requests.append(request)
                self.handler(conn, *request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            conn.file.close()
            sock.close()

    def stop(self):
        # accept(2) must not go on with the number of somebody else's socket
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        os.unlink(self.path)
        os.rmdir(self.dir)


class Client(unittest.TestCase):
    def service(self, handler, **more):
        service = Service(handler, **more)
        self.addCleanup(service.stop)
        return service

    def start(self, service, *argv, **more):
        env = dict(os.environ, MYELIN_SOCKET=service.path,
                   MYELIN_OPERATOR_SOCKET=service.path)
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([CTL] + list(argv), env=env, **more)

    def ctl(self, service, *argv, input=None, **more):
        if input is not None:
            more["stdin"] = subprocess.PIPE
        p = self.start(service, *argv, **more)
        out, err = p.communicate(input, timeout=60)
        return p.returncode, out, err

    def body(self, service, n=0):
        return json.loads(service.requests[n][3])


def ends(**end):
    """A handler whose call ends like that."""
    def handler(conn, method, target, headers, body):
        conn.begin()
        conn.event("call.started", 1)
        conn.finished(**end)
    return handler
