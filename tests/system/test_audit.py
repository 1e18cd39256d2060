"""audit verify finds a changed, removed, reordered and cut record."""
import json
import os
import shutil
import unittest

from harness import Instance


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        for n in range(5):
            cls.i.bash("echo %d" % n)
        cls.secret = "ghp_" + "Ab1" * 12
        cls.call = cls.i.bash("echo %s; true %s" % (
            cls.secret, "long " * 1000))["call"]
        cls.live = cls.i.ctl("audit", "verify")
        cls.tail = cls.i.ctl("audit", "tail")
        # stopped, as an operator would; its state is kept aside
        cls.i.process.terminate()
        cls.i.process.wait(60)
        cls.i.process = None
        cls.kept = cls.i.state + "-kept"
        shutil.copytree(cls.i.state, cls.kept)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def lines(self):
        with open(os.path.join(self.kept, "policy", "audit.jsonl"),
                  "rb") as f:
            return f.read().splitlines(keepends=True)

    def verify(self, lines):
        state = os.path.join(self.i.dir, "copy")
        shutil.rmtree(state, ignore_errors=True)
        shutil.copytree(self.kept, state)
        with open(os.path.join(state, "policy", "audit.jsonl"), "wb") as f:
            f.write(b"".join(lines))
        return self.i.ctl("audit", "verify", state)

    def test_arguments(self):
        """What was asked, as far as there is room, without its secrets."""
        text = b"".join(self.lines()).decode()
        self.assertNotIn(self.secret, text)
        asked = [r for r in map(json.loads, text.splitlines())
                 if r["event"] == "call.asked"]
        self.assertEqual(json.loads(asked[0]["arguments"])["args"],
                         {"command": "echo 0"})
        self.assertFalse(asked[0]["arguments_cut"])
        mine = [r for r in asked if r["call"] == self.call][0]
        self.assertRegex(mine["arguments"], "echo .*redacted.*; true long")
        self.assertTrue(mine["arguments_cut"])
        self.assertLessEqual(len(mine["arguments"]), 2048)
        self.assertRegex(mine["arguments_sha256"], "^[0-9a-f]{64}$")

    def test_live(self):
        self.assertEqual(self.live.returncode, 0, self.live.stderr)

    def test_tail(self):
        self.assertEqual(self.tail.returncode, 0, self.tail.stderr)
        self.assertIn(b"call.finished", self.tail.stdout)

    def test_whole(self):
        r = self.verify(self.lines())
        self.assertEqual(r.returncode, 0, r.stderr)

    def refused(self, lines):
        r = self.verify(lines)
        self.assertNotEqual(r.returncode, 0, r.stdout)
        self.assertTrue(r.stderr)

    def test_changed(self):
        lines = self.lines()
        at = next(k for k, l in enumerate(lines) if b"completed" in l)
        lines[at] = lines[at].replace(b"completed", b"cancelled", 1)
        self.refused(lines)

    def test_removed(self):
        lines = self.lines()
        del lines[len(lines) // 2]
        self.refused(lines)

    def test_reordered(self):
        lines = self.lines()
        lines[3], lines[4] = lines[4], lines[3]
        self.refused(lines)

    def test_cut(self):
        self.refused(self.lines()[:-2])

    def test_cut_inside_a_record(self):
        lines = self.lines()
        lines[-1] = lines[-1][:20]
        self.refused(lines)

    def test_first_removed(self):
        self.refused(self.lines()[1:])

    def test_emptied(self):
        self.refused([])


if __name__ == "__main__":
    unittest.main()
