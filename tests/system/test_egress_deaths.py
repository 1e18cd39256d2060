"""egressd stopped, killed, started again, and turned off: a neuron gets no
answer then, and never another way out."""
import json
import os
import signal
import unittest

from egress import Attacker, EgressInstance, Net, wrapped
from harness import wait_for

WEB = 'allow host "ok.example.com"; allow host "raw.example.com" opaque'
# what a neuron can try while nobody answers its listeners
TRY = """
out = [reach("11.1.1.1", 80), reach("11.1.1.1", 443), reach("11.0.0.53", 53)]
out.append(dns("ok.example.com", seconds=1))
out.append(dns("ok.example.com", to=("11.0.0.53", 53), seconds=1))
out.append(tried(lambda: get("http://ok.example.com/ok", seconds=2)))
out.append(straight("127.0.0.1", "ok.example.com", verify=False, seconds=2))
out"""


class Deaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.net = Net(("ok.example.com", "raw.example.com"))

    @classmethod
    def tearDownClass(cls):
        cls.net.close()

    def setUp(self):
        self.i = EgressInstance(self.net, {"web": WEB},
                                extra="restart-window %s\n" % self.window())
        self.addCleanup(self.i.stop)
        self.w = Attacker(self.i)
        self.addCleanup(self.w.close)
        self.session = self.i.session(profile="web", **self.w.fields())
        self.net.forget()

    def window(self):
        return "60s" if "off" in self.id() else "1s"

    def fetch(self):
        return self.w.probe("https('ok.example.com')",
                            session=self.session)["status"]

    def again(self, old):
        """egressd is up, and is another process than that one."""
        def up():
            p = self.i.processes()["egressd"]
            return p["state"] == "up" and p["pid"] != old
        wait_for(up, 60)

    def no_way(self):
        got = self.w.probe(TRY, session=self.session)
        self.assertEqual(got[:3], ["ENETUNREACH"] * 3)
        self.assertIn("error", got[3])
        self.assertIn("error", got[4])
        self.assertEqual((got[5]["status"], got[6]["status"]), (0, 0))
        self.assertEqual(self.net.connections(), [])
        self.assertEqual(self.net.queries(), [])

    def start_tunnel(self, then):
        """A call that holds a tunnel and does something once it is told to."""
        flag = os.path.join(self.w.path, "go")
        if os.path.exists(flag):
            os.unlink(flag)
        code = wrapped(self.w.path, """
s, r = connect("raw.example.com")
s.sendall(b"first")
print(s.recv(100).decode(), flush=True)
while not os.path.exists(%r):
    time.sleep(0.02)
%s""" % (flag, then))
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % self.session,
            {"tool": "python", "args": {"code": code}, "timeout_ms": 40000})
        self.assertEqual(status, 202, body)
        wait_for(lambda: [c for c in self.net.connections(kind="raw")
                          if c["raw"] == "first"], 60)
        return body["call"], lambda: self.w.write("go", "")

    def result(self, call):
        return wait_for(lambda: [r for r in [self.i.get(
            "/v1/calls/%s?wait_ms=50000" % call)[1]] if "stdout" in r],
            60)[0]

    def test_killed(self):
        """What was open is cut, calls go on, and the listeners come back."""
        self.assertEqual(self.fetch(), 200)
        call, go = self.start_tunnel(
            "end = read_all(s)\n"
            "r = [end[1], https('ok.example.com')['status']]\nr")
        others = {n: p["pid"] for n, p in self.i.processes().items()
                  if n != "egressd"}
        old = self.i.pid("egressd")
        os.kill(old, signal.SIGKILL)
        self.again(old)
        self.net.settled()
        go()
        r = self.result(call)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        end, status = json.loads(r["stdout"].split("\n")[1])
        self.assertIn(end, ("end", "ECONNRESET"))
        self.assertEqual(status, 200)
        # of the same neuron, in the same session
        self.assertEqual(self.fetch(), 200)
        self.assertEqual(self.w.probe(
            "dns('ok.example.com')['code']", session=self.session), 0)
        self.assertEqual({n: p["pid"] for n, p in self.i.processes().items()
                          if n != "egressd"}, others)

    def test_stopped(self):
        """Time-outs, no direct route; and then it goes on."""
        self.assertEqual(self.fetch(), 200)
        pid = self.i.pid("egressd")
        self.net.settled()
        self.net.forget()
        os.kill(pid, signal.SIGSTOP)
        try:
            self.no_way()
            # calls that need no network are as ever, in new neurons too
            self.assertEqual(self.i.bash("echo on", profile="web")["stdout"],
                             "on\n")
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_for(lambda: self.fetch() == 200, 60)
        self.assertEqual(self.i.pid("egressd"), pid)

    def test_killed_again_and_again(self):
        """Each time the neuron has its network back."""
        for _ in range(3):
            old = self.i.pid("egressd")
            os.kill(old, signal.SIGKILL)
            self.again(old)
            wait_for(lambda: self.fetch() == 200, 60)

    def test_turned_off_by_deaths(self):
        """Five in the window turn egress off, and nothing else."""
        self.assertEqual(self.fetch(), 200)
        for n in range(5):
            old = self.i.pid("egressd")
            os.kill(old, signal.SIGKILL)
            if n < 4:
                self.again(old)
        wait_for(lambda: self.i.processes()["egressd"]["state"] != "up", 60)
        self.net.settled()
        self.net.forget()
        got = self.w.probe("""
out = [reach("11.1.1.1", 443), dns("ok.example.com", seconds=1)]
out.append(tried(lambda: get("http://ok.example.com/ok", seconds=2)))
out""", session=self.session)
        self.assertEqual(got[0], "ENETUNREACH")
        self.assertNotEqual(got[1].get("code"), 0)
        self.assertNotEqual(got[2]["status"], 200)
        self.assertEqual(self.net.connections(), [])
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")
        self.assertIsNone(self.i.process.poll())

    def test_policyd_killed(self):
        """Its neurons end with it; new ones have their network."""
        self.assertEqual(self.fetch(), 200)
        old = self.i.pid("policyd")
        os.kill(old, signal.SIGKILL)

        def works():
            try:
                return self.w.probe("https('ok.example.com')")["status"] == \
                    200
            except (AssertionError, OSError, KeyError):
                return False
        wait_for(works, 60, 0.2)


if __name__ == "__main__":
    unittest.main()
