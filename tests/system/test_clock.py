"""All of Myelin under clocks that are stepped, and a host that sleeps: what
runs, and what waits, does not notice.

Each program is started by one that loads tests/unit/clock_step.c before it, so
that the day's clock, and the one that counts a sleep, say what the test says.
The kernel's own timers can't be stepped so: that no program has one on those
clocks is looked for in the sources."""
import glob
import os
import re
import shutil
import struct
import tempfile
import threading
import time
import unittest

from approvals import AGENT, OPERATOR, Split
from harness import BUILD, SANITIZED, TOP, wait_for

STEPPED = (("apid", "apid"), ("judged", "judged"), ("policyd", "policyd"),
           ("egressd", "egressd"), ("neurond", "neurond"),
           ("neurond", "maker"))
# Linked statically; they have no clock of their own but the steady one.
PLAIN = (("neurond", "spawner"), ("neurond", "neuron-tool"))
PARTS = ("apid", "common", "egressd", "judged", "neurond", "policyd",
         "supervisord")
DAY = 86400
SLEEP = 30
STEPS = ((DAY, 0), (-2 * 3600, 0), (SLEEP, SLEEP), (0, 0))
EXPIRY = 20
LATE = 25       # s that a busy machine may take; the steps are larger


def make_tree(tree):
    for d in ("apid", "judged", "policyd", "egressd", "neurond",
              "supervisord"):
        os.makedirs(os.path.join(tree, d))
    wrapper = os.path.join(BUILD, "tests", "system", "clock_exec")
    for d, name in STEPPED:
        path = os.path.join(tree, d, name)
        shutil.copy(os.path.join(BUILD, d, name), path + ".real")
        shutil.copy(wrapper, path)
    for d, name in PLAIN + (("supervisord", "myelind"),):
        shutil.copy(os.path.join(BUILD, d, name), os.path.join(tree, d))
    shutil.copytree(os.path.join(BUILD, "judged", "tools"),
                    os.path.join(tree, "judged", "tools"))
    library = os.path.join(tree, "clock_step.so")
    shutil.copy(os.path.join(BUILD, "tests", "unit", "clock_step.so"),
                library)
    with open(os.path.join(tree, "clock"), "wb") as f:
        f.write(bytes(16))
    for root, dirs, files in os.walk(tree):
        for name in dirs + files:
            os.chmod(os.path.join(root, name), 0o755)
    return ("env", "LD_PRELOAD=" + library,
            "CLOCK_STEP=" + os.path.join(tree, "clock"))


