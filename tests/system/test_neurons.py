"""Persistent neurons, of the whole service: a home that outlives sessions,
processes and the service, and goes when it is told to or nobody needs it."""
import os
import signal
import unittest

from harness import HELPERS, NAMES, Instance, wait_for
from test_homes import loops_of, loops_work

TEXT = "\nrestart-window 1s\nhome 32M\ninodes 1000\n"


def setUpModule():
    if not loops_work():
        raise unittest.SkipTest("no loop devices, or no mke2fs")


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra=TEXT)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def make(self, **fields):
        status, n = self.i.request("POST", "/v1/neurons",
                                   dict(fields, persistent=True))
        self.assertEqual(status, 201, n)
        return n["neuron"]

    def open(self, neuron):
        status, s = self.i.request("POST", "/v1/sessions", {"neuron": neuron})
        self.assertEqual((status, s.get("neuron")), (201, neuron), s)
        return s["session"]

    def end(self, session):
        status, s = self.i.request("DELETE", "/v1/sessions/" + session)
        self.assertEqual(status, 200, s)

    def run_in(self, session, command):
        r = self.i.bash(command, session=session)
        self.assertEqual(r["state"], "completed", r)
        return r["stdout"]

    def state(self, neuron):
        try:
            status, n = self.i.get("/v1/neurons/" + neuron)
        except OSError:
            return None
        return n["state"] if status == 200 else status

    def home(self, neuron):
        return os.path.join(self.i.state, "neurons", neuron)


class Neurons(Base):
    def test_home_stays(self):
        n = self.make(name="mine", labels={"team": "red"}, idle_expiry=600)
        self.assertEqual(self.state(n), "idle")
        s = self.open(n)
        self.assertEqual(self.state(n), "live")
        self.run_in(s, "echo kept > note; mkdir -p .cache/x; "
                       "echo gone > /tmp/note")
        status, busy = self.i.request("POST", "/v1/sessions", {"neuron": n})
        self.assertEqual((status, busy["error"]["code"]),
                         (409, "neuron_busy"))
        status, _ = self.i.request("GET", "/v1/neurons/%s/files/note" % n)
        self.assertEqual(status, 200)
        self.end(s)
        self.assertEqual(self.state(n), "idle")
        s = self.open(n)
        self.assertEqual(self.run_in(
            s, "cat note; ls -d .cache/x; ls /tmp; id -u; stat -c %u note"),
            "kept\n.cache/x\n1000\n1000\n")
        self.end(s)

    def test_destroyed_with_all_it_holds(self):
        n = self.make()
        s = self.open(n)
        status, call = self.i.request(
            "POST", "/v1/sessions/%s/calls" % s,
            {"tool": "bash", "args": {"command": "echo x > f; sleep 600"}})
        self.assertEqual(status, 202)
        path = "/v1/calls/" + call["call"]
        wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
        self.assertTrue(os.path.isdir(self.home(n)))
        status, gone = self.i.request("DELETE", "/v1/neurons/" + n)
        self.assertEqual((status, gone.get("state")), (200, "destroyed"), gone)
        self.assertFalse(os.path.exists(self.home(n)))
        self.assertEqual(self.i.get(path)[1]["reason"], "session_ended")
        self.assertEqual(self.i.get("/v1/sessions/" + s)[1]["reason"],
                         "neuron_destroyed")
        self.assertEqual(self.state(n), 404)

    def test_expires_when_nobody_uses_it(self):
        n = self.make(idle_expiry=5)
        s = self.open(n)
        self.run_in(s, "echo x > f")
        self.end(s)
        wait_for(lambda: self.state(n) == 404, 60)
        wait_for(lambda: not os.path.exists(self.home(n)), 60)

    def test_bounds_from_inside(self):
        n = self.make()
        s = self.open(n)
        self.assertIn("No space left", self.run_in(
            s, "dd if=/dev/zero of=big bs=1M count=64 2>&1 || true; rm big"))
        self.end(s)
        self.i.request("DELETE", "/v1/neurons/" + n)

    def ctl(self, *args):
        p = self.i.ctl(*args)
        p.stdout = p.stdout.decode()
        p.stderr = p.stderr.decode()
        return p

    def test_list_and_ctl(self):
        out = self.ctl("neurons", "create", "--name", "ctl-1",
                         "--label", "a=b c", "--idle-expiry", "7d")
        self.assertEqual(out.returncode, 0, out.stderr)
        n = out.stdout.strip()
        shown = self.ctl("neurons", "show", "ctl-1").stdout
        for word in (n, "ctl-1", "persistent", "idle", "label a=b c"):
            self.assertIn(word, shown)
        for args, there in ((("--label", "a=b c"), True),
                            (("--label", "a"), True),
                            (("--label", "a=x"), False),
                            (("--name", "ctl-1"), True), ((), True)):
            out = self.ctl("neurons", *args)
            self.assertEqual(n in out.stdout, there, args)
        s = self.ctl("sessions", "open", "--neuron", "ctl-1").stdout.strip()
        self.assertTrue(s.startswith("s-"), s)
        out = self.ctl("neurons", "destroy", "ctl-1")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.state(n), 404)
        out = self.ctl("neurons", "show", "ctl-1")
        self.assertEqual(out.returncode, 1)
        self.assertIn("no persistent neuron", out.stderr)
        out = self.ctl("neurons", "create", "--label", "a")
        self.assertEqual(out.returncode, 2)
        self.assertIn("value", out.stderr)


