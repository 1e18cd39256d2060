"""/metrics, read by Prometheus' own client."""
import os
import signal
import unittest

from approvals import Split
from debian_module import debian_module
from harness import wait_for

parser = debian_module("prometheus_client.parser")


def read(i):
    """{name: {labels as a sorted tuple: value}} and {family: type}."""
    c = i.connection(operator=True)
    try:
        c.request("GET", "/metrics")
        r = c.getresponse()
        text = r.read().decode()
        assert r.status == 200, text
        assert r.headers["Content-Type"] == \
            "text/plain; version=0.0.4; charset=utf-8"
    finally:
        c.close()
    values, types = {}, {}
    for family in parser.text_string_to_metric_families(text):
        assert family.name not in types, family.name
        assert family.documentation, family.name
        types[family.name] = family.type
        for s in family.samples:
            labels = tuple(sorted(s.labels.items()))
            one = values.setdefault(s.name, {})
            assert labels not in one, (s.name, labels)
            one[labels] = s.value
    return values, types


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Split("approval-expiry 10m\n")
        cls.i = cls.s.i

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def one(self, name, **labels):
        return read(self.i)[0].get(name, {}).get(
            tuple(sorted(labels.items())), 0)

    def test_types(self):
        values, types = read(self.i)
        for name, kind in (("myelin_calls", "counter"),
                           ("myelin_neurons", "gauge"),
                           ("myelin_audit_sequence", "gauge"),
                           ("myelin_process_up", "gauge"),
                           ("myelin_process_restarts", "counter"),
                           ("myelin_call_duration_seconds", "histogram"),
                           ("myelin_approvals_pending", "gauge")):
            self.assertEqual(types.get(name), kind, name)
        self.assertTrue(all(n.startswith("myelin_") for n in types), types)
        (labels,) = values["myelin_info"]
        self.assertEqual(dict(labels)["version"], self.i.status()["version"])

    def test_calls(self):
        done = dict(state="completed", reason="none")
        denied = dict(state="failed", reason="denied_by_policy")
        before = [self.one("myelin_calls_total", **d) for d in (done, denied)]
        n = self.one("myelin_call_duration_seconds_count")
        total = self.one("myelin_calls_ever_total")
        for _ in range(3):
            self.assertEqual(self.i.bash("true")["state"], "completed")
        self.assertEqual(self.i.bash("rm -rf /")["reason"],
                         "denied_by_policy")
        self.assertEqual(
            [self.one("myelin_calls_total", **d) for d in (done, denied)],
            [before[0] + 3, before[1] + 1])
        self.assertEqual(self.one("myelin_call_duration_seconds_count"),
                         n + 4)
        self.assertEqual(self.one("myelin_calls_ever_total"), total + 4)
        buckets = {dict(k)["le"]: v for k, v in read(self.i)[0][
            "myelin_call_duration_seconds_bucket"].items()}
        self.assertEqual(buckets["+Inf"], n + 4)
        order = [buckets[k] for k in sorted(buckets, key=float)]
        self.assertEqual(order, sorted(order))

    def test_approvals(self):
        before = self.one("myelin_approvals_total", state="rejected")
        _, approval = self.s.asked()
        self.assertEqual(self.one("myelin_approvals_pending"), 1)
        self.assertEqual(self.s.decide(approval, "reject_once")[0], 200)
        self.assertEqual(self.one("myelin_approvals_total",
                                  state="rejected"), before + 1)
        self.assertEqual(self.one("myelin_approvals_pending"), 0)

    def test_processes(self):
        n = self.one("myelin_process_restarts_total", process="judged")
        self.assertEqual(self.one("myelin_process_up", process="judged"), 1)
        os.kill(self.i.pid("judged"), signal.SIGKILL)
        wait_for(lambda: self.one("myelin_process_restarts_total",
                                  process="judged") == n + 1 and
                 self.one("myelin_process_up", process="judged") == 1, 60)

    def test_what_clients_say_is_no_label(self):
        self.i.request("POST", "/v1/calls", {
            "tool": "no_such_tool_of_mine", "args": {}})
        self.assertNotIn("no_such_tool", str(read(self.i)))

    def test_who_may_read_it(self):
        self.assertEqual(self.i.request("GET", "/metrics")[0], 404)
        r = self.i.ctl("metrics")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(b"\nmyelin_neurons ", r.stdout)


if __name__ == "__main__":
    unittest.main()
