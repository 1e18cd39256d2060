"""The file tools and the notes, over the socket: what each does, what it
refuses, and what other systems got wrong (O: their field reports)."""
import base64
import hashlib
import json
import os
import random
import shutil
import subprocess
import time
import unittest

from declared import faults
from harness import CONFIG, Instance, Workspace, stdout_of, wait_for

LIMIT = 16 << 20    # "body"
QUICK = 45		# seconds: what blocks does for its whole time


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Base(unittest.TestCase):
    """A session with a workspace that the host sees too."""
    EXTRA = ""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance(config=CONFIG + cls.EXTRA)
        cls.w = Workspace()
        try:
            cls.schemas = {t["name"]: t["output_schema"] for t in
                           cls.i.get("/v1/tools")[1]["tools"]}
        except BaseException:
            cls.tearDownClass()
            raise

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

    def call(self, tool, **args):
        """A call that the tool's body answers: its result is as declared."""
        r = self.i.call(tool, args, session=self.s)
        self.assertEqual((r["state"], r["reason"], r["error"]),
                         ("completed", None, None), r)
        if r["exit_code"] == 0:
            self.assertEqual(faults(self.schemas[tool], r["result"]), [],
                             (tool, args))
            self.assertEqual(r["stderr"], "")
        else:
            self.assertEqual(r["exit_code"], 1, r)
            self.assertEqual(r["stderr"],
                             r["result"]["error"]["message"] + "\n")
        return r

    def does(self, tool, **args):
        r = self.call(tool, **args)
        self.assertEqual(r["exit_code"], 0, (tool, args, r["stderr"]))
        return r["result"]

    def refuses(self, code, tool, **args):
        r = self.call(tool, **args)
        self.assertEqual(r["exit_code"], 1, (tool, args, r["result"]))
        self.assertEqual(r["result"]["error"]["code"], code, r["stderr"])
        return r["result"]["error"]

    def invalid(self, tool, words, **args):
        r = self.i.call(tool, args, session=self.s)
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "invalid_arguments"), (tool, args, r))
        self.assertIn(words, r["error"]["message"])

    def bash(self, command):
        return self.i.bash(command, session=self.s)

    def path(self, *names):
        return os.path.join(self.w.path, *names)

    def content(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def put(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        os.chown(self.path(name), self.w.uid, self.w.gid)


class Read(Base):
    def test_lines(self):
        self.put("f", b"".join(b"line %d\n" % n for n in range(1, 5001)))
        r = self.call("read", path="f")
        self.assertEqual(r["stdout"].count("\n"), 2000)
        self.assertEqual((r["result"]["more"], r["result"]["next_offset"],
                          r["result"]["lines"]), (True, 2001, 2000))
        got, at = "", 1
        while True:
            r = self.call("read", path="f", offset=at, limit=1999)
            got += r["stdout"]
            if not r["result"]["more"]:
                break
            at = r["result"]["next_offset"]
        self.assertEqual(got.encode(), self.content("f"))
        r = self.call("read", path="f", offset=10, limit=2, numbers=True)
        self.assertEqual([l.split() for l in r["stdout"].splitlines()],
                         [["10", "line", "10"], ["11", "line", "11"]])
        r = self.call("read", path="f", offset=6000)
        self.assertEqual((r["stdout"], r["result"]["more"]), ("", False))

    def test_bytes(self):
        data = bytes(range(256)) * 40
        self.put("f", data)
        r = self.call("read", path="f", byte_offset=100, byte_limit=300)
        self.assertEqual(stdout_of(r), data[100:400])
        self.assertEqual((r["result"]["kind"], r["result"]["more"],
                          r["result"]["next_byte_offset"]),
                         ("range", True, 400))
        r = self.call("read", path="f", byte_offset=len(data) + 5)
        self.assertEqual((stdout_of(r), r["result"]["more"]), (b"", False))

    def test_what_is_not_text(self):
        png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFc"
                               "SJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
                               "RU5ErkJggg==")
        self.put("p.png", png)
        r = self.call("read", path="p.png")
        self.assertEqual((r["encoding"]["stdout"], stdout_of(r)),
                         ("base64", png))
        self.assertEqual((r["result"]["kind"], r["result"]["media_type"],
                          r["result"]["sha256"]),
                         ("binary", "image/png", sha256(png)))

    def test_ends_of_lines_and_marks(self):
        for data, eol, bom, text in (
                (b"", "none", False, ""),
                (b"a", "none", False, "a"),
                (b"a\nb\n", "lf", False, "a\nb\n"),
                (b"\xef\xbb\xbfa\r\nb\r\n", "crlf", True, "a\r\nb\r\n"),
                (b"a\r\nb\n", "mixed", False, "a\r\nb\n")):
            self.put("f", data)
            r = self.call("read", path="f")
            self.assertEqual((r["result"]["eol"], r["result"]["bom"],
                              r["stdout"]), (eol, bom, text), data)

    def test_bad_input(self):
        self.put("f", b"x")
        self.invalid("read", "exactly one is needed")
        self.invalid("read", "exactly one", path="f", path_base64="Zg==")
        self.invalid("read", "expected integer", path="f", limit="2")
        self.invalid("read", "minimum", path="f", offset=0)
        self.invalid("read", "at most one", path="f", offset=1, byte_offset=0)
        self.invalid("read", "no such property", path="f", file="f")
        self.invalid("read", "characters", path="")
        status, body = self.i.request(
            "POST", "/v1/calls", {"tool": "read", "args": {"path": "a\0b"}})
        self.assertEqual(status, 400, body)
        self.refuses("bad_argument", "read", path_base64="Zg=")
        self.refuses("bad_path", "read", path_base64=base64.b64encode(
            b"a\0b").decode())
        self.refuses("not_found", "read", path="nope")
        self.refuses("not_found", "read", path="no/such/file")
        self.refuses("not_a_directory", "read", path="f/g")
        self.refuses("is_a_directory", "read", path=".")
        self.refuses("outside", "read", path="/etc/passwd")
        self.refuses("outside", "read", path="../../../etc/passwd")


class Write(Base):
    def test_create_and_replace(self):
        r = self.does("write", path="f", content="one\n")
        self.assertEqual((r["created"], r["bytes"], r["sha256"]),
                         (True, 4, sha256(b"one\n")))
        os.chmod(self.path("f"), 0o751)
        r = self.does("write", path="f", content_base64="AP8=")
        self.assertEqual((r["created"], self.content("f")),
                         (False, b"\0\xff"))
        st = os.stat(self.path("f"))
        self.assertEqual((st.st_mode & 0o7777, st.st_uid, st.st_gid),
                         (0o751, self.w.uid, self.w.gid))
        r = self.does("write", path="empty", content="")
        self.assertEqual(self.content("empty"), b"")

    def test_parents(self):
        self.refuses("not_found", "write", path="a/b/c", content="x")
        self.assertFalse(os.path.exists(self.path("a")))
        self.does("write", path="a/b/c", content="x", parents=True)
        self.assertEqual(self.content("a/b/c"), b"x")

    def test_expect(self):
        one = self.does("write", path="f", content="1", expect="absent")
        self.refuses("exists", "write", path="f", content="2",
                     expect="absent")
        two = self.does("write", path="f", content="2",
                        expect=one["sha256"])
        self.refuses("changed", "write", path="f", content="3",
                     expect=one["sha256"])
        self.assertEqual(self.content("f"), b"2")
        self.does("write", path="f", content="3", expect=two["sha256"])
        self.refuses("bad_argument", "write", path="f", content="3",
                     expect="x" * 64)

    def test_stdin_is_the_content(self):
        r = self.i.call("write", {"path": "f"}, session=self.s,
                        stdin={"base64": "AP8K"})
        self.assertEqual((r["exit_code"], self.content("f")),
                         (0, b"\0\xff\n"))
        r = self.i.call("write", {"path": "g"}, session=self.s, stdin="")
        self.assertEqual((r["exit_code"], self.content("g")), (0, b""))

    def test_without_content_nothing_is_emptied(self):
        self.put("f", b"precious")
        self.refuses("bad_argument", "write", path="f")
        self.assertEqual(self.content("f"), b"precious")
        self.invalid("write", "at most one", path="f", content="",
                     content_base64="")
        self.refuses("bad_argument", "write", path="f",
                     content_base64="A")
        self.assertEqual(self.content("f"), b"precious")

    def test_readers_see_the_old_or_the_new(self):
        """And no other name is there afterwards."""
        self.put("f", b"a" * 200000)
        status, call = self.i.request("POST", "/v1/sessions/%s/calls" %
                                      self.s, {
            "tool": "python", "args": {"code": "import time\n"
                "end=time.time()+3\nseen=set()\nwhile time.time()<end:\n"
                " d=open('f','rb').read(); seen.add((len(d),d[:1],d[-1:]))\n"
                "print(sorted(seen))"}})
        for n in range(20):
            self.does("write", path="f", content="bc"[n % 2] * 200000)
        r = self.i.request("GET", "/v1/calls/%s?wait_ms=50000" %
                           call["call"])[1]
        self.assertEqual(r["exit_code"], 0, r["stderr"])
        for size, first, last in eval(r["stdout"]):
            self.assertEqual((size, first), (200000, last))
        self.assertEqual(self.w.names(), {"f"})


class Edit(Base):
    def test_o11_crlf_and_bom(self):
        self.put("f", b"\xef\xbb\xbfa\r\nb\r\nc\r\n")
        r = self.does("edit", path="f", old="a\nb", new="a\nX")
        self.assertEqual(r["replacements"], 1)
        self.assertEqual(self.content("f"), b"\xef\xbb\xbfa\r\nX\r\nc\r\n")
        self.put("g", b"a\r\nb\nc\r\n")
        self.does("edit", path="g", old="c", new="d\ne")
        self.assertTrue(self.content("g").startswith(b"a\r\nb\nd"))

    def test_once_or_all(self):
        self.put("f", b"x y x\n")
        self.refuses("not_unique", "edit", path="f", old="x", new="z")
        self.refuses("no_match", "edit", path="f", old="q", new="z")
        self.assertEqual(self.content("f"), b"x y x\n")
        r = self.does("edit", path="f", old="x", new="z", all=True)
        self.assertEqual((r["replacements"], self.content("f")),
                         (2, b"z y z\n"))
        self.does("edit", path="f", old=" y", new="")
        self.assertEqual(self.content("f"), b"z z\n")

    def test_several_as_one(self):
        self.put("f", b"one two three\n")
        self.refuses("no_match", "edit", path="f",
                     edits=[{"old": "one", "new": "1"},
                            {"old": "four", "new": "4"}])
        self.assertEqual(self.content("f"), b"one two three\n")
        r = self.call("edit", path="f", edits=[{"old": "one", "new": "1"},
                                               {"old": "1 two", "new": "12"}])
        self.assertEqual(self.content("f"), b"12 three\n")
        self.assertIn("-one two three\n+12 three\n", r["stdout"])

    def test_the_diff_is_one(self):
        rng = random.Random(11)
        before = [b"line %d\n" % rng.randrange(99) for _ in range(400)]
        self.put("f", b"".join(before[:200] + [b"unique\n"] + before[200:]))
        shutil.copy(self.path("f"), self.path("copy"))
        r = self.call("edit", path="f", edits=[
            {"old": "unique\n", "new": "a\nb\n"},
            {"old": "line 7\n", "new": "seven\n", "all": True}])
        patch = subprocess.run(["patch", "-s", self.path("copy")],
                               input=r["stdout"].encode(),
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        self.assertEqual(patch.returncode, 0, patch.stdout)
        self.assertEqual(self.content("copy"), self.content("f"))

    def test_bad_input(self):
        self.put("f", b"a\n")
        self.invalid("edit", "exactly one", path="f", old="a")
        self.invalid("edit", "exactly one", path="f", old="a", new="b",
                     edits=[{"old": "a", "new": "b"}])
        self.invalid("edit", "at most one", path="f", all=True,
                     edits=[{"old": "a", "new": "b"}])
        self.invalid("edit", "characters", path="f", old="", new="x")
        self.refuses("not_found", "edit", path="g", old="a", new="b")
        self.refuses("changed", "edit", path="f", old="a", new="b",
                     expect=sha256(b"b\n"))
        self.put("bin", b"a\0b")
        self.does("edit", path="bin", old="a", new="c")
        self.assertEqual(self.content("bin"), b"c\0b")


NAMES = (b"a\nb", b"\xff\xfe", b"  lead", b"\x1b[2Jx")


class Lists(Base):
    def by_bytes(self, entries, name):
        return {base64.b64decode(e[name + "_base64"])
                if name + "_base64" in e else e[name].encode(): e
                for e in entries}

    def test_ls(self):
        os.mkdir(self.path("d"))
        os.chown(self.path("d"), self.w.uid, self.w.gid)
        self.put("d/f", b"12345")
        self.put(".hidden", b"")
        os.symlink("d/f", self.path("l"))
        os.mkfifo(self.path("p"))
        r = [e for e in self.does("ls")["entries"]
             if e["name"] not in self.w.PLACEHOLDERS]
        self.assertEqual([(e["name"], e["type"]) for e in r],
                         [(".hidden", "file"), ("d", "directory"),
                          ("l", "link"), ("p", "fifo")])
        self.assertEqual(r[2]["target"], "d/f")
        r = self.does("ls", all=False)
        self.assertEqual([e["name"] for e in r["entries"]], ["d", "l", "p"])
        r = self.does("ls", path="d")
        self.assertEqual([(e["name"], e["size"]) for e in r["entries"]],
                         [("f", 5)])
        r = self.does("ls", depth=2)
        self.assertIn("d/f", [e["name"] for e in r["entries"]])
        self.refuses("not_found", "ls", path="nope")
        self.refuses("not_a_directory", "ls", path="d/f")

    def test_pages_of_a_large_directory(self):
        os.mkdir(self.path("d"))
        for n in range(2500):
            open(self.path("d", "%05d" % n), "w").close()
        got, at = [], 0
        while True:
            r = self.does("ls", path="d", offset=at)
            got += [e["name"] for e in r["entries"]]
            self.assertEqual(r["total"], 2500)
            if not r["more"]:
                break
            at = r["next_offset"]
        self.assertEqual(got, ["%05d" % n for n in range(2500)])

    def test_o15_names_of_any_bytes(self):
        for n in NAMES:
            self.put(os.fsdecode(n), n)
        for tool, name in (("ls", "name"), ("find", "path")):
            r = self.call(tool)
            self.assertNotIn("\x1b", r["stdout"])
            found = self.by_bytes(r["result"]["entries"], name)
            self.assertEqual(r["stdout"].count("\n"), len(found), r["stdout"])
            for n in self.w.PLACEHOLDERS:
                found.pop(n.encode(), None)
            self.assertEqual(set(found), set(NAMES), tool)
            for n, e in found.items():
                key = name + "_base64" if name + "_base64" in e else name
                got = self.call("read", **{
                    "path_base64" if key.endswith("64") else "path": e[key]})
                self.assertEqual(stdout_of(got), n)
        r = self.i.ctl("files", self.s)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn(b"\x1b", r.stdout)
        self.assertEqual(r.stdout.count(b"\n"), 5 +
                         len(os.listdir(self.w.path)) - len(self.w.names()))

    def test_grep(self):
        os.makedirs(self.path("src/deep"))
        self.put("src/a.c", b"int one;\nint two;\n")
        self.put("src/deep/b.h", b"one\n\xff one\n")
        self.put(".gitignore", b"build/\n")
        os.makedirs(self.path("build"))
        os.makedirs(self.path(".git"))
        self.put("build/c.c", b"one\n")
        r = self.does("grep", pattern="one")
        self.assertEqual([(m["path"], m["line"]) for m in r["matches"]],
                         [("src/a.c", 1), ("src/deep/b.h", 1),
                          ("src/deep/b.h", 2)])
        self.assertEqual(base64.b64decode(r["matches"][2]["text_base64"]),
                         b"\xff one")
        r = self.does("grep", pattern="ONE", ignore_case=True, glob="*.c")
        self.assertEqual([m["path"] for m in r["matches"]], ["src/a.c"])
        r = self.does("grep", pattern="one", ignored=True, files_only=True)
        self.assertIn("build/c.c", [f["path"] for f in r["files"]])
        r = self.does("grep", pattern="one", path="src/a.c", context=1)
        self.assertEqual([(m["line"], m.get("context", False))
                          for m in r["matches"]], [(1, False), (2, True)])
        r = self.does("grep", pattern="t.o", fixed=True)
        self.assertEqual((r["matches"], r["count"], r["more"]),
                         ([], 0, False))
        r = self.does("grep", pattern="one", limit=1)
        self.assertEqual((r["count"], r["more"]), (1, True))
        self.refuses("bad_argument", "grep", pattern="(")
        self.refuses("not_found", "grep", pattern="x", path="nope")

    def test_find(self):
        os.makedirs(self.path("a/b"))
        self.put("a/b/x.py", b"")
        self.put("a/y.py", b"")
        self.put(".hidden.py", b"")
        os.symlink("/usr", self.path("l"))
        r = self.does("find", name="*.py")
        self.assertEqual([e["path"] for e in r["entries"]],
                         ["a/b/x.py", "a/y.py"])
        r = self.does("find", name="*.py", ignored=True, type="file")
        self.assertEqual(len(r["entries"]), 3)
        r = self.does("find", type="link")
        self.assertEqual([e["path"] for e in r["entries"]], ["l"])
        r = self.does("find", depth=1, type="directory")
        self.assertEqual([e["path"] for e in r["entries"]], ["a"])
        r = self.does("find", limit=1)
        self.assertEqual((r["count"], r["more"]), (1, True))

    def test_o14_what_begins_with_a_dash_is_data(self):
        self.put("-77", b"-77\n--pre=/bin/sh\n")
        self.put("-delete", b"x\n")
        os.mkdir(self.path("--help"))
        self.put("--help/in", b"x\n")
        for pattern in ("-77", "--pre=/bin/sh"):
            r = self.does("grep", pattern=pattern)
            self.assertEqual([(m["path"], m["text"]) for m in r["matches"]],
                             [("-77", pattern)])
        r = self.does("grep", pattern="x", path="--help")
        self.assertEqual([m["path"] for m in r["matches"]], ["--help/in"])
        r = self.does("grep", pattern="x", glob="-delete")
        self.assertEqual([m["path"] for m in r["matches"]], ["-delete"])
        r = self.does("find", name="-delete")
        self.assertEqual([e["path"] for e in r["entries"]], ["-delete"])
        r = self.does("ls", path="--help")
        self.assertEqual([e["name"] for e in r["entries"]], ["in"])
        self.assertTrue(os.path.exists(self.path("-delete")))


class Notes(Base):
    def test_life_of_a_note(self):
        r = self.does("memory_store", name="plan.md", content="one\n")
        self.assertTrue(r["created"])
        r = self.does("memory_store", name="plan.md", content="two")
        self.assertFalse(r["created"])
        r = self.call("memory_recall", name="plan.md")
        self.assertEqual(r["stdout"], "two")
        r = self.does("memory_list")
        self.assertEqual([(n["name"], n["bytes"]) for n in r["notes"]],
                         [("plan.md", 3)])
        self.does("memory_delete", name="plan.md")
        self.refuses("not_found", "memory_recall", name="plan.md")
        self.refuses("not_found", "memory_delete", name="plan.md")
        self.assertEqual(self.does("memory_list")["notes"], [])

    def test_names(self):
        for name in ("../x", "a/b", ".", "..", ".x", "-x", "a b", "a\nb",
                     "\u00e4", "/etc/passwd", "a\x1b"):
            for tool, more in (("memory_store", {"content": "x"}),
                               ("memory_recall", {}), ("memory_delete", {})):
                self.refuses("bad_argument", tool, name=name, **more)
        self.invalid("memory_store", "characters", name="a" * 101,
                     content="x")
        self.invalid("memory_store", "characters", name="", content="x")
        self.invalid("memory_store", "characters", name="a",
                     content="x" * ((1 << 20) + 1))

    def test_a_note_that_is_a_link_is_none(self):
        self.bash("mkdir -p ~/.memory; echo outside >~/f; "
                  "ln -s ~/f ~/.memory/l; ln -s /etc/hosts ~/.memory/m; "
                  "mkfifo ~/.memory/p")
        for name in ("m", "p"):
            r = self.call("memory_recall", name=name)
            self.assertEqual(r["exit_code"], 1, r)
            self.assertEqual(r["stdout"], "")


class Reports(Base):
    def test_o9_large_texts(self):
        text = "".join(random.Random(9).choices("abcdefgh\n", k=300 * 1024))
        self.does("write", path="big.txt", content=text)
        r = self.call("read", path="big.txt", limit=1000000)
        self.assertEqual(sha256(r["stdout"].encode()), sha256(text.encode()))
        one = "x" * (300 * 1024)
        self.does("write", path="line.txt", content=one)
        self.assertEqual(self.call("read", path="line.txt")["stdout"], one)
        r = self.i.call("bash", {"command": "true #" + "a" * 200 * 1024},
                        session=self.s)
        self.assertEqual(r["reason"], "invalid_arguments")
        self.assertIn('the limit "bash-text" is 65536',
                      r["error"]["message"])

    def test_o10_a_failure_is_the_programs_own(self):
        r = self.bash("false")
        self.assertEqual((r["state"], r["exit_code"], r["denials"]),
                         ("completed", 1, []))
        r = self.bash("cat /root/x")
        self.assertEqual((r["state"], r["exit_code"], r["reason"]),
                         ("completed", 1, None))
        self.assertIn("/root/x", r["stderr"])

    def test_o12_what_is_no_file_never_blocks(self):
        self.bash("mkfifo p; python3 -c 'import socket as s; "
                  "s.socket(s.AF_UNIX).bind(\"s\")' 2>/dev/null; echo x >f")
        other = self.i.session()
        for tool, args in (("read", {"path": "p"}),
                           ("write", {"path": "p", "content": "x"}),
                           ("edit", {"path": "p", "old": "a", "new": "b"})):
            start = time.monotonic()
            self.refuses("not_a_file", tool, **args)
            self.assertLess(time.monotonic() - start, QUICK, tool)
        start = time.monotonic()
        r = self.does("grep", pattern="x", path=".")
        self.assertEqual([m["path"] for m in r["matches"]], ["f"])
        self.refuses("outside", "read", path="/dev/zero")
        self.refuses("not_a_file", "grep", pattern="x", path="p")
        r = self.i.bash("echo ok", session=other)
        self.assertEqual(r["stdout"], "ok\n")
        self.assertLess(time.monotonic() - start, 2 * QUICK)
        self.assertTrue(os.path.exists(self.path("p")))
        self.i.request("DELETE", "/v1/sessions/" + other)

    def test_o13_links_that_leave(self):
        secret = os.path.join(self.w.top, "secret")
        with open(secret, "w") as f:
            f.write("SECRET\n")
        os.chmod(secret, 0o666)
        for target in (secret, "../secret", "/etc/hostname",
                       "/tmp/made", "/proc/self/environ"):
            if os.path.lexists(self.path("notes.txt")):
                os.unlink(self.path("notes.txt"))
            os.symlink(target, self.path("notes.txt"))
            for tool, args in (("write", {"content": "PWNED"}),
                               ("read", {}),
                               ("edit", {"old": "S", "new": "P"})):
                e = self.refuses("outside", tool, path="notes.txt", **args)
                self.assertIn(os.path.basename(target), e["message"])
            self.refuses("outside", "ls", path="notes.txt")
            self.refuses("outside", "grep", pattern="S", path="notes.txt")
            self.assertEqual(self.i.request(
                "PUT", "/v1/neurons/%s/files/notes.txt" % self.n,
                b"PWNED")[0], 403)
            self.assertEqual(self.i.get("/v1/neurons/%s/files/notes.txt" %
                                        self.n)[0], 403)
        with open(secret) as f:
            self.assertEqual(f.read(), "SECRET\n")
        self.assertTrue(os.path.islink(self.path("notes.txt")))
        # the record and the audit log say so, and where the link led
        os.unlink(self.path("notes.txt"))
        os.symlink(secret, self.path("notes.txt"))
        r = self.call("write", path="notes.txt", content="PWNED")
        self.assertEqual(r["denials"][0]["layer"], "jail")
        self.assertIn(secret, r["denials"][0]["what"])

        def audited():
            lines = self.i.get("/v1/audit?after=0&limit=500",
                               operator=True)[1]
            head = lines["head"]["sequence"]
            lines = self.i.get("/v1/audit?after=%d&limit=500" %
                               max(0, head - 100), operator=True)[1]["lines"]
            return [l for l in map(json.loads, lines)
                    if l["event"] == "call.denied" and
                    l["call"] == r["call"] and secret in l["what"]]
        wait_for(audited, 60)
        # one that stays inside is followed
        self.put("real", b"one\n")
        os.symlink("real", self.path("inside"))
        self.does("edit", path="inside", old="one", new="two")
        self.assertEqual(self.content("real"), b"two\n")
        self.assertTrue(os.path.islink(self.path("inside")))

    def test_o22_git_works_and_files_are_the_owners(self):
        subprocess.run(["setpriv", "--reuid", str(self.w.uid), "--regid",
                        str(self.w.gid), "--clear-groups", "git", "init",
                        "-q", self.w.path], check=True,
                       env={"PATH": os.environ["PATH"], "HOME": "/"})
        self.does("write", path="g", content="x")
        r = self.bash("touch f && git status -s && "
                      "git -c user.name=a -c user.email=a@b commit -q "
                      "--allow-empty -m x && git log --oneline | wc -l")
        self.assertEqual((r["exit_code"], r["stderr"]), (0, ""), r)
        self.assertIn("?? f\n?? g\n1\n", r["stdout"])
        for name in ("f", "g"):
            st = os.stat(self.path(name))
            self.assertEqual((st.st_uid, st.st_gid), (self.w.uid,
                                                      self.w.gid))

    def test_o23_what_was_written_is_there(self):
        rng = random.Random(23)
        url = "/v1/neurons/%s/files/f" % self.n
        for size in (1, 18 << 10, 19 << 10, 1 << 20, LIMIT):
            data = rng.randbytes(size)
            status, body = self.i.request("PUT", url, data)
            self.assertIn(status, (200, 201), body)
            self.assertEqual((body["bytes"], body["sha256"]),
                             (size, sha256(data)))
            self.assertEqual(self.content("f"), data)
            status, got = self.i.get(url)
            self.assertEqual((status, got == data), (200, True), size)
            if size <= 1 << 20:
                r = self.does("write", path="g", content_base64=
                              base64.b64encode(data).decode())
                self.assertEqual(r["sha256"], sha256(data))
                r = self.call("read", path="g", byte_offset=0)
                self.assertEqual(stdout_of(r), data)
        status, body = self.i.request("PUT", url, b"x" * (LIMIT + 1))
        self.assertEqual((status, body["error"]["code"]),
                         (413, "body_too_large"))
        self.assertIn(str(LIMIT), body["error"]["message"])
        self.assertEqual(self.content("f"), data)


class Full(Base):
    EXTRA = 'profile "default" { mode native; home 2M }\n'

    def test_o23_a_full_disk_leaves_the_old_file(self):
        s = self.i.session()
        n = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        url = "/v1/neurons/%s/files/f" % n
        self.assertEqual(self.i.request("PUT", url, b"a" * 900000)[0], 201)
        status, body = self.i.request("PUT", url, b"b" * 3000000)
        self.assertEqual((status, body["error"]["code"]),
                         (507, "no_space"), body)
        self.assertEqual(self.i.get(url), (200, b"a" * 900000))
        r = self.i.call("write", {"path": "f", "content": "c" * 3000000},
                        session=s)
        self.assertEqual(r["result"]["error"]["code"], "no_space")
        r = self.i.call("edit", {"path": "f", "old": "a" * 900000,
                                 "new": "b" * 2000000}, session=s)
        self.assertEqual(r["result"]["error"]["code"], "no_space")
        self.assertEqual(self.i.get(url), (200, b"a" * 900000))
        r = self.i.call("ls", {}, session=s)
        self.assertEqual([e["name"] for e in r["result"]["entries"]], ["f"])
        self.i.request("DELETE", "/v1/sessions/" + s)


if __name__ == "__main__":
    unittest.main()