class Deaths(Base):
    def all_up(self):
        try:
            p = self.i.processes()
        except Exception:
            return None
        return p if all(n in p and p[n]["state"] == "up"
                        for n in NAMES + HELPERS) else None

    def test_each_process(self):
        """Killed while the neuron lives: the home is as it was."""
        n = self.make()
        for turn, name in enumerate(NAMES + HELPERS):
            before = wait_for(self.all_up, 60)
            s = self.open(n)
            self.run_in(s, "echo %d >> turns; sync turns" % turn)
            os.kill(before[name]["pid"], signal.SIGKILL)
            wait_for(lambda: before[name]["pid"] not in
                     [p["pid"] for p in (self.all_up() or {}).values()] and
                     self.all_up(), 60)
            # where the session lived on, it is ended
            wait_for(lambda: self.state(n) in ("live", "idle"), 60)
            if self.state(n) == "live":
                self.i.request("DELETE", "/v1/sessions/" + s)
            wait_for(lambda: self.opened(n), 60)
            lines = self.run_in(self.session, "cat turns").split()
            self.assertEqual(lines, [str(i) for i in range(turn + 1)], name)
            self.end(self.session)

    def opened(self, neuron):
        try:
            status, s = self.i.request("POST", "/v1/sessions",
                                       {"neuron": neuron})
        except OSError:
            return False
        self.session = s.get("session")
        return status == 201

    def test_lost_and_unclaimed(self):
        n = self.make()
        s = self.open(n)
        self.run_in(s, "echo here > f")
        self.end(s)
        wait_for(lambda: not loops_of(self.home(n)), 60)
        aside = os.path.join(self.i.state, "neurons",
                             n[:-1] + ("2" if n[-1] != "2" else "3"))
        os.rename(self.home(n), aside)
        os.kill(self.i.pid("neurond"), signal.SIGKILL)
        wait_for(lambda: self.state(n) == "lost", 60)
        homes = self.i.status()["homes"]
        self.assertEqual((homes["lost"], homes["unclaimed"],
                          homes["unclaimed_ids"]),
                         (1, 1, [os.path.basename(aside)]))
        status, r = self.i.request("POST", "/v1/sessions", {"neuron": n})
        self.assertEqual((status, r["error"]["code"]), (409, "conflict"))
        os.rename(aside, self.home(n))
        wait_for(self.all_up, 60)
        os.kill(self.i.pid("neurond"), signal.SIGKILL)
        wait_for(lambda: self.state(n) == "idle", 60)
        wait_for(lambda: self.opened(n), 60)
        self.assertEqual(self.run_in(self.session, "cat f"), "here\n")
        self.end(self.session)
        status, _ = self.i.request("DELETE", "/v1/neurons/" + n)
        self.assertEqual(status, 200)


if __name__ == "__main__":
    unittest.main()
