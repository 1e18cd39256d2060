"""contrib/examples: the client as a program and as a module, and nginx with
the configuration that stands there, in front of an instance."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import BUILD, CONFIG, TOP, Instance, wait_for
from keys import free_port

EXAMPLES = os.path.join(TOP, "contrib", "examples")
CLIENT = os.path.join(EXAMPLES, "client.py")
sys.path.insert(0, EXAMPLES)
from client import Client, Refused, output_of  # noqa: E402

MAIN = """
daemon off;
user root;
worker_processes 1;
pid %(d)s/pid;
error_log %(d)s/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path %(d)s/body;
	proxy_temp_path %(d)s/proxy;
	fastcgi_temp_path %(d)s/fastcgi;
	uwsgi_temp_path %(d)s/uwsgi;
	scgi_temp_path %(d)s/scgi;
	include %(d)s/myelin.conf;
}
"""


def program(*args, path=None):
    return subprocess.run(
        [sys.executable, "-B", CLIENT] + list(args), timeout=60,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, MYELIN_SOCKET=path or "/nowhere"))


class OnTheSocket(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.client = Client(cls.i.api)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_program(self):
        r = program("--", "sh", "-c", "echo out; echo err >&2; exit 7",
                    path=self.i.api)
        self.assertEqual((r.returncode, r.stdout, r.stderr),
                         (7, b"out\n", b"err\n"))
        r = program("--socket", self.i.api, "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(r.returncode, 137, r.stderr)
        r = program("--", "head", "-c", "200000", "/dev/zero",
                    path=self.i.api)
        self.assertEqual((r.returncode, r.stdout), (0, b"\0" * 200000))

    def test_what_is_refused_is_said(self):
        r = program("-p", "nope", "--", "id", path=self.i.api)
        self.assertEqual((r.returncode, r.stdout), (125, b""))
        self.assertIn(b'nope', r.stderr)
        r = program("--", "id")
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"client: ", r.stderr)
        self.assertNotIn(b"Traceback", r.stderr)
        with self.assertRaises(Refused) as e:
            self.client.call("nope", {})
        self.assertEqual((e.exception.status, e.exception.code),
                         (404, "not_found"))

    def test_call(self):
        r = self.client.call("bash", {"command": "seq 3; exit 4"})
        self.assertEqual((r["state"], r["exit_code"], r["stdout"]),
                         ("completed", 4, "1\n2\n3\n"))
        # a result that one request does not wait for
        r = self.client.call("bash", {"command": "sleep 0.3; echo late"},
                             wait_ms=1)
        self.assertEqual(r["stdout"], "late\n")

    def test_session(self):
        with self.client.session() as s:
            data = bytes(range(256))
            s.put("some/ä b.bin", data)
            self.assertEqual(s.get("some/ä b.bin"), data)
            s.call("bash", {"command": "echo one >f"})
            seen = list(s.stream("bash", {"command": "cat f; echo two"}))
            self.assertEqual(b"".join(output_of(d) for e, d in seen
                                      if e == "call.output"), b"one\ntwo\n")
            self.assertEqual(seen[-1][0], "call.finished")
            ident = s.id
        self.assertNotEqual(
            self.i.get("/v1/sessions/" + ident)[1]["state"], "live")

    def test_while_the_service_is_started_again(self):
        os.kill(self.i.pid("policyd"), signal.SIGKILL)
        self.assertEqual(self.client.call("bash", {"command": "echo on"})
                         ["stdout"], "on\n")


def nginx():
    for path in (os.path.join(TOP, "build", "nginx", "usr", "sbin", "nginx"),
                 shutil.which("nginx", path="/usr/sbin:/usr/bin")):
        if path and os.path.exists(path):
            return path
    return None


class BehindTLS(unittest.TestCase):
    """What stands in nginx-myelin.conf, but for names and the port."""

    @classmethod
    def setUpClass(cls):
        if nginx() is None:
            raise unittest.SkipTest("there is no nginx")
        cls.d = tempfile.mkdtemp(prefix="p-", dir=os.path.join(BUILD,
                                                               "tests"))
        cls.addClassCleanup(shutil.rmtree, cls.d)
        cls.i = Instance(start=False)
        cls.addClassCleanup(cls.i.stop)
        cls.behind = free_port()
        cls.i.configure(CONFIG + cls.lines())
        cls.i.start()
        cls.token = cls.i.ctl("keys", "add", "ci").stdout.decode().strip()
        cls.serve()

    @classmethod
    def text(cls):
        with open(os.path.join(EXAMPLES, "nginx-myelin.conf")) as f:
            return f.read()

    @classmethod
    def lines(cls):
        """Those of Myelin's configuration, which stand in its comment."""
        block = re.search(r"(?ms)^#\tlisten .*?^#\tprincipal [^\n]*\n",
                          cls.text()).group()
        text = re.sub("(?m)^#", "", block)
        for old, new in (("port 8080", "port %d" % cls.behind),
                         ("myelin.example", "localhost")):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    @classmethod
    def serve(cls):
        at = {n: os.path.join(cls.d, n) for n in ("cert", "key")}
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-keyout", at["key"], "-out",
             at["cert"]], check=True, stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=60)
        cls.cert, cls.port = at["cert"], free_port()
        text = cls.text()
        for old, new in (
                ("listen 8443 ", "listen 127.0.0.1:%d " % cls.port),
                ("server_name myelin.example", "server_name localhost"),
                ("/etc/ssl/certs/myelin.example.pem", at["cert"]),
                ("/etc/ssl/private/myelin.example.key", at["key"]),
                ("127.0.0.1:8080", "127.0.0.1:%d" % cls.behind)):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        for name, what in (("myelin.conf", text),
                           ("nginx.conf", MAIN % {"d": cls.d})):
            with open(os.path.join(cls.d, name), "w") as f:
                f.write(what)
        log = open(os.path.join(cls.d, "log"), "w")
        cls.server = subprocess.Popen(
            [nginx(), "-p", cls.d, "-e", cls.d + "/error.log", "-c",
             cls.d + "/nginx.conf"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        cls.addClassCleanup(cls.end)
        wait_for(cls.up, 60)

    @classmethod
    def up(cls):
        if cls.server.poll() is not None:
            with open(os.path.join(cls.d, "log")) as f:
                raise AssertionError("nginx ended: " + f.read())
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", cls.port)) == 0

    @classmethod
    def end(cls):
        cls.server.terminate()
        cls.server.wait(timeout=60)

    def url(self):
        return "https://localhost:%d" % self.port

    def client(self, token=None):
        return Client(url=self.url(), token=token or self.token, ca=self.cert)

    def test_a_call(self):
        c = self.client()
        self.assertEqual(c.ask("GET", "/v1/whoami")["who"], "key:ci")
        r = c.call("bash", {"command": "echo $((6*7))"})
        self.assertEqual(r["stdout"], "42\n")

    def test_the_program(self):
        path = os.path.join(self.d, "token")
        with open(path, "w") as f:
            f.write(self.token + "\n")
        r = program("--url", self.url(), "--token-file", path, "--ca",
                    self.cert, "--", "sh", "-c", "echo over TLS; exit 3")
        self.assertEqual((r.returncode, r.stdout), (3, b"over TLS\n"),
                         r.stderr)

    def test_events_come_as_they_happen(self):
        stream = self.client().stream("bash", {
            "command": "echo first; read x; echo $x"}, stdin={"stream": True})
        call, told = None, False
        out = b""
        for event, data in stream:
            call = data["call"]
            if event == "call.output":
                out += output_of(data)
                if not told:    # it waits for this: nothing was held back
                    told = True
                    self.client().ask("POST", "/v1/calls/%s/stdin?eof=1" %
                                      call, b"second\n")
        self.assertEqual(out, b"first\nsecond\n")

    def test_files_and_large_bodies(self):
        # any bytes, but the same each time: few of a kind look like a secret
        data = random.Random(1).randbytes(3 << 20)
        with self.client().session() as s:
            s.put("f", data)
            self.assertEqual(s.get("f"), data)

    def test_without_a_good_token_nothing(self):
        for token in ("myelin_" + "x" * 49, self.token[:-1], "x"):
            with self.assertRaises(Refused) as e:
                self.client(token).call("bash", {"command": "true"})
            self.assertEqual(e.exception.status, 401)
        # and who comes without one is nobody
        with self.assertRaises(Refused) as e:
            Client(url=self.url(), ca=self.cert).ask("GET", "/v1/whoami")
        self.assertEqual(e.exception.status, 401)
        # the operators' routes are not there
        with self.assertRaises(Refused) as e:
            self.client().ask("GET", "/v1/status")
        self.assertEqual(e.exception.status, 404)

    def test_certificates_are_checked(self):
        with self.assertRaises(OSError):
            Client(url=self.url(), token=self.token).ask("GET", "/healthz")


if __name__ == "__main__":
    unittest.main()
