"""Many calls at once, floods, and clients that do not read."""
import glob
import re
import subprocess
import threading
import time
import unittest

from harness import (CONFIG, SANITIZED, Instance, UnixConnection, cgroups_of,
                     descendants_of, output_of, rss_kib, stdout_of, wait_for)

WIDE = CONFIG + """
neurons 64
neurons-principal 64
running-calls-host 128
"""


class Concurrency(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(WIDE)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_64_calls_none_mixed(self):
        sessions = [self.i.session() for _ in range(16)]
        results, errors = {}, []

        def one(k, session):
            try:
                word = "w%02d" % k
                results[word] = self.i.bash(
                    "for n in $(seq 500); do echo %s; done; exit %d"
                    % (word, k), session=session)
            except Exception as e:
                errors.append(e)
        threads = [threading.Thread(target=one, args=(k, sessions[k // 4]))
                   for k in range(64)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(errors, [])
        self.assertEqual(len(results), 64)
        for k in range(64):
            word = "w%02d" % k
            self.assertEqual(results[word]["stdout"], (word + "\n") * 500)
            self.assertEqual(results[word]["exit_code"], k)
        for s in sessions:
            self.assertIn(self.i.request("DELETE", "/v1/sessions/" + s)[0],
                          (200, 204))

    def leaves(self, word):
        """How many cgroups for calls the neuron has in which word runs."""
        for p in descendants_of(self.i.pid("neurond")):
            try:
                with open("/proc/%d/cmdline" % p) as f:
                    if word not in f.read():
                        continue
                with open("/proc/%d/cgroup" % p) as f:
                    found = re.search(r"^0::(.*)/c\d+$", f.read(), re.M)
            except OSError:     # it has ended meanwhile
                continue
            if found is None:   # or is on its way there
                continue
            path = found[1]
            return len([n for top in cgroups_of(path.split("/")[-2])
                        for n in glob.glob(top + "/%s/c[0-9]*" %
                                           path.split("/")[-1])])
        return 0

    def test_a_neuron_grows_with_what_runs_in_it(self):
        """A cgroup for one call, and for each that runs beside it."""
        s = self.i.session()
        for _ in range(2):
            self.assertEqual(self.i.bash("exit 3", session=s)["exit_code"], 3)
        calls = []
        for n in range(3):
            status, call = self.i.request(
                "POST", "/v1/sessions/%s/calls" % s, {
                    "tool": "bash", "args": {"command": "sleep 3012%d" % n}})
            self.assertEqual(status, 202, call)
            calls.append(call["call"])
            wait_for(lambda: self.leaves("3012%d" % n) == n + 1, 60)
        for call in calls:
            self.i.request("POST", "/v1/calls/%s/cancel" % call)
            self.assertEqual(self.i.get("/v1/calls/%s?wait_ms=50000" % call)
                             [1]["state"], "cancelled")
        self.assertEqual(self.i.bash("exit 4", session=s)["exit_code"], 4)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_a_stalled_reader_costs_nothing(self):
        pid = self.i.pid("apid")
        before = rss_kib(pid)
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {
                "command": "head -c 300000000 /dev/zero | tr '\\0' a"},
            "timeout_ms": 300000})
        self.assertEqual(status, 202, call)
        c = UnixConnection(self.i.api)
        c.request("GET", "/v1/calls/%s/events" % call["call"],
                  headers={"Accept": "text/event-stream"})
        # never read
        self.assertEqual(self.i.bash("echo hi")["stdout"], "hi\n")
        wait_for(lambda: self.i.get("/v1/calls/" + call["call"])[1]["state"]
                 == "completed", 240)
        self.assertLess(rss_kib(pid) - before, 64 * 1024)
        c.close()

    def test_flow_block_is_lossless(self):
        got = 0
        for _, event, data in self.i.events("/v1/calls", {
                "tool": "bash", "flow": "block", "timeout_ms": 300000,
                # not random: what looks like a secret would come out masked
                "args": {"command": "head -c 50000000 /dev/zero | "
                         "tr '\\0' '\\377'"}}):
            self.assertNotEqual(event, "call.gap")
            if event == "call.output":
                got += len(output_of(data))
        self.assertEqual(got, 50000000)

    def test_events_can_be_taken_up_again(self):
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {
                "command": "for n in 1 2 3 4 5; do echo $n; sleep 0.1; done"}})
        path = "/v1/calls/%s/events" % call["call"]
        whole = list(self.i.events(path))
        self.assertEqual([e[1] for e in whole].count("call.finished"), 1)
        for cut in range(1, len(whole)):
            rest = list(self.i.events(path, headers={
                "Last-Event-ID": str(whole[cut - 1][0])}))
            self.assertEqual(rest, whole[cut:])


class Flood(unittest.TestCase):
    """apid's memory, while a program writes as fast as it can."""

    def watch(self, instance, ended):
        pid = instance.pid("apid")
        before, worst = rss_kib(pid), 0
        end = time.monotonic() + 400
        while time.monotonic() < end and not ended():
            worst = max(worst, rss_kib(pid))
            time.sleep(0.05)
        self.assertTrue(ended())
        self.assertLess(worst - before, 64 * 1024)
        self.assertEqual(instance.bash("echo on")["stdout"], "on\n")

    def flood(self, instance, size):
        status, call = instance.request("POST", "/v1/calls", {
            "tool": "exec", "timeout_ms": 600000,
            "args": {"argv": ["head", "-c", str(size), "/dev/zero"]}})
        self.assertEqual(status, 202, call)
        path = "/v1/calls/" + call["call"]
        self.watch(instance, lambda: instance.get(path)[1]["state"] not in
                   ("queued", "running"))
        return instance.get(path)[1]

    def test_output_limit(self):
        with Instance() as i:
            done = []
            t = threading.Thread(target=lambda: done.append(i.ctl(
                "run", "--timeout", "600", "--", "head", "-c", str(4 << 30),
                "/dev/zero", timeout=600, stdout=subprocess.DEVNULL)))
            t.start()
            self.watch(i, lambda: not t.is_alive())
            t.join()
            self.assertEqual(done[0].returncode, 137)
            self.assertIn(b"output", done[0].stderr)
            call = i.get("/v1/calls")[1]["calls"]
            self.assertIn(("failed", "output_limit"),
                          [(c["state"], c["reason"]) for c in call])

    @unittest.skipIf(SANITIZED, "memory is what it measures, and sanitizers "
                     "take their own")
    def test_ten_gibibytes(self):
        with Instance(CONFIG + "\noutput-killed 20G\n") as i:
            result = self.flood(i, 10 << 30)
            self.assertEqual((result["state"], result["reason"]),
                             ("completed", None))
            self.assertEqual(result["bytes"]["stdout"], 10 << 30)
            self.assertEqual(result["bytes"]["stdout"] -
                             result["dropped"]["stdout"],
                             len(stdout_of(result)))


if __name__ == "__main__":
    unittest.main()
