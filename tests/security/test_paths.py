"""Paths and names, attacked: a fuzzer over every route and tool that takes
one, and an attacker who exchanges directories for links while files are read
and written.  Nothing outside of home and workspace is read, written or made,
and nothing else but an answer in the closed list comes back.

MYELIN_FUZZ_SEED and MYELIN_FUZZ_PATHS (how many paths) make it another run.
"""
import base64
import hashlib
import http.client
import json
import os
import random
import sys
import time
import unittest
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "system"))

from harness import (CONFIG, Instance, Workspace, stdout_of,  # noqa: E402
                     wait_for)

SEED = int(os.environ.get("MYELIN_FUZZ_SEED", "20261129"))
PATHS = int(os.environ.get("MYELIN_FUZZ_PATHS", "300"))
SWAPS = 2000
SECRET = b"SECRET-%s" % hashlib.sha256(b"myelin").hexdigest().encode()
# Long enough for the filters of output, and no secret anywhere else.
CODES = {"not_found", "not_a_file", "is_a_directory", "not_a_directory",
         "outside", "exists", "too_large", "no_space", "permission",
         "not_unique", "no_match", "changed", "not_text", "bad_path",
         "bad_argument", "busy", "io"}
STATUSES = {200, 201, 400, 403, 404, 409, 413}


def tree_of(top):
    """Everything in a directory: type, mode, size, content, target."""
    found = {}
    for root, dirs, files in os.walk(os.fsencode(top)):
        for name in dirs + files:
            path = os.path.join(root, name)
            st = os.lstat(path)
            what = None
            if os.path.islink(path):
                what = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as f:
                    what = f.read()
            found[path] = (st.st_mode, st.st_uid, st.st_gid, what)
    return found


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(config=CONFIG)
        cls.w = Workspace()
        cls.outside = os.path.join(cls.w.top, "src-evil")
        os.mkdir(cls.outside)
        with open(os.path.join(cls.outside, "secret"), "wb") as f:
            f.write(SECRET)
        # A stranger could write there: only the jail's roots say no.
        os.chmod(cls.outside, 0o777)
        os.chmod(os.path.join(cls.outside, "secret"), 0o666)

    @classmethod
    def tearDownClass(cls):
        cls.w.close()
        cls.i.stop()

    def setUp(self):
        self.s = self.i.session(**self.w.fields())
        self.n = self.i.get("/v1/sessions/" + self.s)[1]["neuron"]
        self.before = tree_of(self.outside)
        self.top = sorted(os.listdir(self.w.top))

    def tearDown(self):
        self.i.request("DELETE", "/v1/sessions/" + self.s)
        self.w.empty()

    # Outside too, and unlike what lies on the host a program can reach it:
    # there it is the tools alone that keep themselves from it.
    INSIDE = "/tmp/evil"

    def furnish_inside(self):
        r = self.i.bash("mkdir -p %s; printf %s >%s/secret; chmod -R 777 %s"
                        % (self.INSIDE, SECRET.decode(), self.INSIDE,
                           self.INSIDE), session=self.s)
        self.assertEqual(r["exit_code"], 0, r)

    def nothing_happened_outside(self):
        r = self.i.bash("ls -A /tmp; echo; ls -A /dev/shm %s; cat %s/secret" %
                        (self.INSIDE, self.INSIDE), session=self.s)
        names, rest = r["stdout"].split("\n\n", 1)
        # a workspace below /tmp is mounted there
        self.assertEqual(set(names.split()) - set(self.w.path.split("/")),
                         {"evil"}, r)
        self.assertEqual(rest, "/dev/shm:\n\n%s:\nsecret\n%s" %
                         (self.INSIDE, SECRET.decode()), r)
        self.assertEqual(tree_of(self.outside), self.before)
        self.assertEqual(sorted(os.listdir(self.w.top)), self.top)

    def check_record(self, r, sent):
        self.assertIn("encoding", r, sent)
        text = json.dumps(r)
        self.assertNotIn(SECRET.decode(), text, sent)
        self.assertNotIn("root:x:0:0", text, sent)
        self.assertNotIn(SECRET, stdout_of(r), sent)
        if r["state"] == "failed":
            self.assertEqual(r["reason"], "invalid_arguments", (sent, r))
            return
        self.assertEqual(r["state"], "completed", (sent, r))
        self.assertIn(r["exit_code"], (0, 1), (sent, r))
        self.assertIsInstance(r["result"], dict, (sent, r))
        if r["exit_code"] == 1:
            self.assertIn(r["result"]["error"]["code"], CODES, (sent, r))


