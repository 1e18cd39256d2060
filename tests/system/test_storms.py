"""Bombs, floods and what will not die: each is contained, its true cause is
told, and the next call in the same neuron works at once; and after all of
them there is as much of everything as before."""
import os
import subprocess
import unittest

import footprint
import storms
from harness import CTL, SANITIZED, Instance, began, wait_for


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
        before = footprint.still(self.i)
        self.every(False)
        self.assertEqual(footprint.grown(self.i, before), [])

    def test_whose_a_process_is(self):
        """Other tests run at the same time, and programs of the same build:
        a process of theirs is none that is left here."""
        read, write = os.pipe()
        # of no instance, and no child of this test: its shell is gone
        theirs = int(subprocess.run(
            ["sh", "-c", 'exec 3<&0; "$0" mcp <&3 >/dev/null 2>&1 & echo $!',
             CTL], stdin=read, stdout=subprocess.PIPE, check=True,
            env=dict(os.environ, MYELIN_SOCKET=self.i.api)).stdout)
        mine = subprocess.Popen([CTL, "mcp"], stdin=read,
                                stdout=subprocess.DEVNULL,
                                env=dict(os.environ,
                                         MYELIN_SOCKET=self.i.api))
        try:
            for pid in (theirs, mine.pid):
                wait_for(lambda: footprint.link("/proc/%d/exe" % pid)
                         .endswith("/myelinctl"), 30)
            found = footprint.ours(self.i)
            self.assertNotIn(theirs, found)
            self.assertEqual(found.get(mine.pid), "myelinctl")
            self.assertLessEqual(set(footprint.known(self.i)), set(found))
        finally:
            os.close(write)
            os.close(read)
            mine.wait(60)
            wait_for(lambda: began(theirs) is None, 60)


if __name__ == "__main__":
    unittest.main()
