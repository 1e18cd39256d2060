"""supervisord alone: its children die, and it stops."""
import os
import re
import signal
import time
import unittest

from supervisor import CHILDREN, CONF, SupervisordTest, alive, connect


class Death(SupervisordTest):
    def test_each_alone(self):
        """One dies, it comes back, its neighbours get new ends and stay."""
        links = {"apid": ["agent"], "apid-operator": ["operator"],
                 "judged": ["judge"], "neurond": ["launch"],
                 "egressd": ["egress"],
                 "policyd": ["agent", "operator", "judge", "launch",
                             "egress"]}
        owners = {"agent": "apid", "operator": "apid-operator",
                  "judge": "judged", "launch": "neurond",
                  "egress": "egressd"}
        i = self.instance().start()
        for name in CHILDREN:
            before = i.pids()
            plumbs = {(owner, kind): len(re.findall(
                r"%s: plumb %s\n" % (owner, kind), i.log()))
                for kind, o in owners.items() for owner in (o, "policyd")}
            os.kill(before[name], signal.SIGKILL)
            i.wait_up(name, before[name])
            after = i.pids()
            for other in CHILDREN:
                if other != name:
                    self.assertEqual(before[other], after[other], name)
                    self.assertTrue(alive(after[other]))
            for kind in links[name]:
                for owner in (owners[kind], "policyd"):
                    i.wait_log(r"\b%s: plumb %s\n" % (owner, kind),
                               count=plumbs[(owner, kind)] + 1)
            self.assertIsNone(connect(i.api))
        i.wait_log(r"killed by SIGKILL", count=len(CHILDREN))
        self.assertEqual(i.stop(), 0)

    def test_policyd_gets_all_rows_again(self):
        i = self.instance().start()
        before = i.pid("policyd")
        n = len(re.findall(r"policyd: procs myelind", i.log()))
        os.kill(before, signal.SIGKILL)
        i.wait_up("policyd", before)
        i.wait_log(r"policyd: procs myelind", count=n + 1)
        i.wait_log(r"policyd: procs neurond %d 0 up" % i.pid("neurond"),
                   count=2)

    def test_first_restart_is_at_once(self):
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGKILL)
        i.wait_up("judged", before)
        self.assertNotIn("judged is started again in", i.log())

    def kill_five(self, i, name):
        for n in range(5):
            pid = i.pid(name)
            os.kill(pid, signal.SIGKILL)
            if n < 4:
                i.wait_up(name, pid)

    def test_a_channel_that_dies_alone(self):
        """Its ends live: the one that is not policyd is started again."""
        i = self.instance(conf=CONF + "environment allow FAKE_LOSE\n").start()
        before = i.pids()
        i.wait_log(r"myelind: the channel judge is dead, though policyd and "
                   r"judged live: judged \(pid %d\) is started again" %
                   before["judged"])
        i.wait_up("judged", before["judged"])
        after = i.pids()
        self.assertEqual({n for n in before if before[n] != after[n]},
                         {"judged"})
        i.wait_log(r"policyd: plumb judge", count=2)

    def test_five_deaths_of_judged(self):
        i = self.instance().start()
        pids = i.pids()
        self.kill_five(i, "judged")
        self.assertEqual(i.proc.wait(timeout=90), 1)
        self.assertRegex(i.log(), r"judged died 5 times within 60 s: the "
                         r"service ends")
        self.assertRegex(i.log(), r"judged is started again in 400 ms")
        self.assert_gone(pids.values())
        self.assertFalse(os.path.exists(i.api))

    def test_five_deaths_of_apid(self):
        """Its socket goes, the rest stays; policyd restarts all the same."""
        i = self.instance().start()
        self.kill_five(i, "apid")
        i.wait_log(r"apid died 5 times within 60 s: .*api.sock stays down")
        self.assertEqual(connect(i.api), "FileNotFoundError")
        self.assertIsNone(connect(i.operator))
        i.wait_log(r"policyd: procs apid 0 4 failed")
        before = i.pid("policyd")
        os.kill(before, signal.SIGKILL)
        i.wait_up("policyd", before)
        # A minute later it is tried again, socket and all.
        before = i.pid("apid")
        i.wait_log(r"apid is tried again", seconds=150)
        i.wait_up("apid", before)
        self.assertIsNone(connect(i.api))
        self.assertEqual(i.stop(), 0)

    def test_five_deaths_of_egressd(self):
        """It is off then, and tried again later; all else goes on."""
        i = self.instance().start()
        pids = i.pids()
        self.kill_five(i, "egressd")
        i.wait_log(r"egressd died 5 times within 60 s: egress stays down")
        i.wait_log(r"policyd: procs egressd 0 4 failed")
        self.assertEqual({n: p for n, p in i.pids().items()
                          if n != "egressd"},
                         {n: p for n, p in pids.items() if n != "egressd"})
        # one that asks for its end of the channel is no worse off
        os.kill(pids["policyd"], signal.SIGKILL)
        i.wait_up("policyd", pids["policyd"])
        i.configure(CONF)
        i.proc.send_signal(signal.SIGHUP)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_silent(self):
        """A child that answers no ping for 30 s is killed and comes back."""
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGSTOP)
        i.wait_log(r"judged \(pid %d\) was silent for 30 s" % before,
                   seconds=150)
        i.wait_up("judged", before)

    def test_supervisor_killed(self):
        """Nothing outlives it, and the next one starts where it was."""
        i = self.instance().start()
        pids = i.pids()
        i.proc.kill()
        i.proc.wait()
        self.assert_gone(pids.values())
        self.assertTrue(os.path.exists(i.api))
        os.unlink(i.log_path)
        i.start()
        self.assertIsNone(connect(i.api))

    def test_hanging_child_and_killed_supervisor(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n")
        i.start()
        pid = i.pid("judged")
        i.proc.kill()
        i.proc.wait()
        self.addCleanup(lambda: alive(pid) and os.kill(pid, signal.SIGKILL))
        others = [p for n, p in i.pids().items() if n != "judged"]
        self.assert_gone(others)


class Stop(SupervisordTest):
    ORDER = list(CHILDREN)

    def test_order(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            i = self.instance().start()
            pids = i.pids()
            self.assertEqual(i.stop(sig), 0)
            self.assertEqual(re.findall(r"myelind: (\S+) \(pid \d+\) stopped",
                                        i.log()), self.ORDER)
            self.assertEqual(re.findall(r"^(\S+): stop$", i.log(), re.M),
                             self.ORDER)
            self.assert_gone(pids.values())

    def test_deadline(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n").start()
        begin = time.monotonic()
        self.assertEqual(i.stop(), 0)
        self.assertGreater(time.monotonic() - begin, 1.5)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertRegex(i.log(), r"judged \(pid \d+\) did not stop in time")
        self.assertRegex(i.log(), r"neurond \(pid \d+\) stopped")

    def test_second_signal(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n",
                          options=("-d", "-v", "-T", "imsg")).start()
        i.proc.send_signal(signal.SIGTERM)
        i.wait_log(r"judged: stop")
        i.proc.send_signal(signal.SIGTERM)
        self.assertEqual(i.proc.wait(timeout=60), 0)
        # those behind it were told at once, and not when it was gone
        before = i.log()[:re.search(r"judged \(pid \d+\) did not stop in time",
                                    i.log()).start()]
        self.assertEqual(before.count("myelind: imsg control sends STOP_PROC"),
                         len(CHILDREN))

    def test_during_start(self):
        i = self.instance(conf=CONF + "environment allow FAKE_UNREADY\n")
        i.start(wait=False)
        i.wait_log(r"judged: commit")
        self.assertEqual(i.stop(), 0)
        self.assertFalse(os.path.exists(i.api))


if __name__ == "__main__":
    unittest.main()
