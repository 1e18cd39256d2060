"""Files put and fetched: routes, headers, statuses, whose they are; and
myelinctl cp and files."""
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest
from urllib.parse import quote

from harness import BUILD, CONFIG, Instance, Workspace, rss_kib


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(config=CONFIG)
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.w.close()
        cls.i.stop()

    def setUp(self):
        self.s = self.i.session(**self.w.fields())
        self.n = self.i.get("/v1/sessions/" + self.s)[1]["neuron"]

    def tearDown(self):
        self.i.request("DELETE", "/v1/sessions/" + self.s)
        self.w.empty()

    def url(self, path, query=""):
        return "/v1/neurons/%s/files/%s%s" % (self.n, path, query)

    def put(self, path, data, query=""):
        return self.i.request("PUT", self.url(path, query), data)

    def path(self, *names):
        return os.path.join(self.w.path, *names)


class Routes(Base):
    def test_there_and_back(self):
        data = bytes(range(256)) * 300
        for path in ("f", "d/e/f", quote(b"\xff\xfe n\n"), "%C3%A4%25",
                     quote(self.path("absolute"), safe=""),
                     "/" + self.path("slashes")):
            self.assertEqual(self.put(path, data, "?parents=1")[0], 201)
            self.assertEqual(self.i.get(self.url(path)), (200, data), path)
            self.assertEqual(self.put(path, b"")[0], 200)
            self.assertEqual(self.i.get(self.url(path)), (200, b""))
        self.assertEqual(
            {os.fsencode(n) for n in self.w.names()},
            {b"f", b"d", b"\xff\xfe n\n", "\u00e4%".encode(), b"absolute",
             b"slashes"})

    def test_expect(self):
        status, one = self.put("f", b"1", "?expect=absent")
        self.assertEqual(status, 201)
        self.assertEqual(self.put("f", b"2", "?expect=absent")[0], 409)
        status, _ = self.put("f", b"2", "?expect=" + one["sha256"])
        self.assertEqual(status, 200)
        status, body = self.put("f", b"3", "?expect=" + one["sha256"])
        self.assertEqual((status, body["error"]["code"]), (409, "conflict"))
        self.assertEqual(self.put("f", b"3", "?expect=zz")[0], 400)

    def test_statuses(self):
        self.i.bash("mkdir d; mkfifo p; ln -s /etc/hosts l; touch r; "
                    "chmod 0 r", session=self.s)
        for path, get, put in (("nope", 404, 201), ("no/where", 404, 404),
                               ("d", 409, 409), ("p", 409, 409),
                               ("l", 403, 403), ("/etc/passwd", 403, 403),
                               ("..%2F..%2Fx", 403, 403), ("r", 403, 403),
                               ("%00", 400, 400), ("a%", 400, 400)):
            status, body = self.i.get(self.url(path))
            self.assertEqual(status, get, (path, body))
            status, body = self.put(path, b"x")
            self.assertEqual(status, put, (path, body))
        status, body = self.i.request("DELETE", self.url("f"))
        self.assertEqual(status, 405)

    def test_headers_of_a_download(self):
        c = self.i.connection()
        for path, ascii_name, extended in (
                ("plain.txt", "plain.txt", "plain.txt"),
                (quote('a"b;c\r\nX: y'), "a_b_c__X__y", "a%22b%3Bc__X%3A%20y"),
                (quote("\u00e4.sh"), "__.sh", "%C3%A4.sh"),
                (quote(b"\xff.bin"), "_.bin", "_.bin"),
                (quote("d/../%2e"), "_2e", "%252e")):
            if "/" in path:
                self.put("d/x", b"", "?parents=1")
            self.assertIn(self.put(path, b"<script>")[0], (200, 201), path)
            c.request("GET", self.url(path))
            r = c.getresponse()
            self.assertEqual(r.read(), b"<script>")
            self.assertEqual(r.getheader("Content-Type"),
                             "application/octet-stream")
            self.assertEqual(r.getheader("X-Content-Type-Options"), "nosniff")
            self.assertEqual(
                r.getheader("Content-Disposition"),
                "attachment; filename=\"%s\"; filename*=UTF-8''%s" %
                (ascii_name, extended))
            self.assertIsNone(r.getheader("X"))
        c.close()

    def test_tar_holds_files_and_directories_alone(self):
        self.i.bash("mkdir -p d/e d/empty; echo one >d/f; echo two >d/e/g; "
                    "chmod 755 d/f; ln -s /etc/hosts d/l; mkfifo d/p; "
                    "ln d/f d/hard; touch $'d/n\\nl' $'d/\\xff'; "
                    "touch d/$(printf '%0200d' 1)", session=self.s)
        status, data = self.i.get(self.url("d", "?format=tar"))
        self.assertEqual(status, 200)
        with tarfile.open(fileobj=io.BytesIO(data)) as t:
            members = {m.name: m for m in t.getmembers()}
            for m in members.values():
                self.assertTrue(m.isreg() or m.isdir(), m.name)
                self.assertFalse(m.name.startswith("/") or
                                 ".." in m.name.split("/"), m.name)
                self.assertEqual(m.mode & ~0o777, 0, m.name)
            self.assertEqual(t.extractfile("e/g").read(), b"two\n")
        self.assertEqual(members["f"].mode, 0o755)
        self.assertTrue(members["empty"].isdir())
        self.assertNotIn("l", members)
        self.assertNotIn("p", members)
        self.assertIn("n\nl", members)
        self.assertEqual(self.i.get(self.url("f", "?format=tar"))[0], 404)
        self.assertEqual(self.i.get(self.url("d/f", "?format=tar"))[0], 409)

    def test_large_files_do_not_fill_memory(self):
        self.i.bash("head -c 200M /dev/zero >big", session=self.s)
        pid = self.i.pid("apid")
        before = rss_kib(pid)
        c = self.i.connection()
        c.request("GET", self.url("big"))
        r = c.getresponse()
        time.sleep(0.3)
        total, most = 0, 0
        while True:
            piece = r.read(4 << 20)
            if not piece:
                break
            total += len(piece)
            most = max(most, rss_kib(pid) - before)
        c.close()
        self.assertEqual(total, 200 << 20)
        self.assertLess(most, 16 * 1024)

    def test_each_is_a_call_that_is_listed(self):
        self.put("f", b"x")
        self.i.get(self.url("f"))
        calls = self.i.get("/v1/sessions/%s/calls" % self.s)[1]["calls"]
        self.assertEqual([c["tool"] for c in calls], ["read", "write"])

    def test_without_a_session_there_are_no_files(self):
        self.i.request("DELETE", "/v1/sessions/" + self.s)
        self.assertEqual(self.i.get(self.url("f"))[0], 404)
        self.assertEqual(self.put("f", b"x")[0], 404)
        for n in ("n-00000000000000000000", "n-x", "s-x", ".."):
            self.assertEqual(self.i.get("/v1/neurons/%s/files/f" % n)[0],
                             404, n)

    def test_not_on_the_operator_socket(self):
        self.put("f", b"x")
        status, _ = self.i.get(self.url("f"), operator=True)
        self.assertEqual(status, 404)

    def test_a_body_over_the_limit(self):
        c = self.i.connection()
        c.putrequest("PUT", self.url("f"))
        c.putheader("Content-Length", str((16 << 20) + 1))
        c.endheaders()
        r = c.getresponse()
        self.assertEqual(r.status, 413)
        self.assertIn("16777216", json.load(r)["error"]["message"])
        c.close()
        c = self.i.connection()
        c.putrequest("PUT", self.url("f"))
        c.putheader("Transfer-Encoding", "chunked")
        c.endheaders()
        self.assertEqual(c.getresponse().status, 411)
        c.close()
        self.assertFalse(os.path.exists(self.path("f")))


