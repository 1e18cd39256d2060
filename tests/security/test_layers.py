"""The layers of a neuron: what is mandatory is taken away, one at a time, and
the start is refused by its name; what is used when present shows in the
record of a call, or doesn't."""
import json
import os
import re
import subprocess
import unittest

from harness import (BUILD, CONFIG, CTL, MYELIND, SANITIZED, TOP, Instance,
                     Workspace)

WITHOUT = os.path.join(BUILD, "tests", "security", "without")

# What is taken away: the layers that then are missing, and no others.
CALLS = {
    "unshare:0&0x10000000": "user-namespace namespace-limits",
    "unshare:0&0x00020000": "mount-namespace read-only-root proc-masks "
                            "hidden-processes idmapped-workspace "
                            "protected-names",
    "unshare:0&0x20000000": "pid-namespace",
    "unshare:0&0x40000000": "network-namespace",
    "setns": "network-namespace",
    "unshare:0&0x08000000": "ipc-namespace",
    "unshare:0&0x04000000": "uts-namespace",
    "unshare:0&0x02000000": "cgroup-namespace",
    "fsopen": "read-only-root hidden-processes",
    "fsmount": "read-only-root",
    "open_tree": "read-only-root protected-names",
    "move_mount": "read-only-root protected-names",
    "pivot_root": "read-only-root",
    "mount_setattr": "read-only-root idmapped-workspace protected-names",
    "mount:3&0x1000": "proc-masks",
    "capset": "no-capabilities",
    "prctl:0=24": "bounding-set",
    "prctl:0=28": "securebits",
    "prctl:0=38": "no-new-privs seccomp landlock-files",
    "prlimit64:1=12": "rlimits",
    "prlimit64:1=4": "no-core-dumps",
    "keyctl": "session-keyring",
    "seccomp": "seccomp",
    "landlock_create_ruleset": "landlock-files",
    "landlock_add_rule": "landlock-files",
    "landlock_restrict_self": "landlock-files",
    "clone3": "clone-into-cgroup pidfd",
    "pidfd_send_signal": "pidfd",
    "close_range": "closed-descriptors",
    "memfd_create": "sealed-memory",
    "openat2": "workspace-walk",
}

UNMOUNT = 'umount -l "$0" && exec "$@"'


def doctor(*prefix):
    r = subprocess.run(list(prefix) + [CTL, "doctor", "--json"],
                       stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                       timeout=300)
    return r.returncode, json.loads(r.stdout)


def table():
    return doctor()[1]["layers"]


def mandatory():
    return {l["name"] for l in table()
            if l["need"] in ("mandatory", "with a workspace")}


def controllers():
    """Mount points: of cgroup2, and of the controllers where v1 has them."""
    found = {}
    with open("/proc/self/mountinfo") as f:
        for line in f:
            left, _, right = line.partition(" - ")
            point, kind = left.split()[4], right.split()[0]
            if kind == "cgroup2":
                found.setdefault("cgroup-v2", point)
            elif kind == "cgroup":
                for name in right.split()[2].split(","):
                    if name in ("memory", "pids", "cpu"):
                        found["cgroup-" + name] = point
    return found


