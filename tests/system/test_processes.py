"""Each process's drop, read from /proc while it runs."""
import os
import signal
import time
import unittest

import footprint
from harness import (HELPERS, NAMES, SANITIZED, Instance, cgroups_of,
                     children_of, descendants_of, pss_kib, wait_for)

# CAP_CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, SETPCAP,
# NET_BIND_SERVICE, NET_ADMIN, SYS_CHROOT, SYS_ADMIN, SYS_RESOURCE, MKNOD: the
# most that a process which builds neurons may hold.
BUILDER = sum(1 << c for c in (0, 1, 3, 5, 6, 7, 8, 10, 12, 18, 21, 24, 27))


def fields(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(l.rstrip("\n").split(":\t", 1) for l in f if ":\t" in l)


class Drop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["MYELIN_TEST_CANARY"] = "1"
        cls.i = Instance(start=False)
        # a root that starts it by hand is in groups
        cls.i.start(groups=[0, 23456])
        # helpers hold more while they make what is kept ready
        footprint.settle(cls.i)
        cls.processes = cls.i.processes()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def dropped(self):
        return [n for n in NAMES if n != "neurond"]

    def test_all_are_there(self):
        self.assertEqual(set(NAMES + HELPERS), set(self.processes))

    def test_ids(self):
        uids = {}
        for name in self.dropped():
            f = fields(self.processes[name]["pid"])
            ids = set(f["Uid"].split())
            self.assertEqual(len(ids), 1, name)
            self.assertNotIn("0", ids, name)
            self.assertEqual(set(f["Gid"].split()), ids, name)
            uids[name] = ids.pop()
        self.assertEqual(len(set(uids.values())), len(uids), uids)

    def test_groups(self):
        for name in NAMES + HELPERS:
            f = fields(self.processes[name]["pid"])
            self.assertEqual(f["Groups"].split(), [], name)

    def test_capabilities(self):
        for name in self.dropped():
            f = fields(self.processes[name]["pid"])
            for cap in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(f[cap], 16), 0, (name, cap))

    def test_capabilities_of_the_builders(self):
        for name in ("neurond",) + HELPERS:
            f = fields(self.processes[name]["pid"])
            for cap in ("CapPrm", "CapEff", "CapBnd"):
                self.assertEqual(int(f[cap], 16) & ~BUILDER, 0, (name, cap))

    def test_no_new_privs(self):
        for name in NAMES + HELPERS:
            f = fields(self.processes[name]["pid"])
            self.assertEqual(f["NoNewPrivs"], "1", name)

    def test_seccomp(self):
        for name in self.dropped():
            f = fields(self.processes[name]["pid"])
            self.assertEqual(f["Seccomp"], "2", name)

    def test_root_directory(self):
        for name in self.dropped():
            root = "/proc/%d/root" % self.processes[name]["pid"]
            self.assertNotEqual(os.readlink(root), "/", name)
            if name != "policyd":
                self.assertEqual(os.listdir(root), [], name)
            else:
                self.assertNotIn("etc", os.listdir(root))

    def test_descriptors_of_the_helpers(self):
        """stdio and their channel, the log's socket if there is one, and
        what neurons are to execute."""
        for name in HELPERS:
            pid = self.processes[name]["pid"]
            for fd in os.listdir("/proc/%d/fd" % pid):
                target = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                if (name, fd) == ("spawner", "6"):
                    self.assertEqual(target, "/memfd:neuron-tool (deleted)")
                elif int(fd) > 2:
                    self.assertTrue(target.startswith("socket:"),
                                    (name, fd, target))
                    self.assertLessEqual(int(fd), 4, (name, target))

    def test_not_dumpable(self):
        for name in self.dropped():
            st = os.stat("/proc/%d/mem" % self.processes[name]["pid"])
            self.assertEqual(st.st_uid, 0, name)

    def test_rlimits(self):
        for name in self.dropped():
            with open("/proc/%d/limits" %
                      self.processes[name]["pid"]) as f:
                text = f.read()
            rows = {l[:26].strip(): l[26:].split()[:2]
                    for l in text.splitlines()[1:]}
            self.assertEqual(rows["Max processes"], ["0", "0"], name)
            # of 1, which alone stops a core handler that is a program
            self.assertEqual(rows["Max core file size"], ["1", "1"], name)
            # egressd holds the connections of all neurons at once
            self.assertLessEqual(int(rows["Max open files"][1]),
                                 65536 if name == "egressd" else 20000, name)

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_memory_of_the_idle(self):
        """All together, with a stock of namespaces, and no neuron."""
        i = Instance()
        try:
            footprint.settle(i)
            kib = {n: pss_kib(p["pid"]) for n, p in i.processes().items()}
            kib["myelind"] = pss_kib(i.process.pid)
        finally:
            i.stop()
        total = sum(kib.values())
        print("detail idle processes: %d KiB PSS (%s)" % (
            total, ", ".join("%s %d" % n for n in sorted(kib.items()))))
        self.assertEqual(set(kib), set(NAMES + HELPERS) | {"myelind"})
        self.assertTrue(all(kib.values()), kib)
        self.assertLess(total, 40 * 1024, kib)

    def test_open_files(self):
        """No process holds a file of the host but what it was handed."""
        for name in self.dropped():
            for fd in os.listdir("/proc/%d/fd" %
                                 self.processes[name]["pid"]):
                try:
                    to = os.readlink("/proc/%d/fd/%s" % (
                        self.processes[name]["pid"], fd))
                except OSError:
                    continue
                allowed = ("socket:", "anon_inode:", "pipe:", "/dev/null",
                           "/memfd:", self.i.log_path)
                if name == "policyd":
                    allowed += (self.i.state + "/policy",)
                # declarations, read-only
                if name in ("judged", "apid"):
                    allowed += (os.path.join(self.i.build, "judged"),)
                self.assertTrue(to.startswith(allowed), (name, fd, to))

    def test_environment_is_empty_of_the_host(self):
        for name in NAMES + HELPERS:
            with open("/proc/%d/environ" %
                      self.processes[name]["pid"], "rb") as f:
                env = f.read()
            self.assertNotIn(b"MYELIN_TEST_CANARY", env, name)