@unittest.skipIf(SANITIZED, "a sanitizer's library must be the first")
class Clock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp(prefix="t-", dir=os.path.join(
            BUILD, "tests"))
        os.chmod(cls.parent, 0o755)
        cls.addClassCleanup(shutil.rmtree, cls.parent)
        cls.tree = os.path.join(cls.parent, "tree")
        prefix = make_tree(cls.tree)
        cls.s = Split("approval-expiry %ds\n" % EXPIRY, start=False,
                      build=cls.tree)
        cls.addClassCleanup(cls.s.stop)
        cls.s.i.start(prefix=prefix)

    def setUp(self):
        self.step(0, 0)
        self.addCleanup(self.step, 0, 0)

    def step(self, day, boot):
        with open(os.path.join(self.tree, "clock"), "r+b") as f:
            f.write(struct.pack("qq", day, boot))

    def steps(self, each, wake=False):
        """All of them; wake: every process has something to do meanwhile."""
        for day, boot in STEPS:
            self.step(day, boot)
            if wake:
                r = self.s.result(self.s.ask("true"))
                self.assertEqual(r["exit_code"], 0)
            time.sleep(each)

    def test_they_see_it(self):
        """The control: what these programs take for the day follows."""
        s = self.s
        for name in ("apid", "apid-operator", "judged", "policyd", "egressd",
                     "neurond"):
            with open("/proc/%d/maps" % s.i.pid(name)) as f:
                self.assertIn("clock_step.so", f.read(), name)
        self.step(3 * DAY, 0)
        now = time.time()
        status, body = s.request(AGENT, "POST", "/v1/sessions", {})
        self.assertEqual(status, 201)
        self.assertIn(body["created"][:10], [
            time.strftime("%Y-%m-%d", time.gmtime(t + 3 * DAY))
            for t in (now, time.time())])

    def run_for(self, command, timeout_ms, between):
        """A call, what happens meanwhile, its result and how long it took."""
        s = self.s
        begin = time.monotonic()
        call = s.ask(command, timeout_ms=timeout_ms)
        wait_for(lambda: s.call(call)["state"] == "running", 60)
        between()
        result = s.result(call)
        return result, time.monotonic() - begin

    def test_running_call_goes_on(self):
        """None of the steps is its time limit."""
        r, took = self.run_for("sleep 4; echo done", LATE * 1000,
                               lambda: self.steps(0.7, wake=True))
        self.assertEqual((r["state"], r["exit_code"], r["stdout"]),
                         ("completed", 0, "done\n"))
        self.assertLess(r["duration_ms"], LATE * 1000)
        self.assertGreaterEqual(r["duration_ms"], 3900)

    def test_time_limit_holds(self):
        """Nor does a clock that goes back give it more time."""
        for day, boot in ((-2 * 3600, 0), (DAY, 0), (SLEEP, SLEEP)):
            r, took = self.run_for("sleep 300", 4000,
                                   lambda: self.step(day, boot))
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "timed_out"))
            self.assertGreaterEqual(took, 3.9)
            self.assertLess(took, 4 + LATE)
            self.assertLess(r["duration_ms"], (4 + LATE) * 1000)

    def test_pending_approval(self):
        """It waits through the steps, is allowed, and runs."""
        s = self.s
        call, approval = s.asked()
        self.steps(0.7, wake=True)
        self.step(SLEEP, SLEEP)
        row = s.look(approval)[1]
        self.assertEqual(row["state"], "pending")
        self.assertLess(row["expires_in_ms"], EXPIRY * 1000)
        self.assertGreater(row["expires_in_ms"], 0)
        self.assertLess(s.i.status()["approvals"]["oldest_s"], EXPIRY)
        self.assertEqual(s.decide(approval, uid=OPERATOR)[0], 200)
        self.step(DAY, SLEEP)
        r = s.result(call)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "ran\n"))

    def test_approval_expires_in_its_time(self):
        s = self.s
        begin = time.monotonic()
        call, approval = s.asked()
        self.step(-2 * 3600, 0)
        r = s.result(call)
        took = time.monotonic() - begin
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "approval_expired"))
        self.assertGreater(took, EXPIRY - 2)
        self.assertLess(took, EXPIRY + LATE)

    def test_who_waits_for_an_answer(self):
        """wait_ms is as long as it says."""
        s = self.s
        call, approval = s.asked()
        stepper = threading.Thread(target=self.steps, args=(0.3,))
        begin = time.monotonic()
        stepper.start()
        r = s.call(call, wait=2000)
        took = time.monotonic() - begin
        stepper.join()
        self.assertEqual(r["state"], "awaiting_approval")
        self.assertGreaterEqual(took, 1.9)
        self.assertLess(took, 2 + EXPIRY)
        self.assertEqual(s.decide(approval, "reject_once")[0], 200)

    def test_chain(self):
        """The audit log is whole, and its order is that of its numbers."""
        self.steps(0.1)
        r = self.s.i.ctl("audit", "verify")
        self.assertEqual(r.returncode, 0, r.stderr)


class Sources(unittest.TestCase):
    """No deadline is on a clock that a step or a sleep moves."""

    # The day's clock, and what it is for.
    DAY = {
        "policyd/util.c": 1,        # wall_us: dates in records
        "apid/mcp_session.c": 1,    # how long a sealed id is good: a date
        "apid/mcp_tasks.c": 1,      # the date of a task, as its client is told
    }

    def sources(self):
        for part in PARTS:
            for path in glob.glob(os.path.join(TOP, part, "**", "*.[ch]"),
                                  recursive=True):
                with open(path) as f:
                    text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
                yield os.path.relpath(path, TOP), text

    def test_clocks(self):
        day = {}
        n = 0
        for path, text in self.sources():
            n += 1
            for word in ("CLOCK_BOOTTIME", "CLOCK_TAI", "timerfd_create",
                         "timer_create", "setitimer", "pthread_cond_timed",
                         "sem_timedwait", "mq_timed"):
                for line in text.splitlines():
                    if word in line and not self.is_table(line, word):
                        self.fail("%s: %s" % (path, line))
            found = len(re.findall(r"CLOCK_REALTIME|\btime\((?:NULL|&|0)|"
                                   r"\bgettimeofday\(", text))
            if found:
                day[path] = found
        self.assertGreater(n, 200)
        self.assertEqual(day, self.DAY)

    def is_table(self, line, word):
        """A table of system calls that a program in a neuron may make."""
        return re.search(r"\bA\(%s\)" % word, line)


if __name__ == "__main__":
    unittest.main()