class Missing(unittest.TestCase):
    def refused(self, prefix):
        """The layers that a start names as missing."""
        i = Instance(start=False)
        try:
            r = subprocess.run(
                list(prefix) + [MYELIND, "-d", "-f", i.conf, "-p", i.dir,
                                "-L", BUILD], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            text = r.stdout.decode(errors="replace")
            self.assertEqual(r.returncode, 1, text)
            self.assertNotIn("Sanitizer", text)
            left = [n for n in os.listdir(i.dir) if n != "myelin.conf"]
        finally:
            i.stop()
        return set(re.findall(r"the layer ([a-z0-9-]+) is missing", text)), \
            left, text

    def test_each_system_call(self):
        for what, layers in CALLS.items():
            # the sanitizer asks for it before the program does
            if SANITIZED and what == "prlimit64:1=4":
                continue
            with self.subTest(without=what):
                prefix = (WITHOUT, what, "--")
                named, left, text = self.refused(prefix)
                self.assertEqual(named, set(layers.split()), text)
                # before anything is made
                self.assertEqual(left, [])
                self.assertIn("not started: mandatory layers are missing",
                              text)
                status, said = doctor(*prefix)
                self.assertEqual(status, 1)
                self.assertEqual({l["name"] for l in said["layers"]
                                  if l["state"] == "missing" and l["need"] in
                                  ("mandatory", "with a workspace")},
                                 set(layers.split()))

    def test_each_hierarchy_of_cgroups(self):
        for layer, point in controllers().items():
            with self.subTest(layer=layer):
                named, _, text = self.refused(
                    ("unshare", "--mount", "--propagation", "private",
                     "sh", "-c", UNMOUNT, point))
                self.assertIn(layer, named, text)

    def test_every_mandatory_layer_is_taken_away_somewhere(self):
        taken = set(controllers())
        for layers in CALLS.values():
            taken |= set(layers.split())
        # A kernel without the file cgroup.kill can't be had here, nor one
        # whose only hierarchy lacks a controller.
        self.assertLessEqual(mandatory() - taken, {
            "cgroup-kill", "cgroup-memory", "cgroup-pids", "cgroup-cpu"})

    def test_nothing_is_missing_here(self):
        """The control: with everything in place the same start succeeds."""
        with Instance(start=False) as i:
            i.start(prefix=(WITHOUT, "io_uring_setup", "--"))
            self.assertEqual(i.bash("echo ok")["stdout"], "ok\n")


class Record(unittest.TestCase):
    LANDLOCK = {"landlock-files": 1, "landlock-refer": 2,
                "landlock-truncate": 3, "landlock-ioctl": 5,
                "landlock-scopes": 6}

    def test_what_is_in_force(self):
        need = {l["name"]: l["need"] for l in table()}
        w = Workspace()
        try:
            with Instance(CONFIG.replace(
                    "preset", 'profile "default", "tight"; preset', 1) +
                    'profile "tight" { variant strict }\n') as i:
                plain = set(i.bash("true")["layers"])
                tight = set(i.bash("true", profile="tight")["layers"])
                r = i.bash("true", **w.fields())
                there = set(r["layers"])
        finally:
            w.close()
        kinds = {}
        for name, kind in need.items():
            kinds.setdefault(kind, set()).add(name)
        self.assertLessEqual(kinds["mandatory"], plain)
        self.assertEqual(plain & kinds["with a workspace"], set())
        self.assertEqual(there - plain, kinds["with a workspace"])
        self.assertEqual(tight - plain, kinds["strict"])
        self.assertEqual(plain & kinds["strict"], set())
        self.assertEqual(there & kinds["not used"], set())
        self.assertEqual(r["landlock_abi"],
                         min(doctor()[1]["landlock_abi"], 6))

    def test_an_older_landlock(self):
        """Not refused, and not claimed either."""
        host = doctor()[1]["landlock_abi"]
        for abi in (1, 2, 3, 4, 5, 6):
            if abi > host:
                continue
            with self.subTest(abi=abi), Instance(start=False) as i:
                i.start(prefix=(WITHOUT, "landlock-abi=%d" % abi, "--"))
                r = i.bash("echo ok")
                self.assertEqual(r["stdout"], "ok\n", r)
                self.assertEqual(r["landlock_abi"], abi)
                self.assertEqual(
                    {l for l in r["layers"] if l.startswith("landlock")},
                    {l for l, least in self.LANDLOCK.items() if least <= abi})

    def test_an_older_landlock_keeps_what_it_has(self):
        """ABI 1 knows files, and no renames between directories at all."""
        with Instance(start=False) as i:
            i.start(prefix=(WITHOUT, "landlock-abi=1", "--"))
            r = i.call("python", {"code":
                "import os\nos.mkdir('d')\nopen('f', 'w').close()\n"
                "try:\n  os.rename('f', 'd/f')\n"
                "except OSError as e:\n  print(e.errno)\n"})
            self.assertEqual(r["stdout"], "18\n", r)


class Pages(unittest.TestCase):
    def test_security_md(self):
        with open(os.path.join(TOP, "SECURITY.md")) as f:
            section = re.split(r"^## ", f.read(), flags=re.M)
        section = [s for s in section if s.startswith("Layers\n")][0]
        rows = [tuple(c.strip() for c in l.strip("|\n").split("|"))
                for l in section.splitlines() if l.startswith("| `")]
        self.assertEqual(rows, [
            ("`%s`" % l["name"], l["need"], l["protects"], l["provider"])
            for l in table()])

    def test_manual(self):
        with open(os.path.join(TOP, "man", "myelind.8")) as f:
            section = re.split(r"^\.Sh ", f.read(), flags=re.M)
        section = [s for s in section if s.startswith("LAYERS\n")][0]
        rows = re.findall(r"^\.It Sy ([a-z0-9-]+) Ta (.*)$", section, re.M)
        self.assertEqual(rows, [(l["name"], l["need"]) for l in table()])


if __name__ == "__main__":
    unittest.main()
