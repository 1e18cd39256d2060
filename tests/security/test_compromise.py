"""What a compromise gives: each line of SECURITY.md's table, tried.

Attempts are made by the processes themselves, taken over after their drop
(tests/takeover); each also runs as root without the drop, in namespaces and a
root directory of its own, where it must work: an attempt that never works
proves nothing.
"""
import os
import subprocess
import sys
import tempfile
import unittest

from harness import BUILD, CONFIG, Workspace, wait_for
from takeover import Takeover

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_attempts import CONTROL  # noqa: E402 (found by the line above)

PROGRAM = os.path.join(BUILD, "tests", "takeover", "control")

# No control, and why.
NO_CONTROL = {
    "init_module": "would load code into the host's kernel",
    "kexec": "would replace the host's kernel",
    "open_by_handle": "needs a handle of a file of the host",
    "memfd_secret": "is off on many kernels",
    "perf": "is off on many kernels",
    "bpf": "is off on many kernels",
    "io_uring": "is off on many kernels",
    "userfaultfd": "is off on many kernels",
    "i386": "is off on many kernels",
    "x32": "is off on most kernels",
    "pivot_root": "needs a mount of its own to go to",
    "move_mount": "needs a mount of its own to move",
    "unshare_user": "is never allowed in a chroot, and the control is in one",
    "rlimit_nofile": "needs CAP_SYS_RESOURCE, which root may lack here",
}

# What the seccomp table ends a process for, whichever it is.
DEADLY = {
    "execve", "execveat", "fork", "clone3", "ptrace_attach", "ptrace_seize",
    "ptrace_traceme", "process_vm_readv", "process_vm_writev", "kill",
    "tkill", "pidfd_open", "pidfd_signal", "pidfd_getfd", "socket_unix",
    "socket_inet", "socket_inet6", "socket_netlink", "bind", "connect",
    "listen", "setuid", "setgid", "setresuid", "setresgid", "setgroups",
    "capset", "personality", "chroot", "mount", "umount", "pivot_root",
    "open_tree", "move_mount", "fsopen", "unshare_user", "unshare_net",
    "setns", "bpf", "io_uring", "userfaultfd", "keyctl", "add_key",
    "memfd_secret", "open_by_handle", "init_module", "kexec", "perf",
    "openat2", "i386", "x32",
}
OPENING = {"open", "creat", "openat", "openat_up", "openat_proc",
           "openat_create"}


def sanitized():
    with open(os.path.join(BUILD, "config.h")) as f:
        return "#define WITH_SANITIZERS" in f.read()


# Its filters allow what a sanitizer needs: an openat(2), a prctl(2).
PRODUCT = unittest.skipIf(sanitized(), "these are not the product's filters")


def names():
    return subprocess.run([PROGRAM, "list"], check=True,
                          stdout=subprocess.PIPE).stdout.decode().split()


@PRODUCT
class Control(unittest.TestCase):
    def control(self, name):
        d = tempfile.mkdtemp(prefix="c-", dir=os.path.join(BUILD, "tests"))
        try:
            r = subprocess.run(
                ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc",
                 "--fork", "--propagation", "private", "sh", "-c", CONTROL,
                 "control", d, PROGRAM, name], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        finally:
            os.rmdir(d)
        return r.stdout.decode(errors="replace").strip()

    def test_each_attempt_works_without_the_drop(self):
        bad = {}
        for name in names():
            if name in NO_CONTROL:
                continue
            text = self.control(name)
            if text != "WORKED":
                bad[name] = text
        self.assertEqual(bad, {})


