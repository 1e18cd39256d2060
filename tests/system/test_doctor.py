"""myelinctl doctor: what a host has of what Myelin needs, without a service
and with one, for root and for others."""
import json
import os
import subprocess
import unittest

from harness import CTL, Instance, reachable


def doctor(*args, user=None, env=None):
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith("MYELIN_")}
    clean.update(env or {})
    kwargs = {"user": user, "group": user, "extra_groups": []} if user else {}
    r = subprocess.run([CTL, "doctor"] + list(args), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=clean, timeout=60, **kwargs)
    return r


class Doctor(unittest.TestCase):
    NOBODY = {"MYELIN_SOCKET": "/nonexistent/api.sock",
              "MYELIN_OPERATOR_SOCKET": "/nonexistent/operator.sock"}

    def facts(self, said):
        return {f["name"]: f for f in said["host"]}

    def test_without_a_service(self):
        r = doctor("--json", env=self.NOBODY)
        self.assertEqual(r.returncode, 0, r.stderr)
        said = json.loads(r.stdout)
        self.assertEqual(said["mandatory_missing"], 0)
        self.assertEqual(said["mandatory_unknown"], 0)
        for layer in said["layers"]:
            self.assertEqual(set(layer), {
                "name", "need", "state", "protects", "provider", "remedy",
                "detail"})
            for key in ("name", "need", "state", "protects", "provider",
                        "remedy"):
                self.assertTrue(layer[key], layer)
            self.assertIn(layer["state"], ("present", "missing"))
            self.assertEqual(layer["detail"] == "",
                             layer["state"] == "present", layer)
        facts = self.facts(said)
        self.assertEqual(set(facts), {
            "kernel", "cgroups", "namespaces", "pipe pages", "proc",
            "apparmor", "core pattern", "protected symlinks", "TIOCSTI",
            "systemd", "name servers", "authorities", "agent socket",
            "operator socket", "service",
            "self-approval", "pool"})
        self.assertIn(os.uname().release, facts["kernel"]["value"])
        self.assertEqual(facts["service"]["state"], "warning")
        self.assertIn("/nonexistent/api.sock", facts["service"]["value"])
        for fact in facts.values():
            self.assertEqual(fact["remedy"] != "",
                             fact["state"] == "warning", fact)

    def test_for_a_person(self):
        r = doctor(env=self.NOBODY)
        text = r.stdout.decode()
        said = json.loads(doctor("--json", env=self.NOBODY).stdout)
        for layer in said["layers"]:
            self.assertRegex(text, r"(?m)^%s +%s +%s$" % (
                layer["name"], layer["need"], layer["state"]))
        self.assertIn("all mandatory layers are there\n", text)

    def test_for_anybody(self):
        if not reachable(os.path.dirname(CTL)):
            self.skipTest("the build directory can't be reached by others")
        r = doctor("--json", user=65534, env=self.NOBODY)
        self.assertEqual(r.returncode, 0, r.stderr)
        said = json.loads(r.stdout)
        self.assertEqual(said["mandatory_missing"], 0)
        # what a user namespace does not let it see, it does not guess
        for layer in said["layers"]:
            if layer["name"] == "hidden-processes":
                self.assertEqual(layer["state"], "unknown")
        r = doctor(user=65534, env=self.NOBODY)
        self.assertIn(b"only root can tell", r.stdout)

    def test_with_a_service(self):
        with Instance() as i:
            r = doctor("--json", env={"MYELIN_SOCKET": i.api,
                                      "MYELIN_OPERATOR_SOCKET": i.operator})
            self.assertEqual(r.returncode, 0, r.stderr)
            facts = self.facts(json.loads(r.stdout))
            self.assertEqual((facts["service"]["state"],
                              facts["service"]["value"]), ("ok", "up"))
            self.assertIn(i.api, facts["agent socket"]["value"])
            self.assertIn("you may connect", facts["agent socket"]["value"])
            self.assertIn("%04o" % (os.stat(i.operator).st_mode & 0o7777),
                          facts["operator socket"]["value"])

    def test_command_line(self):
        self.assertEqual(doctor("extra").returncode, 2)


if __name__ == "__main__":
    unittest.main()
