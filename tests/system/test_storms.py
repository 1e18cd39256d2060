"""Bombs, floods and what will not die: each is contained, its true cause is
told, and the next call in the same neuron works at once; and after all of
them there is as much of everything as before."""
import unittest

import footprint
import storms
from harness import SANITIZED, Instance


class Storms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(storms.config())

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def one(self, name, session):
        call = storms.body(name)
        del call["profile"]
        r = self.i.call(call.pop("tool"), call.pop("args"), session=session,
                        wait=40000, **call)
        self.assertEqual(storms.wrong(name, r), "", (name, r))
        r = self.i.bash("echo on", session=session)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "on\n"),
                         (name, r))
        self.assertFalse(r["neuron_retired"], (name, r))

    def every(self, timed):
        s = self.i.session(profile="storm")
        for name, row in storms.STORMS.items():
            if row[2] == "timed_out" and not timed:
                continue
            with self.subTest(name):
                self.one(name, s)
        self.i.request("DELETE", "/v1/sessions/" + s)

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_each_and_what_is_left(self):
        self.every(True)
        footprint.settle(self.i)
        before = footprint.footprint(self.i)
        self.every(False)
        footprint.settle(self.i)
        self.assertEqual(footprint.compare(
            before, footprint.footprint(self.i)), [])


if __name__ == "__main__":
    unittest.main()