class Taken(unittest.TestCase):
    """Of which processes an instance has takeover builds, says the class."""
    taken = ()

    @classmethod
    def setUpClass(cls):
        cls.i = Takeover(*cls.taken)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def attempts(self, name, opening="SIGSYS", job={}):
        """Every attempt, by a copy of the process that dropped as it does;
        but what its job says of some."""
        before = self.i.take(name, "attempts")
        wait_for(lambda: self.i.said(name)[-1:] == ["end"], 120)
        lines = self.i.said(name)
        # the supervisor, the others, maker and spawner
        self.assertEqual(lines[0], "targets 8")
        got = dict(line.split(" ", 1) for line in lines[1:-1])
        self.assertEqual(set(got), set(names()))
        for attempt, result in sorted(got.items()):
            if attempt in job:
                self.assertEqual(result, job[attempt], attempt)
            elif attempt in DEADLY or attempt in ("open", "creat"):
                self.assertEqual(result, "SIGSYS", attempt)
            elif attempt in OPENING:
                self.assertEqual(result, opening, attempt)
            else:
                self.assertRegex(result, "^denied E", attempt)
        # what they tried to signal lives, and so does the service
        after = wait_for(self.i.all_up, 60)
        for other in before:
            if other != name:
                self.assertEqual(after[other]["pid"], before[other]["pid"],
                                 other)
        self.assertTrue(wait_for(self.i.usable, 60))
        for path in ("/tmp/takeover", "/takeover-dir"):
            self.assertFalse(os.path.exists(path), path)

    def harmless(self, name, script, words, restarted=True):
        """The script's message is refused, said why; all others live on."""
        seen = len(self.i.log())
        before = self.i.take(name, script)
        wait_for(lambda: words in self.i.log()[seen:], 60)
        wait_for(lambda: not restarted or self.i.reborn(before, [name]), 60)
        self.assertTrue(wait_for(self.i.usable, 60))
        after = wait_for(self.i.all_up, 60)
        for other in before:
            if other != name:
                self.assertEqual(after[other]["pid"], before[other]["pid"],
                                 (script, other))
        return before

    # what is bad on any channel, and policyd's words for it
    BAD = (("wrong-fd", "PEER is with an fd of the wrong kind"),
           ("many-fds", "a message with more fds than fit"),
           ("half", "a message of 3 bytes"),
           ("foreign", "START is not of this channel"))


class Apid(Taken):
    taken = ("apid",)

    @PRODUCT
    def test_reads_no_file_opens_no_socket_executes_nothing(self):
        self.attempts("apid")

    @PRODUCT
    def test_the_same_in_its_own_loop(self):
        """Not a copy: the process itself, dropped, plumbed and READY."""
        self.harmless("apid", "open", "apid (pid ")
        self.assertEqual(self.i.said("apid"), ["begins"])
        self.assertIn("was killed by SIGSYS", self.i.log())

    def test_messages_that_break_the_table(self):
        for script, words in self.BAD:
            self.harmless("apid", script, "policyd: channel agent: " + words)

    def test_a_flood_of_questions_of_nobody(self):
        """100,000, unread: policyd gives up on the channel, not on itself."""
        self.harmless("apid", "queries",
                      "policyd: channel agent: queue over")

    def test_a_flood_to_the_supervisor(self):
        self.harmless("apid", "pongs", "", restarted=False)
        wait_for(lambda: self.i.said("apid")[-1:] == ["end"], 60)
        self.assertEqual(self.i.said("apid")[1], "sent 100000")

    def test_garbage_to_the_supervisor(self):
        self.harmless("apid", "garbage", "control channel: unknown message")

    def test_says_that_anothers_channel_is_lost(self):
        """It would have neurond killed; it is killed itself."""
        self.harmless("apid", "false-loss",
                      "control channel: LOST can't be right")


class Operator(Taken):
    taken = ("apid-operator",)

    @PRODUCT
    def test_reads_no_file_opens_no_socket_executes_nothing(self):
        self.attempts("apid-operator")

    def test_makes_no_call(self):
        """ASK_ONCE, OPEN and STOP are no rows of its channel."""
        for script, row in (("op-ask", "ASK_ONCE"), ("op-open", "OPEN"),
                            ("op-stop", "STOP")):
            self.harmless("apid-operator", script, "policyd: channel "
                          "operator: %s is not of this channel" % row)
        calls = self.i.request("GET", "/v1/calls", operator=True)[1]["calls"]
        self.assertEqual({c["tool"] for c in calls}, {"bash"})

    def test_messages_that_break_the_table(self):
        for script, words in self.BAD:
            self.harmless("apid-operator", script,
                          "policyd: channel operator: " + words)