class Others(unittest.TestCase):
    """Another principal's neuron is not there."""
    CONF = ('listen api "%s/api.sock" mode 0666\n'
            "principal user root { preset standard; owner any }\n"
            "principal user 12345 { preset standard }\n"
            "operator user root may approve, audit, manage\n")

    def test_their_files_do_not_exist(self):
        i = Instance(start=False)
        i.configure(self.CONF % i.dir)
        try:
            i.start()
            s = i.session()
            n = i.get("/v1/sessions/" + s)[1]["neuron"]
            url = "/v1/neurons/%s/files/f" % n
            self.assertEqual(i.request("PUT", url, b"mine")[0], 201)
            script = (
                "import os,socket,sys\nos.setgroups([]);os.setgid(12345)\n"
                "os.setuid(12345)\nfor q in sys.argv[2:]:\n"
                " s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n"
                " s.sendall((q+' HTTP/1.1\\r\\nHost: x\\r\\n"
                "Content-Length: 0\\r\\nConnection: close\\r\\n\\r\\n')"
                ".encode())\n b=b''\n d=s.recv(9999)\n"
                " while d:\n  b+=d;d=s.recv(9999)\n"
                " print(b.split()[1].decode())\n")
            r = subprocess.run(
                ["python3", "-c", script, i.api, "GET " + url, "PUT " + url,
                 "GET /v1/neurons/" + n],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
                timeout=60)
            if b"PermissionError" in r.stderr:
                self.skipTest("others can't reach this checkout")
            self.assertEqual(r.stdout.split(), [b"404"] * 3, r.stderr)
            self.assertEqual(i.get(url), (200, b"mine"))
        finally:
            i.stop()


