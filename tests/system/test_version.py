"""One version, wherever it is said."""
import os
import re
import subprocess
import unittest

from harness import CTL, TOP, Instance


def source(name):
    with open(os.path.join(TOP, name)) as f:
        return f.read()


class Version(unittest.TestCase):
    def test_everywhere_the_same(self):
        version = re.search(r"AC_INIT\(\[myelin\], \[([0-9.]+)\]",
                            source("configure.ac"))[1]
        said = {
            "changelog": re.match(r"myelin \(([0-9.]+)[^)]*\)",
                                  source("debian/changelog"))[1],
            "NEWS": re.search(r"(?m)^Myelin ([0-9.]+)$", source("NEWS"))[1],
        }
        r = subprocess.run([CTL, "--version"], stdout=subprocess.PIPE,
                           timeout=60)
        said["myelinctl"] = r.stdout.decode().split()[1]
        with Instance() as i:
            for operator in (False, True):
                said["healthz", operator] = i.get("/healthz", operator)[1][
                    "version"]
            said["status"] = i.status()["version"]
            c = i.connection(operator=True)
            c.request("GET", "/metrics")
            said["metrics"] = re.search(
                r'myelin_info\{version="([^"]+)"',
                c.getresponse().read().decode())[1]
            c.close()
        # a build that is never shipped says so behind it
        for where, what in said.items():
            self.assertEqual(what.split("+")[0], version, where)


if __name__ == "__main__":
    unittest.main()
