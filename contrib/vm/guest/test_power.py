"""After the power was cut while calls ran (test_readme.py): the service is
there by itself, and nothing that was durable is lost."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_package import (USERS, get, journal, sh, show,  # noqa: E402
                          wait_for)
from test_readme import HOME, POWER  # noqa: E402


class Power(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(POWER) as f:
            cls.kept = json.load(f)
        wait_for(lambda: show("ActiveState") == "active", 300)
        wait_for(cls.works, 120)

    @staticmethod
    def works():
        return sh("myelinctl", "run", "--", "true", user="me").returncode == 0

    @classmethod
    def tearDownClass(cls):
        """Nothing is left of it for the tests that follow."""
        sh("dpkg", "--purge", "myelin", timeout=300)
        for name in ("me", "alice", "agent", "approver"):
            sh("userdel", "-r", name)
        for name in list(USERS.values()) + ["_myelin-neuron"]:
            sh("userdel", name)
        for name in ("myelin", "myelin-operator"):
            sh("groupdel", name)
        os.unlink("/etc/sudoers.d/me")

    def out(self, *argv, user=None):
        r = sh(*argv, user=user)
        self.assertEqual(r.returncode, 0, (argv, r.stdout, r.stderr[-2000:],
                                           journal("-b", "-n", "40")))
        return r.stdout.decode()

    def test_1_the_service_came_up_by_itself(self):
        self.assertEqual(show("ActiveState"), "active", journal("-b"))
        self.assertTrue(self.works(), journal("-b", "-n", "40"))

    def test_2_the_audit_log_is_whole(self):
        """Also what was on the disk before, by its hash."""
        self.out("myelinctl", "audit", "verify", "--anchor",
                 self.kept["anchor"])

    def test_3_what_ran_was_interrupted(self):
        found = get("/v1/calls/" + self.kept["running"])
        self.assertEqual((found["state"], found["reason"]),
                         ("failed", "interrupted"))
        found = get("/v1/sessions/" + self.kept["session"])
        self.assertEqual((found["state"], found["reason"]),
                         ("ended", "interrupted"))

    def test_4_what_was_done_is_kept(self):
        found = json.loads(self.out("myelinctl", "call", "show", "-o",
                                    "--json", self.kept["done"]))
        self.assertEqual((found["state"], found.get("stdout")),
                         ("completed", "kept\n"), found)
        keys = json.loads(self.out("myelinctl", "keys", "--json"))["keys"]
        self.assertEqual([(k["name"], k["state"]) for k in keys],
                         [("ci", "active")])

    def test_5_no_placeholder_is_left(self):
        """neurond made them for a neuron that is no more."""
        self.assertTrue(wait_for(lambda: set(os.listdir(
            HOME + "/src/app")) <= {"greeting", "made"}, 120),
            os.listdir(HOME + "/src/app"))


if __name__ == "__main__":
    unittest.main()