class FirstProcess(unittest.TestCase):
    """PID 1 of a neuron, seen from the host."""

    # and what a kernel without a Landlock for calls has in its place
    RULES = ("anon_inode:[landlock-ruleset]", "/null", "/dev/null")

    def pid(self, i):
        pid, = [p for p in descendants_of(i.process.pid)
                if footprint.comm(p) == "neuron-init"]
        return pid

    def descriptors(self, pid):
        return {int(fd): os.readlink("/proc/%d/fd/%s" % (pid, fd))
                for fd in os.listdir("/proc/%d/fd" % pid)}

    def test_nothing_of_a_call_stays(self):
        """Neither of a program nor of a body, a terminal, or what fails."""
        pty = {"rows": 24, "cols": 80}
        text = {"text": "x\n"}
        with Instance(extra="pool 0\n") as i:
            s = i.session()
            ends = [i.call(tool, args, session=s, **more)["exit_code"]
                    for tool, args, more in (
                        ("bash", {"command": "cat"}, {"stdin": text}),
                        ("ls", {"path": "."}, {}),
                        ("read", {"path": "none"}, {}),
                        ("bash", {"command": "cat"}, {"pty": pty,
                                                      "stdin": text}),
                        ("exec", {"argv": ["/none"]}, {}),
                        ("exec", {"argv": ["/none"]}, {"pty": pty}))]
            self.assertEqual(ends, [0, 0, 1, 0, 127, 127])
            fds = self.descriptors(self.pid(i))
            self.assertEqual(sorted(fds), [0, 1, 2, 3, 4, 5], fds)
            self.assertTrue(fds[3].startswith("socket:"), fds)
            self.assertEqual(fds[4], "/memfd:neuron-tool (deleted)")
            self.assertIn(fds[5], self.RULES)

    def test_a_machine_that_stood_still(self):
        """When it goes on after a kill, nobody is given up before he could
        say what became of it."""
        with Instance(extra="pool 0\n") as i:
            s = i.session()
            call = "/v1/calls/" + i.request(
                "POST", "/v1/sessions/%s/calls" % s,
                {"tool": "bash", "args": {"command": "sleep 600"}})[1]["call"]
            wait_for(lambda: i.get(call)[1]["state"] == "running", 30)
            pid, neurond = self.pid(i), i.pid("neurond")
            leader, = children_of(pid)
            os.kill(pid, signal.SIGSTOP)
            try:
                i.request("POST", call + "/cancel")
                wait_for(lambda: fields(leader)["State"][0] == "Z", 30)
                os.kill(neurond, signal.SIGSTOP)
                time.sleep(1.5)
                os.kill(neurond, signal.SIGCONT)
            finally:
                os.kill(pid, signal.SIGCONT)
            r = i.get(call + "?wait_ms=50000")[1]
            self.assertEqual((r["state"], r["neuron_retired"]),
                             ("cancelled", False), r)
            self.assertEqual(i.bash("echo ok", session=s)["stdout"], "ok\n")


