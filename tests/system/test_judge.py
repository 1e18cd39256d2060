"""The judge's verdicts on commands that were judged by people."""
import collections
import json
import os
import subprocess
import tempfile
import unittest

from harness import BUILD, CTL, Instance, SHARED, Workspace

JUDGED = os.path.join(BUILD, "judged", "judged")
RANK = {"allow": 0, "ask": 1, "deny": 2}
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}


def decode(text):
    """\\n, \\t and \\\\ of the data files."""
    out, i = [], 0
    while i < len(text):
        if text[i] == "\\" and text[i + 1:i + 2] in ESCAPES:
            out.append(ESCAPES[text[i + 1]])
            i += 1
        else:
            out.append(text[i])
        i += 1
    return "".join(out)


def judge(text, *options):
    """As in a neuron whose home is the workspace, in a directory of it."""
    p = subprocess.run([JUDGED, "-j", "-d", "/home/agent/project"] +
                       list(options), input=text.encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=30)
    assert p.returncode == 0, (text, p.stderr)
    return json.loads(p.stdout)


def data(test, name):
    path = os.path.join(SHARED, name)
    if not os.path.exists(path):
        test.skipTest("no %s beside the clone" % name)
    with open(path) as f:
        return [l.rstrip("\n") for l in f if not l.startswith("# ") and
                l != "\n"]


class Cases(unittest.TestCase):
    def test_cases(self):
        """No deny is let through, nothing allowed is denied, 97 % exact."""
        exact, rows, wrong = 0, 0, []
        for line in data(self, "policy-cases.tsv"):
            verdict, kind, command = line.split("\t")[:3]
            got = judge(decode(command))
            rows += 1
            if (got["verdict"], got["class"]) == (verdict, kind):
                exact += 1
                continue
            wrong.append("%s %s, not %s %s: %s" % (
                got["verdict"], got["class"], verdict, kind, command[:100]))
            with self.subTest(command=command):
                self.assertFalse(verdict == "deny" and
                                 got["verdict"] == "allow")
                self.assertFalse(verdict == "allow" and
                                 got["verdict"] == "deny")
        print("# %d of %d rows exact" % (exact, rows))
        for line in wrong:
            print("# " + line)
        self.assertGreaterEqual(exact, rows * 0.97)

    def test_benign(self):
        """No hard deny, at most one in five asks."""
        asks, rows = collections.Counter(), 0
        for line in data(self, "benign-corpus.txt"):
            got = judge(decode(line))
            rows += 1
            with self.subTest(command=line):
                self.assertNotEqual(got["verdict"], "deny")
            if got["verdict"] == "ask":
                asks[got["class"]] += 1
        n = sum(asks.values())
        print("# %d of %d ask: %s" % (n, rows, ", ".join(
            "%s %d" % i for i in asks.most_common())))
        self.assertLessEqual(n, rows * 0.20)


class Library(unittest.TestCase):
    """myelinctl judge says what it could not run, and why."""

    def ctl(self, directory):
        return subprocess.run([CTL, "judge", "-L", directory, "ls"],
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=30)

    def test_no_judged(self):
        # where programs of the build run, others do
        with tempfile.TemporaryDirectory(
                dir=os.path.join(BUILD, "tests")) as top:
            for name, text, mode in (("none", None, 0), ("file", "", 0o644),
                                     ("fails", "#!/bin/sh\nexit 3\n", 0o755),
                                     ("dies", "#!/bin/sh\nkill -9 $$\n",
                                      0o755)):
                os.mkdir(os.path.join(top, name))
                if text is not None:
                    path = os.path.join(top, name, "judged")
                    with open(path, "w") as f:
                        f.write(text)
                    os.chmod(path, mode)
            for name, words in (("none", "No such file or directory"),
                                ("file", "Permission denied"),
                                ("file/judged", "Not a directory"),
                                ("fails", "ended with status 3"),
                                ("dies", "was killed by SIGKILL")):
                r = self.ctl(os.path.join(top, name))
                self.assertEqual((r.returncode, r.stdout), (1, b""), name)
                said = r.stderr.decode()
                self.assertIn(words, said)
                self.assertIn(os.path.join(top, name, "judged"), said)
                self.assertEqual("-L names" in said,
                                 name not in ("fails", "dies"), said)


class Calls(unittest.TestCase):
    """What is never run is not run, whoever asks for it and however."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def denied(self, r, kind):
        self.assertEqual((r["state"], r["reason"], r["verdict"], r["class"]),
                         ("failed", "denied_by_policy", "deny", kind), r)
        self.assertEqual(r["stdout"], "")
        self.assertIn("never run", r["denials"][0]["what"])
        self.assertEqual(r["denials"][0]["rule"], kind)
        self.assertTrue(r["denials"][0]["next"])

    def test_hard_denies(self):
        for command, kind in (
                ("echo ran; rm -rf /", "hard:wipe"),
                ("echo ran; X=/; rm -rf \"$X\"usr", "hard:wipe"),
                ("echo ran; bash -c 'rm -rf ~'", "hard:wipe"),
                ("echo ran; echo cm0gLXJmIC8= | base64 -d | sh",
                 "hard:wipe"),
                ("echo ran > /dev/sda", "hard:disk"),
                ("echo ran; useradd x", "hard:account"),
                ("echo ran; systemctl stop myelin", "hard:self")):
            self.denied(self.i.bash(command), kind)

    def test_programs_and_python(self):
        self.denied(self.i.call("exec", {"argv": ["env", "rm", "-rf", "/"]}),
                    "hard:wipe")
        self.denied(self.i.call("python", {
            "code": "print('ran')\nimport os\nos.system('rm -rf /')"}),
            "hard:wipe")

    def test_a_workspace_is_judged_as_home_is(self):
        with open(os.path.join(self.w.path, "kept"), "w") as f:
            f.write("x")
        where = self.w.fields()
        self.denied(self.i.bash("echo ran; rm -rf *", **where), "hard:wipe")
        self.denied(self.i.bash("echo ran; rm -rf " + self.w.path, **where),
                    "hard:wipe")
        r = self.i.bash("mkdir build && rm -rf build && ls", **where)
        self.assertEqual((r["stdout"], r["class"]),
                         ("kept\n", "mutate-irreversible"))

    def test_class_and_marks_of_what_runs(self):
        r = self.i.bash("true")
        self.assertEqual((r["verdict"], r["class"], r["marks"]),
                         ("allow", "read", []))
        r = self.i.bash("curl -s http://127.0.0.1:1/ || true")
        self.assertEqual((r["class"], r["marks"]),
                         ("network-read", ["network-read"]))


if __name__ == "__main__":
    unittest.main()
