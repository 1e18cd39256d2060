"""What the attempts on egress share: servers and hosts of every sort, a neuron
with rules for some of them, and what is said of an attempt that fails.
"""
import unittest

from egress import Attacker, EgressInstance, Net

WEB = """
	allow host "ok.example.com";
	allow host "*.sub.example.com";
	deny host "bad.sub.example.com";
	allow host "two.example.com";
	allow host "raw.example.com" opaque;
	allow host "ssh.example.com" port 22;
	allow host "posts.example.com" method "POST";
	allow host "11.1.1.2";
	allow host "rebound.example.com";
	allow host "mixed.example.com";
	allow host "mixed6.example.com";
	allow host "alias.example.com";
	allow host "lo.example.com"; allow host "meta.example.com";
	allow host "ten.example.com"; allow host "xn--bcher-kva.example.com"
"""
NAMES = ("ok.example.com", "a.sub.example.com", "bad.sub.example.com",
         "two.example.com", "raw.example.com", "ssh.example.com",
         "posts.example.com", "evil.example.net", "dns.example.net",
         "xn--bcher-kva.example.com")


def begin():
    """A module's Net, instance and attacker; they end with its tests."""
    net = Net(NAMES)
    unittest.addModuleCleanup(net.close)
    net.names({
        "rebound.example.com": {"A": [["11.1.1.1"], ["127.0.0.1"]]},
        "mixed.example.com": ["11.1.1.1", "10.1.2.3"],
        "mixed6.example.com": ["11.1.1.1", "fd00:ec2::254"],
        "alias.example.com": {"cname": "ten.example.com"},
        "ten.example.com": ["10.1.2.3"],
        "lo.example.com": ["127.0.0.1"],
        "meta.example.com": ["169.254.169.254"]})
    i = EgressInstance(net, {
        "web": WEB, "none": "", "mute": WEB + "; transparent no",
        "inner": 'allow host "ten.example.com" private; '
                 'allow host "lo.example.com" private; '
                 'allow host "meta.example.com" private; '
                 'allow host "all.example.com" private'})
    unittest.addModuleCleanup(i.stop)
    w = Attacker(i)
    unittest.addModuleCleanup(w.close)
    Case.net = net
    return net, i, w


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.net.forget()

    def nothing_came(self):
        self.assertEqual(self.net.connections(), [])

    def refused(self, r, error=None, host=None, status=403):
        self.assertEqual(r["status"], status, r)
        self.assertIsInstance(r["json"], dict, r)
        self.assertEqual(sorted(r["json"]),
                         ["detail", "error", "host", "rule"], r)
        if error is not None:
            self.assertEqual(r["json"]["error"], error, r)
        if host is not None:
            self.assertEqual(r["json"]["host"], host, r)
        self.assertNotEqual(r.get("end"), "timeout", r)