class Judged(Taken):
    taken = ("judged",)

    @PRODUCT
    def test_reads_no_state_starts_nothing(self):
        self.attempts("judged")

    def test_raises_no_effect_later(self):
        """TOOL rows are taken before TOOLS_END alone."""
        self.harmless("judged", "late-tool",
                      "policyd: channel judge: TOOL is not allowed now")
        tools = self.i.get("/v1/tools")[1]["tools"]
        self.assertNotIn("late", [t["name"] for t in tools])

    def test_messages_that_break_the_table(self):
        for script, words in self.BAD:
            if script == "wrong-fd":
                words = "PEER is not of this channel"
            self.harmless("judged", script,
                          "policyd: channel judge: " + words)

    def test_a_run_block_that_can_not_be(self):
        """init refuses it; the neuron's environment stays C1's."""
        for script, words in (
                ("block-garbage", "run block"), ("block-empty", "run block"),
                ("block-huge", "run block"), ("block-loader", "environment"),
                ("block-reserved", "environment"),
                ("block-credential", "environment"),
                ("block-own", "environment")):
            self.i.settle()
            self.i.take_quietly("judged", script)
            r = self.i.bash("env")
            self.assertEqual((r["state"], r["reason"], r["stdout"]),
                             ("failed", "launch_failed", ""), (script, r))
            self.assertIn(words, r["error"]["message"], script)
            self.i.forget("judged")
        self.i.take_quietly("judged", "")
        self.assertTrue(wait_for(self.i.usable, 60))


class Policyd(Taken):
    taken = ("policyd",)

    @PRODUCT
    def test_executes_nothing_reaches_no_network(self):
        self.attempts("policyd", opening="denied ENOENT")

    def test_messages_that_break_the_table(self):
        """On each of its channels at once: all its neighbours notice."""
        seen = len(self.i.log())
        before = self.i.take("policyd", "everywhere")
        for name, words in (
                ("apid", "channel agent: LAUNCH is not of this channel"),
                ("apid-operator",
                 "channel operator: JUDGE is not of this channel"),
                ("judged", "channel judge: REPLY is not of this channel"),
                ("neurond", "channel launch: VERDICT is not of this "
                 "channel")):
            wait_for(lambda: "%s: %s" % (name, words) in
                     self.i.log()[seen:], 60)
        wait_for(lambda: self.i.reborn(before, (
            "apid", "apid-operator", "judged", "neurond")), 60)
        self.assertTrue(wait_for(self.i.usable, 60))


class Egressd(Taken):
    taken = ("egressd",)
    # It connects; it neither binds nor listens.
    JOB = dict.fromkeys(("socket_inet", "socket_inet6", "connect",
                         "setsockopt"), "WORKED")
    JOB.update(dict.fromkeys(("socket_unix", "socket_netlink"),
                             "denied ENOSYS"))

    @classmethod
    def setUpClass(cls):
        cls.i = Takeover(*cls.taken, config=CONFIG.replace(
            "owner any", "owner any; profile default, web") +
            "profile web { egress { } }\n")

    @PRODUCT
    def test_reads_no_file_executes_nothing_listens_nowhere(self):
        self.attempts("egressd", job=self.JOB)

    def test_decides_nothing(self):
        """Decisions and calls are no rows of its channel."""
        for script, row in (("eg-decide", "DECIDE"), ("eg-open", "OPEN"),
                            ("foreign", "START")):
            self.harmless("egressd", script, "policyd: channel egress: %s is "
                          "not of this channel" % row)

    def test_messages_that_break_the_table(self):
        for script, words in self.BAD[1:3]:
            self.harmless("egressd", script,
                          "policyd: channel egress: " + words)

    def test_grants_nothing_by_itself(self):
        """Nor ends what runs in a neuron: it goes on."""
        s = self.i.session(profile="web")
        neuron = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        status, call = self.i.request(
            "POST", "/v1/sessions/%s/calls" % s,
            {"tool": "bash", "args": {"command": "sleep 500"},
             "timeout_ms": 500000})
        self.assertEqual(status, 202, call)
        path = "/v1/calls/" + call["call"]
        wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
        for script, about, row in (
                ("eg-granted", neuron, "EGRESS_GRANTED"),
                ("eg-ended", call["call"], "EGRESS_ENDED")):
            self.harmless("egressd", "%s %s" % (script, about),
                          "policyd: channel egress: %s can't be right" % row)
            self.assertEqual(self.i.get(path)[1]["state"], "running")
        self.i.request("DELETE", "/v1/sessions/" + s)


