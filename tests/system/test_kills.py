"""kill -9 of random processes under load.  MYELIN_KILLS is the number of
kills: 60 here, 2,000 by contrib/check full."""
import os
import unittest

import footprint
import load
from harness import Instance, Workspace

KILLS = int(os.environ.get("MYELIN_KILLS", "60"))
BATCH = 100


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = Workspace()
        cls.i = Instance(load.CONFIG + "restart-window 1s\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def test_random(self):
        work = load.Load(self.i, self.w, seed=int(os.environ.get(
            "MYELIN_SEED", "1")))
        # once, so that what is made at need is made
        work.run(calls=30)
        before = footprint.still(self.i)
        try:
            for n in range(0, KILLS, BATCH):
                work.run(kills=min(BATCH, KILLS - n))
                self.assertEqual(footprint.grown(self.i, before), [])
        finally:
            with open(os.path.join(self.i.build, "kills.txt"), "w") as f:
                f.write(work.summary() + "\n")
        self.assertEqual(sum(work.kills.values()), KILLS)

    def test_stopped(self):
        """The chain of what was written, once nobody writes any more."""
        self.i.process.terminate()
        self.i.process.wait(60)
        r = self.i.ctl("audit", "verify", self.i.state)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.i.start()


if __name__ == "__main__":
    unittest.main()