class Fuzz(Base):
    """What an agent may write as a path."""

    def furnish(self):
        self.furnish_inside()
        self.i.bash(
            "mkdir -p a/b/c deep ~/h; echo one >a/f; echo two >a/b/g; "
            "ln -sfn ../src-evil evil; ln -sfn %s abs; ln -sfn / root; "
            "ln -sfn /proc/self/root procroot; ln -sfn /proc/self/cwd cwd; "
            "ln -sfn a inside; ln -sfn loop loop; ln -sfn /nowhere dangling; "
            "ln -sfn ../src-evil/made makes; ln -sfn /proc/1/root one; "
            "ln -sfn /tmp/evil near; ln -sfn /tmp/evil/made nearly; "
            "ln -sfn ../../../../../../../../tmp/evil/secret rel; "
            "ln -sfn ~/h home; mkfifo pipe; "
            "touch $'new\\nline' $'\\xff\\xfe' './-n' '  ' $'\\e[2J'; "
            "ln -f a/f hard" % self.outside, session=self.s)
        # what the judge would ask about: a path and a link
        r = self.i.call("python", {"code":
            "import os\n"
            "os.makedirs('deep' + '/%s' * 60, exist_ok=True)\n"
            "if not os.path.lexists('passwd'):\n"
            "    os.symlink('/etc/passwd', 'passwd')" % ("x" * 40)},
            session=self.s)
        self.assertEqual(r["exit_code"], 0, r)

    def parts(self):
        w = self.w.path.encode()
        return [b"a", b"b", b"c", b"f", b"g", b".", b"..", b"", b"evil",
                b"abs", b"root", b"procroot", b"cwd", b"inside", b"loop",
                b"dangling", b"makes", b"one", b"near",
                b"nearly", b"rel", b"evil", b"/tmp/evil", b"home", b"passwd", b"pipe",
                b"new\nline", b"\xff\xfe", b"-n", b"--", b"  ", b"\x1b[2J",
                b"hard", b"secret", b"etc", b"passwd", b"proc", b"self",
                b"root", b"fd", b"0", b"1", b"3", b"4", b"environ", b"dev",
                b"null", b"zero", b"tmp", b"x" * 255, b"x" * 256, b"~",
                b"$HOME", b"%2e%2e", b"*", b"?", b"[a]", b"{a,b}", b"\\",
                b"'", b"\"", b"\xc3\xa4", b"\xed\xa0\x80", b"src-evil",
                b"src", w[1:], w, self.outside.encode(), b"/home/agent",
                b"/home/agent-evil", b"/proc/self/root", b"/proc/1/cwd",
                b"/dev/fd/0", b"/dev/stdin", b"C:", b"con"]

    def path(self, rng, parts):
        kind = rng.randrange(10)
        if kind == 0:
            return b"/".join([rng.choice((b"a", b"..", b"x" * 40, b"."))]
                             * rng.choice((50, 500, 1365, 4096)))[:8000]
        if kind == 1:
            return rng.randbytes(rng.randrange(1, 60)).replace(b"\0", b"1")
        path = b"/".join(rng.choice(parts)
                         for _ in range(rng.randrange(1, 7)))
        if kind == 2:
            path = b"/" + path
        if kind == 3:
            path = self.w.path.encode() + b"/" + path
        if kind == 4:
            path += b"/"
        return path or b"."

    def argument(self, rng, path):
        try:
            text = path.decode()
            if rng.randrange(3):
                return {"path": text}
        except UnicodeDecodeError:
            pass
        return {"path_base64": base64.b64encode(path).decode()}

    def calls(self, rng, path):
        where = self.argument(rng, path)
        yield "read", where
        yield "read", {**where, "tar": True}
        yield "write", {**where, "content": "W", "parents":
                        bool(rng.randrange(2))}
        yield "edit", {**where, "old": "one", "new": "E"}
        yield "ls", {**where, "depth": rng.randrange(1, 4)}
        yield "grep", {**where, "pattern": "SECRET|root:x", "ignored": True}
        yield "find", {**where, "depth": rng.randrange(1, 4)}

    def names(self, rng, path):
        name = path.decode("utf-8", "replace")[:90]
        yield "memory_store", {"name": name, "content": "x"}
        yield "memory_recall", {"name": name}
        yield "memory_delete", {"name": name}
        yield "find", {"name": name}
        yield "grep", {"pattern": name, "glob": name}

    def routes(self, path):
        url = "/v1/neurons/%s/files/%s" % (self.n, quote(path, safe="/"))
        for method, query, body in (("GET", "", None),
                                    ("GET", "?format=tar", None),
                                    ("PUT", "", b"P"),
                                    ("PUT", "?parents=1", b"P")):
            try:
                status, data = self.i.request(method, url + query, body)
            except http.client.IncompleteRead as e:
                # an archive may meet its bound when much of it is on its way
                self.assertEqual(query, "?format=tar")
                status, data = 200, e.partial
            self.assertIn(status, STATUSES, (method, path, data))
            self.assertNotIn(SECRET, data if isinstance(data, bytes) else
                             json.dumps(data).encode(), path)

    def test_every_tool_and_route(self):
        rng = random.Random(SEED)
        parts = self.parts()
        end = time.monotonic() + 240
        tried = 0
        self.furnish()
        for tried in range(PATHS):
            if time.monotonic() > end:
                break
            path = self.path(rng, parts)
            which = rng.randrange(3)
            if which == 0:
                self.routes(path)
                continue
            calls = list(self.calls(rng, path) if which == 1 else
                         self.names(rng, path))
            tool, args = rng.choice(calls)
            sent = (tool, args)
            status, r = self.i.request(
                "POST", "/v1/sessions/%s/calls" % self.s,
                {"tool": tool, "args": args, "wait_ms": 30000})
            if status == 400:       # no JSON that is taken
                continue
            self.assertEqual(status, 200, (sent, r))
            self.check_record(r, sent)
            if tried % 50 == 49:
                self.nothing_happened_outside()
                self.furnish()
        self.assertGreater(tried, PATHS // 4)
        self.nothing_happened_outside()

    def test_where_a_directory_is_named(self):
        """The working directory of a call is a path as well."""
        rng = random.Random(SEED + 1)
        parts = self.parts()
        self.furnish()
        for _ in range(PATHS // 5):
            try:
                cwd = self.path(rng, parts).decode()
            except UnicodeDecodeError:
                continue
            for tool, args in (("read", {"path": "secret"}),
                               ("write", {"path": "made", "content": "x"})):
                status, r = self.i.request(
                    "POST", "/v1/sessions/%s/calls" % self.s,
                    {"tool": tool, "args": args, "cwd": cwd,
                     "wait_ms": 30000})
                if status != 200:
                    self.assertEqual(status, 400, (cwd, r))
                    continue
                self.assertNotIn(SECRET.decode(), json.dumps(r), cwd)
                if r["state"] == "completed":
                    self.check_record(r, cwd)
        self.nothing_happened_outside()

    def test_hand_picked(self):
        self.furnish()
        evil = os.path.basename(self.outside)
        for path in ("../%s/secret" % evil, self.outside + "/secret",
                     "evil/secret", "a/../evil/secret", "abs/secret",
                     "inside/../evil/secret", "root/etc/passwd",
                     "procroot/etc/passwd", "cwd/evil/secret", "passwd",
                     "/proc/self/root" + self.outside + "/secret",
                     self.w.path + "/../" + evil + "/secret",
                     self.w.path + "-evil/secret", "one/etc/passwd",
                     "/home/agent/../../etc/passwd", "dangling", "makes",
                     "near/secret", "near/made", "nearly", "rel",
                     "procroot/tmp/evil/secret", "a/../near/secret",
                     "/tmp/evil/secret"):
            for tool, args in (("read", {}), ("write", {"content": "W"}),
                               ("write", {"content": "W", "parents": True}),
                               ("edit", {"old": "S", "new": "W"}),
                               ("grep", {"pattern": "."})):
                r = self.i.call(tool, {"path": path, **args}, session=self.s)
                self.check_record(r, (tool, path))
                self.assertEqual(r["exit_code"], 1, (tool, path, r))
                self.assertIn(r["result"]["error"]["code"],
                              ("outside", "not_found"), (tool, path, r))
        for search in ("near", "root", "procroot", "/tmp/evil"):
            for tool in ("ls", "find", "grep"):
                args = {"path": search}
                if tool == "grep":
                    args["pattern"] = "."
                r = self.i.call(tool, args, session=self.s)
                self.assertEqual(r["result"]["error"]["code"], "outside",
                                 (tool, search, r))
        # links on the way are not followed by a search
        r = self.i.call("grep", {"pattern": "SECRET", "ignored": True},
                        session=self.s)
        self.assertEqual(r["result"]["count"], 0, r["result"])
        r = self.i.call("find", {"name": "secret", "ignored": True},
                        session=self.s)
        self.assertEqual(r["result"]["entries"], [])
        self.nothing_happened_outside()

    def test_deep_and_long(self):
        """4,096 levels, made from inside, and no crash at any of them."""
        self.i.call("python", {"code":
                    "import os\nfor i in range(4096):\n"
                    " os.mkdir('d'); os.chdir('d')\n"
                    "open('f','w').write('x')\n"}, session=self.s)
        for tool, args in (("find", {}), ("ls", {"depth": 32}),
                           ("grep", {"pattern": "x"}),
                           ("read", {"path": "d/" * 2000 + "nope"}),
                           ("read", {"path": "d/" * 2040})):
            r = self.i.call(tool, args, session=self.s)
            self.check_record(r, tool)
        with self.assertRaises(http.client.IncompleteRead):
            self.i.request("GET", "/v1/neurons/%s/files/d?format=tar" %
                           self.n)
        self.i.bash("find d -depth -delete 2>/dev/null; python3 -c \""
                    "import os\nwhile os.path.isdir('d'):\n"
                    " os.rename('d','e'); os.path.isdir('e/d') and "
                    "os.rename('e/d','d'); \n"
                    " [os.unlink('e/'+n) for n in os.listdir('e')]; "
                    "os.rmdir('e')\"", session=self.s)


class Swap(Base):
    """A directory and a link change places while files are written."""

    LOOP = (
        "import ctypes,os,sys\n"
        "c=ctypes.CDLL(None,use_errno=True)\n"
        "os.makedirs('dir',exist_ok=True)\n"
        "os.path.lexists('link') or os.symlink(sys.argv[1],'link')\n"
        "print('going',flush=True)\n"
        "while not os.path.exists('stop'):\n"
        " for n in range(64):\n"
        "  c.renameat2(-100,b'dir',-100,b'link',2)\n")

    def test_nothing_lands_outside(self):
        self.furnish_inside()
        status, loop = self.i.request(
            "POST", "/v1/sessions/%s/calls" % self.s,
            {"tool": "exec", "timeout_ms": 600000, "args": {
                "argv": ["python3", "-c", self.LOOP, self.INSIDE]}})
        self.assertEqual(status, 202, loop)
        wait_for(lambda: os.path.lexists(os.path.join(self.w.path, "link")),
                 60)
        codes = {}
        end = time.monotonic() + 300
        c = self.i.connection()
        for n in range(SWAPS):
            if time.monotonic() > end:
                break
            tool, args = ((
                ("write", {"path": "dir/made-%d" % (n % 7),
                           "content": "PWNED"}),
                ("read", {"path": "dir/secret"}),
                ("write", {"path": "dir/secret", "content": "PWNED"}),
                ("read", {"path": "dir/made-%d" % (n % 7)}),
                ("edit", {"path": "dir/secret", "old": "SECRET",
                          "new": "PWNED"}),
                ("write", {"path": "dir/new/made", "content": "PWNED",
                           "parents": True}),
                ("grep", {"path": "dir", "pattern": "SECRET"}),
                ("ls", {"path": "dir"}))[n % 8])
            c.request("POST", "/v1/sessions/%s/calls" % self.s, json.dumps(
                {"tool": tool, "args": args, "wait_ms": 30000}),
                {"Content-Type": "application/json"})
            r = json.loads(c.getresponse().read())
            self.check_record(r, (tool, args))
            code = r["result"].get("error", {}).get("code", "done")
            codes[code] = codes.get(code, 0) + 1
        c.close()
        with open(os.path.join(self.w.path, "stop"), "w"):
            pass
        r = self.i.request("GET", "/v1/calls/%s?wait_ms=20000" %
                           loop["call"])[1]
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        # both sides of the exchange were met, or nothing was shown
        self.assertGreater(n, SWAPS // 4)
        self.assertGreater(codes.get("done", 0), n // 50, codes)
        self.assertGreater(codes.get("outside", 0), n // 50, codes)
        self.nothing_happened_outside()


if __name__ == "__main__":
    unittest.main()