class Neuron(Taken):
    """PID 1 of a neuron, taken over, beside an honest one."""
    taken = ("spawner", "maker")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.w.close()
        super().tearDownClass()

    # what PID 1 does, and how a call in its neuron ends
    HOSTILE = {
        "unknown": "neuron_lost", "size": "neuron_lost", "fd": "neuron_lost",
        "many-fds": "neuron_lost", "half": "neuron_lost",
        "foreign": "neuron_lost", "flood": "neuron_lost",
        "another-run": "neuron_lost", "impossible": "neuron_lost",
        "ran-twice": "neuron_lost", "impossible-run": "neuron_lost",
        "ready-twice": "neuron_lost", "no-layers": "launch_failed",
        "bad-step": "launch_failed", "silent": "launch_failed",
        "deaf": "timed_out",
    }

    def hostile(self, name):
        path = os.path.join(self.w.top, "hostile-" + name)
        os.mkdir(path)
        os.chown(path, self.w.uid, self.w.gid)
        # who reads nothing is waited for until then; it has time enough to
        # do what the others do
        return self.i.bash(
            "echo ran", timeout_ms=2000 if name == "deaf" else 40000,
            workspace=path, owner={"uid": self.w.uid, "gid": self.w.gid})

    def test_breaks_its_own_neuron_alone(self):
        """Whatever it says, neurond ends that neuron, and no other."""
        before = self.i.processes()
        other = self.i.session(**self.w.fields())
        status, call = self.i.request(
            "POST", "/v1/sessions/%s/calls" % other,
            {"tool": "bash", "args": {"command": "sleep 500; echo end"},
             "timeout_ms": 500000})
        self.assertEqual(status, 202)
        got = {}
        for name in self.HOSTILE:
            r = self.hostile(name)
            got[name] = r["reason"]
            # said twice before neurond looked, it never was up
            if (name, r["reason"]) == ("ready-twice", "launch_failed"):
                got[name] = "neuron_lost"
            self.assertEqual(r["stdout"], "", name)
            self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n", name)
        self.assertEqual(got, self.HOSTILE)
        self.assertEqual(self.i.get("/v1/calls/" + call["call"])[1]["state"],
                         "running")
        after = self.i.processes()
        self.assertEqual({n: p["pid"] for n, p in before.items()},
                         {n: p["pid"] for n, p in after.items()})
        self.i.request("DELETE", "/v1/sessions/" + other)
        wait_for(lambda: self.i.status()["neurons"]["live"] == 0, 60)

    def test_replays_an_end(self):
        """The first is true, as far as anybody knows; the second ends it."""
        r = self.hostile("replay")
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0))
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def test_helpers_that_break_the_table(self):
        """maker and spawner: neurond closes the channel, starts another."""
        neurond = self.i.settle()["neurond"]["pid"]
        for name, script, words in (
                ("maker", "foreign", "NEURON_MAKE is not of this channel"),
                ("maker", "half", "a message of 3 bytes"),
                ("maker", "wrong-fd", "NS_MADE is with an fd of the wrong "
                 "kind"),
                ("maker", "up-twice", "HELPER_UP can't be right"),
                ("spawner", "foreign", "NEURON_MAKE is not of this channel"),
                ("spawner", "many-fds", "a message with more fds than fit"),
                ("spawner", "built-of-pid-1", "BUILT can't be right"),
                ("spawner", "up-twice", "HELPER_UP can't be right")):
            seen = len(self.i.log())
            self.i.take(name, script)
            wait_for(lambda: "neurond: channel %s: %s" % (name, words) in
                     self.i.log()[seen:], 60)
            wait_for(self.i.usable, 60)
            self.assertEqual(self.i.pid("neurond"), neurond, script)

    def test_a_flood_of_answers_to_nothing(self):
        neurond = self.i.settle()["neurond"]["pid"]
        self.i.take("spawner", "flood")
        wait_for(lambda: self.i.said("spawner")[-1:] == ["end"], 60)
        self.assertEqual(self.i.said("spawner")[1], "sent 100000")
        wait_for(self.i.usable, 60)
        self.assertEqual(self.i.pid("neurond"), neurond)


if __name__ == "__main__":
    unittest.main()
