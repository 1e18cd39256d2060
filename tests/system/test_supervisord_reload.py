"""supervisord alone: SIGHUP, and what a new configuration changes."""
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from supervisor import CHILDREN, CONF, MYELIND, SupervisordTest, connect


class Reload(SupervisordTest):
    """A new generation: for all children, or for none."""

    def hang_up(self, i, conf=None):
        if conf is not None:
            i.configure(conf)
        i.proc.send_signal(signal.SIGHUP)

    def commits(self, i):
        """(child, generation), in order."""
        return [(name, int(n)) for name, n in re.findall(
            r"(?m)^(\S+): commit (\d+)$", i.log())]

    def good(self, i, conf=None, generation=2):
        self.hang_up(i, conf)
        i.wait_log(r"myelind: reload: generation %d is in force" % generation)

    def refused(self, i, conf, pattern, seconds=90, stays=1, count=1):
        """Nothing changes, and why is said in the log and to policyd."""
        pids = i.pids()
        commits = self.commits(i)
        self.hang_up(i, conf)
        i.wait_log(r"myelind: reload refused: generation %d stays in force" %
                   stays, seconds, count)
        self.assertRegex(i.log(), pattern)
        i.wait_log(r"policyd: reload %d refused 1 .*%s" % (stays, pattern))
        self.assertEqual([c for c in self.commits(i) if c[1] != stays],
                         [c for c in commits if c[1] != stays])
        return pids

    def test_good(self):
        i = self.instance().start()
        pids = i.pids()
        self.good(i, CONF + "memory 2G\n")
        self.assertEqual(self.commits(i)[len(CHILDREN):], [
            (name, 2) for name in ("neurond", "judged", "egressd", "policyd",
                                   "apid", "apid-operator")])
        i.wait_log(r"policyd: reload 2 ok 1 \n")
        self.assertEqual(i.pids(), pids)
        self.assertIsNone(connect(i.api))
        self.good(i, generation=3)
        self.assertNotIn("abort", i.log())
        self.assertEqual(i.stop(), 0)

    def test_started_again_with_the_new_one(self):
        i = self.instance().start()
        self.good(i, CONF + "memory 2G\n")
        i.configure("nonsense\n")
        for name in CHILDREN:
            before = i.pid(name)
            os.kill(before, signal.SIGKILL)
            i.wait_up(name, before)
        self.assertEqual([c for c in self.commits(i)[2 * len(CHILDREN):]],
                         [(name, 2) for name in CHILDREN])
        i.wait_log(r"policyd: reload 2 ok 0 \n")

    def test_syntax(self):
        i = self.instance().start()
        self.refused(i, CONF + "\nmemroy 2G\n",
                     r"myelin\.conf:3: unknown keyword \"memroy\"")
        self.good(i, CONF, 3)
        self.assertNotIn("abort", i.log())

    def test_reference(self):
        i = self.instance().start()
        self.refused(i, CONF + "principal user bin { preset nosuch }\n",
                     r"myelin\.conf:2: .*there is no preset \"nosuch\"")

    def test_tool(self):
        i = self.instance().start()
        self.refused(i, CONF + "preset p { allow tool nosuch }\n",
                     r"myelin\.conf:2: .*there is no tool \"nosuch\"")

    def test_mode(self):
        i = self.instance().start()
        i.configure(CONF)
        os.chmod(i.dir + "/myelin.conf", 0o666)
        self.refused(i, None, r"myelin\.conf: mode 0666 lets group or others "
                     "write it")

    def test_missing(self):
        i = self.instance().start()
        os.unlink(i.dir + "/myelin.conf")
        self.refused(i, None, r"myelin\.conf: No such file")

    def test_what_a_start_alone_changes(self):
        i = self.instance().start()
        n = 0
        for line, words in (("instance other", "instance is another now"),
                            ("state /elsewhere", "state is another now"),
                            ("uids 1900000000 4096", "uids is another now"),
                            ("cgroup parent /x", "cgroup parent is another"),
                            ("listen api /x/api", "listen api is another"),
                            ('listen operator "%s" mode 0600' % i.operator,
                             "listen operator is another now"),
                            ("neurons 33", "neurons is more than at")):
            n += 1
            self.refused(i, CONF + line + "\n", r"myelin\.conf:2: " + words,
                         count=n)
        self.good(i, CONF + "neurons 31\n", n + 2)

    def test_a_child_refuses(self):
        i = self.instance().start()
        self.refused(i, CONF + "preset refused { }\n",
                     r"myelin\.conf:2: preset \"refused\" is refused \(says "
                     r"policyd\)")
        # whoever had agreed, or was still to answer, forgets it
        for name in CHILDREN:
            if name != "policyd":
                i.wait_log(r"(?m)^%s: abort$" % name)
        self.good(i, CONF, 3)

    def test_a_child_dies(self):
        i = self.instance().start()
        before = i.pid("judged")
        pids = self.refused(i, CONF + "environment allow FAKE_MUTE\n",
                            r"judged ended before it answered")
        i.wait_up("judged", before)
        self.assertEqual([n for n in CHILDREN if i.pid(n) != pids[n]],
                         ["judged"])
        self.assertEqual(self.commits(i)[-1], ("judged", 1))
        self.good(i, CONF, 3)

    def test_a_child_does_not_answer(self):
        i = self.instance().start()
        pids = self.refused(i, CONF + "environment allow FAKE_STUCK\n",
                            r"judged did not answer to the new configuration")
        self.assertEqual(i.pids(), pids)
        os.kill(pids["judged"], signal.SIGKILL)
        i.wait_up("judged", pids["judged"])
        self.good(i, CONF, 3)

    def test_a_child_dies_too_late_to_refuse(self):
        i = self.instance().start()
        before = i.pid("judged")
        self.hang_up(i, CONF + "environment allow FAKE_DIE_LATER\n")
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual([c for c in self.commits(i)[len(CHILDREN):]
                          if c[0] != "judged"],
                         [(n, 2) for n in ("neurond", "egressd", "policyd",
                                           "apid", "apid-operator")])
        i.wait_log(r"judged \(pid %d\) ended with status 5" % before)
        self.good(i, CONF, 3)
        self.assertEqual(i.stop(), 0)

    def test_a_child_that_hangs_too_late_to_refuse(self):
        i = self.instance().start()
        before = i.pid("judged")
        self.hang_up(i, CONF + "environment allow FAKE_STUCK_LATER\n")
        i.wait_log(r"judged \(pid %d\) did not put the new configuration in "
                   "force within 10 s: killed" % before)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_other_declarations(self):
        """judged is a new process, and that is nobody's death."""
        i = self.instance().start()
        pids = i.pids()
        tool = os.path.join(i.tree, "judged", "tools", "exec.json")
        for n in range(6):
            before = i.pid("judged")
            with open(tool, "w") as f:
                f.write("{%s}\n" % (" " * n + " "))
            self.good(i, generation=n + 2)
            i.wait_up("judged", before)
        after = i.pids()
        self.assertEqual([n for n in CHILDREN if after[n] != pids[n]],
                         ["judged"])
        self.assertNotRegex(i.log(), r"procs judged \d+ [1-9]")
        # a file with the same bytes is the same declaration
        os.utime(tool)
        self.good(i, generation=8)
        self.assertEqual(i.pids(), after)
        # what a child gets does not follow the file
        with open(tool, "a") as f:
            f.write("{} and more\n")
        os.kill(after["judged"], signal.SIGKILL)
        i.wait_up("judged", after["judged"])

    def test_declaration_of_others(self):
        i = self.instance().start()
        os.chmod(os.path.join(i.tree, "judged", "tools", "exec.json"), 0o666)
        self.refused(i, CONF, r"exec\.json: mode 0666")

    def test_log(self):
        i = self.instance(options=("-d",))
        i.start(wait=False)
        i.wait_log(r"myelind: ready: ")
        self.assertNotIn("the log is verbose", i.log())
        self.good(i, CONF + "log verbose\n")
        for name in CHILDREN:
            i.wait_log(r"(?m)^%s: the log is verbose" % name)
        n = i.log().count("the log is verbose")
        self.good(i, CONF, 3)
        self.assertEqual(i.log().count("the log is verbose"), n)

    def test_open_files(self):
        def nofile(pid):
            with open("/proc/%d/limits" % pid) as f:
                return int(re.search(r"Max open files +(\d+)",
                                     f.read()).group(1))
        i = self.instance().start()
        before = {n: nofile(p) for n, p in i.pids().items()}
        self.hang_up(i, CONF + "connections 600\n")
        i.wait_log(r"is in force|stays in force")
        if "stays in force" in i.log():
            # without CAP_SYS_RESOURCE it is refused by name
            with open("/proc/self/status") as f:
                held = int(re.search(r"CapEff:\s+(\w+)", f.read()).group(1),
                           16)
            self.assertFalse(held & 1 << 24)
            self.assertRegex(i.log(), r"connections and calls need \d+ open "
                             "files in apid, which can't be given")
            return
        for name, pid in i.pids().items():
            more = 88 * 2 if name in ("apid", "apid-operator",
                                      "policyd") else 0
            self.assertEqual(nofile(pid), before[name] + more, name)

    def test_many_at_once(self):
        """Signals that come meanwhile are one more reload."""
        i = self.instance().start()
        for _ in range(20):
            i.proc.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        time.sleep(0.5)
        self.good(i, CONF + "memory 2G\n", len(re.findall(
            r"is in force", i.log())) + 2)
        self.assertNotIn("refused", i.log())
        self.assertEqual(i.stop(), 0)

    def test_while_a_child_comes_up(self):
        """It waits for that, and is not refused."""
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGKILL)
        i.wait_log(r"judged \(pid %d\) was killed" % before)
        self.good(i, CONF + "memory 2G\n")
        self.assertEqual(i.stop(), 0)

    def test_at_the_start(self):
        i = self.instance()
        i.start(wait=False)
        i.wait_log(r"judged \(pid \d+\) is started")
        i.proc.send_signal(signal.SIGHUP)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_stop_meanwhile(self):
        i = self.instance().start()
        self.hang_up(i, CONF + "environment allow FAKE_STUCK\n")
        i.wait_log(r"neurond: file spawner", count=2)
        pids = i.pids()
        self.assertEqual(i.stop(), 0)
        self.assert_gone(pids.values())

    def test_relative_path(self):
        i = self.instance()
        i.argv = lambda *more: [MYELIND, *i.options, *more, "-f",
                                "myelin.conf", "-p", ".", "-L", i.tree]
        with open(i.log_path, "ab") as log:
            i.proc = subprocess.Popen(i.argv(), stderr=log, stdout=log,
                                      stdin=subprocess.DEVNULL, cwd=i.dir)
        i.wait_log(r"myelind: ready: ")
        self.good(i, CONF + "memory 2G\n")

    def test_notify(self):
        with tempfile.TemporaryDirectory() as d, \
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(d + "/n")
            s.settimeout(60)
            i = self.instance(env={"NOTIFY_SOCKET": d + "/n"}).start()
            while b"READY=1" not in s.recv(4096):
                pass
            for conf, status in ((CONF, b"generation 2 in force"),
                                 ("x\n", b"reload refused: ")):
                asked = time.monotonic_ns() // 1000
                self.hang_up(i, conf)
                m = re.search(rb"RELOADING=1\nMONOTONIC_USEC=(\d+)",
                              s.recv(4096))
                self.assertTrue(m)
                self.assertGreaterEqual(int(m.group(1)), asked)
                said = s.recv(4096)
                self.assertIn(b"READY=1", said)
                self.assertIn(status, said)
            i.stop()


if __name__ == "__main__":
    unittest.main()
