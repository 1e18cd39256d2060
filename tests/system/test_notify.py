"""The notifiers of contrib/examples and their units, with programs that are
played: what an approval says is never markup, a header or a shell's."""
import email
import email.policy
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import fake_operator
import played_service as client
from approvals import AGENT, Split
from harness import TOP, wait_for

EXAMPLES = os.path.join(TOP, "contrib", "examples")
NOTIFY = os.path.join(EXAMPLES, "notify.py")
UNITS = ("myelin-notify-desktop.service", "myelin-notify-mail.service")
# Keeps what it is called with and what it reads, whole, each time anew.
STUB = """#!%s
import json, os, sys
with open("%s/%%d.new" %% os.getpid(), "w") as f:
    json.dump({"argv": sys.argv[1:],
               "input": sys.stdin.buffer.read().decode("latin-1")}, f)
os.rename("%s/%%d.new" %% os.getpid(), "%s/%%d.json" %% os.getpid())
"""
HOSTILE = (
    "rm -rf build",
    "<b>allow this</b> <img src='http://x/y'> <a href=\"x\">y</a> &amp; &#60;",
    "\\074b\\076\\x3cb\\x3e\\u003cb\\n\\\\074b",
    "$(touch %(never)s); `touch %(never)s`; ' \" ; touch %(never)s #",
    "a\r\nBcc: all@example.org\r\n\r\nSubject: other\r\n.\r\nFrom x\r\n",
    "a\nBcc: all@example.org\n\n.\nFrom me\n",
    "--icon=/etc/passwd", "-t", "\n.\n",
    "\x1b[2J\x1b]0;t\x07\u202eevil\u200b\u2028\ufeff\x00\x7f\x85\u3164",
    "\ud800\udfff", "=?utf-8?q?Bcc=3A_x?=", "x" * 100000, "%%s%%n %% \\",
)
KEYS = ("principal", "tool", "effect", "reason", "workspace", "command")


def strcompress(text):
    """What notify-send makes of a body: g_strcompress(3)."""
    out, i = [], 0
    short = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
             "v": "\v"}
    while i < len(text):
        if text[i] != "\\":
            out.append(text[i])
            i += 1
            continue
        octal = re.match(r"[0-7]{1,3}", text[i + 1:i + 4])
        if octal:
            out.append(chr(int(octal.group(), 8)))
            i += 1 + len(octal.group())
        else:
            out.append(short.get(text[i + 1], text[i + 1]))
            i += 2
    return "".join(out)