class Limits(unittest.TestCase):
    """D5 as the kernel has it: in the cgroups of a neuron that lives."""

    # file, or its name in a v1 hierarchy, and the value for the defaults
    FILES = {
        "memory": (("memory.max", "1073741824"),
                   ("memory.limit_in_bytes", "1073741824")),
        "swap": (("memory.swap.max", "0"),
                 ("memory.memsw.limit_in_bytes", "1073741824")),
        "processes": (("pids.max", "512"),),
        "cpu": (("cpu.max", "100000 100000"),
                ("cpu.cfs_quota_us", "100000")),
    }

    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.i.session()
        # those of neurons: what is only being made has no limits yet
        wait_for(cls.made, 60)
        cls.dirs = []
        for d in cgroups_of(cls.i.status()["instance"]):
            for root, _, _ in os.walk(d):
                if os.path.basename(root).startswith("n-"):
                    cls.dirs.append(root)

    @classmethod
    def made(cls):
        """1 once a slot is taken, and there is as much stock as ever."""
        status = cls.i.status()
        slots, busy = footprint.neuron_cgroups(status["instance"])
        return status["pool"]["ready"] == status["pool"]["wanted"] and \
            busy == status["pool"]["ready"] + 1 and \
            slots == busy + footprint.STOCK

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def check(self, what):
        seen = []
        for d in self.dirs:
            for name, value in self.FILES[what]:
                path = os.path.join(d, name)
                if os.path.exists(path):
                    with open(path) as f:
                        seen.append((f.read().strip(), value))
        if what == "swap" and not seen:
            self.skipTest("this kernel counts no swap")
        self.assertTrue(seen)
        for have, value in seen:
            self.assertEqual(have, value, seen)

    def test_memory(self):
        self.check("memory")

    def test_swap(self):
        self.check("swap")

    def test_processes(self):
        self.check("processes")

    def test_cpu(self):
        self.check("cpu")


class Files(unittest.TestCase):
    def test_modes(self):
        """C3: what holds private data is the service's alone."""
        with Instance() as i:
            i.bash("true")
            policy = os.path.join(i.state, "policy")
            self.assertEqual(os.stat(policy).st_mode & 0o777, 0o700)
            names = os.listdir(policy)
            self.assertIn("audit.jsonl", names)
            self.assertIn("state.db", names)
            for name in names:
                st = os.stat(os.path.join(policy, name))
                self.assertEqual(st.st_mode & 0o077, 0, name)
                self.assertNotEqual(st.st_uid, 0, name)


if __name__ == "__main__":
    unittest.main()
