"""The guest is the target: what the other tests take for granted."""
import os
import subprocess
import unittest


KERNEL = {"12": "6.1.", "13": "6.12."}


class Guest(unittest.TestCase):
    def test_kernel(self):
        with open("/etc/debian_version") as f:
            release = f.read().split(".")[0].strip()
        self.assertTrue(os.uname().release.startswith(KERNEL[release]))

    def test_cgroup_v2_alone(self):
        with open("/proc/self/mountinfo") as f:
            types = {l.split(" - ")[1].split()[0] for l in f}
        self.assertIn("cgroup2", types)
        self.assertNotIn("cgroup", types)

    def test_apparmor_is_on(self):
        with open("/sys/kernel/security/lsm") as f:
            lsm = f.read().split(",")
        self.assertIn("apparmor", lsm)
        self.assertIn("landlock", lsm)

    def test_systemd_is_running(self):
        r = subprocess.run(["systemctl", "is-system-running", "--wait"],
                           stdout=subprocess.PIPE, timeout=600)
        self.assertEqual(r.stdout.strip(), b"running")


if __name__ == "__main__":
    unittest.main()