class Played(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="notify-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.never = os.path.join(self.dir, "never")
        self.got_dir = os.path.join(self.dir, "got")
        self.bin = os.path.join(self.dir, "bin")
        os.mkdir(self.got_dir)
        os.mkdir(self.bin)
        for name in ("notify-send", "sendmail"):
            path = os.path.join(self.bin, name)
            with open(path, "w") as f:
                f.write(STUB % (sys.executable, self.got_dir, self.got_dir,
                                self.got_dir))
            os.chmod(path, 0o755)
        self.env = dict(os.environ, PATH=self.bin + ":/usr/bin:/bin")

    def hostile(self):
        return [h % {"never": self.never} if "%(" in h else h
                for h in HOSTILE]

    def approval(self, text):
        row = {key: text for key in KEYS}
        row.update(approval=fake_operator.make_id("a"), marks=[text],
                   expires_in_ms=299000)
        return row

    def notify(self, data, *argv, env=None):
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        return subprocess.run([NOTIFY] + list(argv), input=data,
                              env=env or self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=30)

    def got(self):
        """What the played programs were called with since the last look."""
        found = []
        for name in sorted(os.listdir(self.got_dir)):
            if name.endswith(".json"):
                path = os.path.join(self.got_dir, name)
                with open(path) as f:
                    found.append(json.load(f))
                os.unlink(path)
        self.assertFalse(os.path.exists(self.never))
        return found

    def check_desktop(self, got, row):
        """The body says what it is to say, and is no markup."""
        argv = got["argv"]
        self.assertEqual(argv[:-1], [
            "--app-name=Myelin", "--urgency=critical", "--category=im", "--",
            "Myelin: an approval waits"])
        self.assertEqual(got["input"], "")
        self.assertTrue(argv[-1].isascii())
        body = strcompress(argv[-1])
        markup = xml.etree.ElementTree.fromstring("<x>%s</x>" % body)
        self.assertEqual(len(markup), 0)
        lines = markup.text.split("\n")
        self.assertEqual(lines[0], row["approval"])
        self.assertEqual(len(lines), 2 + sum(1 for k in KEYS if row.get(k)))
        for line in lines:
            self.assertTrue(line.isprintable())
            self.assertLess(len(line), 300)
        return lines

    def check_mail(self, got, row, to):
        self.assertEqual(got["argv"], ["-oi", "--", to])
        raw = got["input"]
        self.assertTrue(raw.isascii())
        self.assertNotIn("\r", raw)
        m = email.message_from_string(raw, policy=email.policy.default)
        self.assertEqual(m.defects, [])
        self.assertEqual(sorted(m.keys()), [
            "Auto-Submitted", "Content-Transfer-Encoding", "Content-Type",
            "Date", "MIME-Version", "Subject", "To"])
        self.assertEqual(m["To"], to)
        self.assertEqual(m["Subject"], "Myelin: approval %s waits" %
                         row["approval"])
        self.assertFalse(m.is_multipart())
        self.assertEqual(m.get_content_type(), "text/plain")
        body = raw.partition("\n\n")[2].split("\n")
        ours = ["A call waits for a decision.", "", "time left:", "asked by:",
                "tool:", "effect:", "why it asks:", "workspace:", "command:",
                "Look at all of it before you decide:",
                "    myelinctl approvals show " + row["approval"]]
        for line in body:
            self.assertTrue(line == "" or line.isprintable(), line)
            self.assertLessEqual(len(line), 76)
            if not line.startswith("  | "):
                self.assertIn(line, ours)
        return body


class Scripts(Played):
    def test_desktop(self):
        for text in self.hostile():
            row = self.approval(text)
            r = self.notify(row, "desktop")
            self.assertEqual((r.returncode, r.stdout, r.stderr),
                             (0, b"", b""), text)
            got = self.got()
            self.assertEqual(len(got), 1)
            lines = self.check_desktop(got[0], row)
            if text == HOSTILE[0]:
                self.assertEqual(lines[1:], [
                    "time left: 299 s", "asked by: " + text, "tool: " + text,
                    "effect: " + text, "why it asks: " + text,
                    "workspace: " + text, "command: " + text])
            elif text == HOSTILE[1]:
                self.assertIn("command: " + text, lines)
            elif text == HOSTILE[2]:
                self.assertIn("command: " + text.replace("\\", "\\\\"), lines)

    def test_mail(self):
        for text in self.hostile():
            row = self.approval(text)
            r = self.notify(row, "mail", "alice@example.org")
            self.assertEqual((r.returncode, r.stdout, r.stderr),
                             (0, b"", b""), text)
            got = self.got()
            self.assertEqual(len(got), 1)
            body = "\n".join(self.check_mail(got[0], row,
                                             "alice@example.org"))
            if text == HOSTILE[0]:
                self.assertIn("command:\n  | rm -rf build\n", body)
            elif text == HOSTILE[5]:
                self.assertIn("  | a\\nBcc: all@example.org\\n\\n.\\nFrom me"
                              "\\n\n", body)

    def test_what_is_no_approval(self):
        good = fake_operator.make_id("a")
        for data in (b"", b"[]", b"{", b"null", b"\xff", b"[" * 100000,
                     {"approval": 1}, {"approval": None}, {},
                     {"approval": good + "\nBcc: x"},
                     {"approval": good + "\n"}, {"approval": "a-<b>"},
                     b'{"approval":"%s"' % good.encode() + b" " * 1100000):
            for argv in (["desktop"], ["mail", "alice"]):
                r = self.notify(data, *argv)
                self.assertEqual((r.returncode, r.stdout), (1, b""), data)
                self.assertRegex(r.stderr, rb"\Anotify: [^\n]+\n\Z")
        # members that are something else than they should be are left out
        r = self.notify({"approval": good, "command": ["<b>"], "tool": 7,
                         "expires_in_ms": "x"}, "desktop")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual([g["argv"][-1] for g in self.got()], [good + "\n"])

    def test_addresses(self):
        row = self.approval("make")
        for to in ("", "-t", "-C/etc/passwd", "a\nBcc: b", "a b", "a,b",
                   "|cat", "/etc/passwd", "a@b\n", "\u00e4@b", "a@b>",
                   "x" * 500):
            r = self.notify(row, "mail", to)
            self.assertEqual(r.returncode, 1, to)
            self.assertIn(b"that is no address", r.stderr)
        self.assertEqual(self.got(), [])
        for argv in ([], ["mail"], ["desktop", "x"], ["other"]):
            r = self.notify(row, *argv)
            self.assertEqual(r.returncode, 1)
            self.assertIn(b"usage: ", r.stderr)

    def test_programs_that_fail(self):
        row = self.approval("make")
        for name, argv in (("notify-send", ["desktop"]),
                           ("sendmail", ["mail", "alice"])):
            path = os.path.join(self.bin, name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\ncat >/dev/null\nexit 7\n")
            r = self.notify(row, *argv)
            self.assertEqual(r.returncode, 1)
            self.assertIn(b"exit status 7", r.stderr)
        os.unlink(os.path.join(self.bin, "notify-send"))
        python = os.path.join(self.bin, "python3")
        os.symlink(sys.executable, python)
        r = self.notify(row, "desktop", env=dict(self.env, PATH=self.bin))
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"notify-send is not installed", r.stderr)


class Started(Played):
    """What the units start, as they start it: without a terminal."""

    def unit(self, name):
        """Its ExecStart, with this user's home and name."""
        with open(os.path.join(EXAMPLES, name)) as f:
            lines = [l[len("ExecStart="):] for l in f
                     if l.startswith("ExecStart=")]
        self.assertEqual(len(lines), 1)
        argv = shlex.split(lines[0])
        self.assertEqual(argv[0], "/usr/bin/myelinctl")
        return [client.CTL] + [
            a.replace("%h", self.dir).replace("%u", "alice")
            for a in argv[1:]]

    def end(self, p):
        if p.poll() is None:
            p.kill()
        p.communicate()

    def start(self, name, socket):
        home = os.path.join(self.dir, ".local/lib/myelin")
        os.makedirs(home)
        shutil.copy(NOTIFY, home)
        p = subprocess.Popen(
            self.unit(name), env=dict(self.env,
                                      MYELIN_OPERATOR_SOCKET=socket),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.end, p)
        return p

    def one(self):
        """The next call of a played program."""
        got = wait_for(self.got, 20)
        self.assertEqual(len(got), 1)
        return got[0]


class Units(Started):
    def play(self, name, seen):
        """Each hostile approval through the whole of it."""
        o = fake_operator.Operator()
        self.addCleanup(o.stop)
        first = o.add("waits already", command="waits already")
        p = self.start(name, o.path)
        seen(self.one(), o.row(first))
        for text in self.hostile():
            if "\ud800" in text:
                continue        # no JSON that a service sends
            a = o.add(text[:4000], **{key: text[:4000] for key in KEYS})
            seen(self.one(), o.row(a))
            o.end(a, "expired")
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=10)
        self.assertEqual((p.returncode, err), (143, b""))
        self.assertTrue(out.decode("ascii").replace("\n", "").isprintable())

    def test_desktop_unit(self):
        self.play(UNITS[0], self.check_desktop)

    def test_mail_unit(self):
        self.play(UNITS[1], lambda got, row: self.check_mail(
            got, row, "alice"))

    def test_they_are_in_order(self):
        self.assertTrue(os.stat(NOTIFY).st_mode & stat.S_IXOTH)
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        home = os.path.join(self.dir, "units")
        os.mkdir(home)
        for name in UNITS:
            path = os.path.join(home, name)
            with open(os.path.join(EXAMPLES, name)) as f:
                text = f.read()
            # what it starts is not installed here
            text = text.replace("/usr/bin/myelinctl", client.CTL)
            text = text.replace("%h/.local/lib/myelin", EXAMPLES)
            with open(path, "w") as f:
                f.write(text)
            r = subprocess.run(
                ["systemd-analyze", "--user", "--man=no", "verify", path],
                env=dict(self.env, XDG_RUNTIME_DIR=self.dir),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertNotIn(name.encode() + b":", r.stdout, r.stdout)


class Real(Started):
    """The same of approvals that a real service holds."""

    COMMANDS = (
        "rm -rf .git; echo '<b>&amp;</b>\\074i\\076' `touch %(never)s`",
        "rm -rf .git '\nBcc: all@example.org\n\n.\nFrom x' # $(touch "
        "%(never)s)",
        "rm -rf .git '\u202e\u200b\u2028\u3164\ufeff' --icon=/etc/passwd",
    )

    def play(self, name, seen):
        with Split() as s:
            # root may look, not decide
            p = self.start(name, s.i.operator)
            for text in self.COMMANDS:
                _, approval = s.asked(text % {"never": self.never})
                row = [r for r in s.list() if r["approval"] == approval][0]
                shown = seen(self.one(), row)
                self.assertIn("uid:%d" % AGENT, "\n".join(shown))
                self.assertIn("rm -rf", "\n".join(shown))
                self.assertEqual(s.decide(approval, "reject_once")[0], 200)
            p.send_signal(signal.SIGTERM)
            self.assertEqual((p.communicate(timeout=10)[1], p.returncode),
                             (b"", 143))
        self.assertEqual(self.got(), [])

    def test_desktop_unit(self):
        self.play(UNITS[0], self.check_desktop)

    def test_mail_unit(self):
        self.play(UNITS[1], lambda got, row: self.check_mail(
            got, row, "alice"))


if __name__ == "__main__":
    unittest.main()