class Copy(Base):
    """myelinctl cp and files."""

    def setUp(self):
        super().setUp()
        self.d = tempfile.mkdtemp(prefix="w-", dir=os.path.join(BUILD,
                                                                "tests"))

    def tearDown(self):
        super().tearDown()
        shutil.rmtree(self.d)

    def cp(self, *args, code=0, **more):
        r = self.i.ctl("cp", *args, **more)
        self.assertEqual(r.returncode, code, (args, r.stderr))
        return r

    def here(self, *names):
        return os.path.join(self.d, *names)

    def make(self, name, data):
        os.makedirs(os.path.dirname(self.here(name)), exist_ok=True)
        with open(self.here(name), "wb") as f:
            f.write(data)

    def test_files(self):
        data = os.urandom(300000)
        self.make("up", data)
        self.cp(self.here("up"), self.s + ":dir%x /ä", code=1)
        self.cp(self.here("up"), self.s + ":a b%")
        with open(self.path("a b%"), "rb") as f:
            self.assertEqual(f.read(), data)
        self.cp(self.n + ":a b%", self.d)
        self.cp(self.s + ":" + self.path("a b%"), self.here("x"))
        for name in ("a b%", "x"):
            with open(self.here(name), "rb") as f:
                self.assertEqual(f.read(), data)
        r = self.cp(self.s + ":a b%", "-")
        self.assertEqual(r.stdout, data)
        self.cp("-", self.s + ":in", input=b"from a pipe")
        self.assertEqual(self.cp(self.s + ":in", "-").stdout,
                         b"from a pipe")
        # what fails leaves what was there, and nothing beside it
        before = sorted(os.listdir(self.d))
        r = self.cp(self.s + ":nope", self.here("x"), code=1)
        self.assertIn(b"not_found", r.stderr)
        self.assertEqual(sorted(os.listdir(self.d)), before)
        self.cp(self.d, self.s + ":d", code=1)
        self.cp(self.s + ":../../etc/passwd", "-", code=1)
        self.cp("x", "y", code=2)
        self.cp(self.s + ":x", self.s + ":y", code=2)
        self.cp(self.s + ":", "y", code=2)
        r = self.cp("s-00000000000000000000:f", "-", code=1)
        self.assertIn(b"not_found", r.stderr)

    def test_directories(self):
        self.make("t/a", b"1")
        self.make("t/b/c", b"22")
        self.make("t/b/" + "n" * 200, b"3")
        os.symlink("/etc/passwd", self.here("t/l"))
        os.mkfifo(self.here("t/p"))
        r = self.cp("-r", self.here("t"), self.s + ":up")
        self.assertIn(b"symbolic link", r.stderr)
        self.cp("-r", self.s + ":up", self.here("down"))
        r = subprocess.run(["diff", "-r", self.path("up"),
                            self.here("down")], stdout=subprocess.PIPE)
        self.assertEqual((r.returncode, r.stdout), (0, b""))
        self.assertEqual(sorted(os.listdir(self.here("down"))), ["a", "b"])
        self.cp("-r", self.s + ":up", self.d)
        self.assertEqual(sorted(os.listdir(self.here("up"))), ["a", "b"])
        r = self.cp("-r", self.s + ":up", self.d, code=1)
        self.assertIn(b"File exists", r.stderr)
        self.cp("-r", self.s + ":nope", self.here("none"), code=1)
        self.assertFalse(os.path.exists(self.here("none")))

    def test_list(self):
        self.make("f", b"12345")
        self.cp(self.here("f"), self.s + ":f\x1b[2J")
        r = self.i.ctl("files", self.s)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(b"0644", r.stdout)
        self.assertNotIn(b"\x1b", r.stdout)
        r = self.i.ctl("files", "--json", self.n, ".")
        entries = [e for e in json.loads(r.stdout)["entries"]
                   if e["name"] not in self.w.PLACEHOLDERS]
        self.assertEqual([(e["name"], e["size"]) for e in entries],
                         [("f\x1b[2J", 5)])
        r = self.i.ctl("files", self.s, "/etc")
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"outside", r.stderr)
        self.assertEqual(self.i.ctl("files").returncode, 2)
        self.assertEqual(self.i.ctl("files", "x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
