"""The AppArmor profile of what runs in a neuron: in force where the kernel has
AppArmor and it is loaded, and then nothing runs without it."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from harness import BUILD, CONFIG, CTL, MYELIND, TOP, Instance, Workspace

sys.path.insert(0, os.path.join(TOP, "tests", "security"))
from test_shown import directory, make_image  # noqa: E402

BASE = os.path.join(TOP, "contrib", "apparmor")
PROFILE = os.path.join(BASE, "myelin-neuron")
RULES = os.path.join(BASE, "abstractions", "myelin-neuron")
NAMES = ("myelin-neuron", "myelin-neuron-overlay")
ATTR = "/proc/self/attr/apparmor/"


def on():
    try:
        with open("/sys/module/apparmor/parameters/enabled") as f:
            return f.read().strip() == "Y"
    except OSError:
        return False


def enter(words):
    """None, or the error of asking for the profile."""
    try:
        fd = os.open("/proc/thread-self/attr/apparmor/current", os.O_WRONLY)
        try:
            os.write(fd, words)
        finally:
            os.close(fd)
    except OSError as e:
        return e.errno
    return None


def loaded():
    return on() and enter(b"permprofile myelin-neuron") is None


def parser(option):
    r = subprocess.run(["apparmor_parser", option, "-K", "-I", BASE,
                        PROFILE], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                       timeout=300)
    if r.returncode != 0:
        raise AssertionError(r.stdout.decode())


class Text(unittest.TestCase):
    """What can be said of the profile where there is no AppArmor."""

    def setUp(self):
        self.rules = []
        for path in (PROFILE, RULES):
            with open(path) as f:
                self.rules += [l.strip() for l in f
                               if l.strip() and not l.strip().startswith("#")]

    def test_it_can_not_be_left(self):
        self.assertEqual([r for r in self.rules if r.startswith("profile ")],
                         ["profile %s flags=(attach_disconnected,"
                          "mediate_deleted) {" % n for n in NAMES])
        text = "\n".join(self.rules)
        self.assertNotRegex(text, r"change_profile|unconfined\s*\)|complain")
        # a program inherits it or does not run: no other transition
        for m in re.findall(r"[rwlkmxupicURPIC]*x[rwlkmxupic]*,", text):
            self.assertRegex(m, r"^[rwlkm]*i?x[rwlkm]*,$")

    def test_no_power(self):
        for word in ("capability", "mount", "umount", "remount",
                     "pivot_root"):
            for rule in self.rules:
                if re.match(r"(audit |deny )*%s\b" % word, rule):
                    self.assertEqual(rule, "deny %s," % word)

    def test_the_parser_takes_it(self):
        if shutil.which("apparmor_parser") is None:
            self.skipTest("apparmor_parser is not installed")
        r = subprocess.run(
            ["apparmor_parser", "-Q", "-K", "-S", "-I", BASE, PROFILE],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        # a kernel without it keeps no cache, and is told so
        said = [l for l in r.stderr.decode().splitlines()
                if not l.startswith("Cache read/write disabled")]
        self.assertEqual((r.returncode, said), (0, []))
        self.assertGreater(len(r.stdout), 1000)


class Required(unittest.TestCase):
    def test_a_start_without_it(self):
        if loaded():
            self.skipTest("the profile is loaded on this host")
        i = Instance(CONFIG + "apparmor-required yes\n", start=False)
        try:
            r = subprocess.run(
                [MYELIND, "-d", "-f", i.conf, "-p", i.dir, "-L", BUILD],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=300)
        finally:
            i.stop()
        text = r.stdout.decode(errors="replace")
        self.assertEqual(r.returncode, 1, text)
        self.assertIn("apparmor-required: the layer apparmor-profile is "
                      "missing: ", text)

    def test_not_required(self):
        """It starts, and claims nothing."""
        if loaded():
            self.skipTest("the profile is loaded on this host")
        with Instance() as i:
            self.assertNotIn("apparmor-profile", i.bash("true")["layers"])
        r = subprocess.run([CTL, "doctor", "apparmor-profile"],
                           stdout=subprocess.PIPE, timeout=300)
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"    state: missing, ", r.stdout)
        self.assertIn(b"    remedy: ", r.stdout)


class Profile(unittest.TestCase):
    """Of a kernel that has it: Debian's."""

    @classmethod
    def setUpClass(cls):
        if not on() or shutil.which("apparmor_parser") is None:
            raise unittest.SkipTest("AppArmor is not on, or has no parser")
        cls.ours = not loaded()
        if cls.ours:
            parser("-r")
            cls.addClassCleanup(parser, "-R")
        cls.image = directory("image-")
        cls.addClassCleanup(shutil.rmtree, cls.image)
        make_image(cls.image)
        cls.i = Instance(CONFIG.replace(
            "preset", 'profile "default", "own"; preset', 1) +
            'apparmor-required yes\nprofile "own" { root "%s" overlay }\n' %
            cls.image)
        cls.addClassCleanup(cls.i.stop)

    def ok(self, command, **more):
        r = self.i.bash(command, **more)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def test_programs_are_in_it(self):
        r = self.i.bash("cat %scurrent; bash -c 'cat %scurrent'" %
                        (ATTR, ATTR))
        self.assertEqual(r["stdout"], "myelin-neuron (enforce)\n" * 2, r)
        self.assertIn("apparmor-profile", r["layers"])
        self.assertEqual(subprocess.run(
            [CTL, "doctor", "apparmor-profile"],
            stdout=subprocess.DEVNULL).returncode, 0)

    def test_it_can_not_be_left(self):
        r = self.i.call("python", {"code": r"""
for f, words in (('exec', 'exec unconfined'), ('current',
        'changeprofile unconfined'), ('current', 'changehat 1^x')):
    try:
        with open('/proc/self/attr/apparmor/' + f, 'w') as fd: fd.write(words)
    except OSError as e: print(e.errno)
    else: print('left')
print(open('/proc/self/attr/apparmor/current').read().strip())
"""})
        self.assertRegex(r["stdout"],
                         r"^(1\n|13\n){3}myelin-neuron \(enforce\)\n$", r)

    def test_what_it_alone_denies(self):
        """Writing to one's own memory by /proc, which works without it."""
        code = ("try: open('/proc/self/mem', 'r+b', 0)\n"
                "except OSError as e: print(e.errno)\n"
                "else: print('open')\n"
                "import os\n"
                "try: os.kill(1, 0)\n"
                "except OSError as e: print(e.errno)\n"
                "else: print('sent')\n")
        r = self.i.call("python", {"code": code})
        self.assertRegex(r["stdout"], r"^13\n(1|13)\n$", r)
        plain = subprocess.run(["python3", "-c", code],
                               stdout=subprocess.PIPE, timeout=300)
        self.assertEqual(plain.stdout, b"open\nsent\n")

    def test_a_root_that_may_be_written_to(self):
        # from a file: the judge says no to what names /usr
        look = "cat %scurrent; touch /usr/x && echo wrote\n" % ATTR
        for profile, want in (("own", "myelin-neuron-overlay (enforce)\n"
                               "wrote\n"),
                              ("default", "myelin-neuron (enforce)\n")):
            s = self.i.session(profile=profile)
            self.i.call("write", {"path": "look", "content": look}, session=s)
            r = self.i.bash("bash look", session=s)
            self.assertEqual(r["stdout"], want, r)
            self.i.request("DELETE", "/v1/sessions/" + s)

    def test_tools_work(self):
        w = Workspace()
        try:
            s = self.i.session(**w.fields())
            self.assertEqual(self.ok(
                "printf 'int main(void){return 42;}' >a.c && printf "
                "'a: a.c\\n\\tgcc -o a a.c\\n' >Makefile && make -s && "
                "./a; echo $?; cp a /tmp/b; /tmp/b; echo $?; cd ~ && "
                "git init -q g && cd g && git -c user.name=a -c "
                "user.email=a@b commit -q --allow-empty -m one && "
                "git log --format=%s", session=s), "42\n42\none\n")
            for tool, args in (("write", {"path": "f", "content": "needle\n"}),
                               ("grep", {"pattern": "needle", "path": "."}),
                               ("edit", {"path": "f", "edits": [
                                   {"old": "needle", "new": "pin"}]}),
                               ("read", {"path": "f"})):
                r = self.i.call(tool, args, session=s)
                self.assertEqual((r["state"], r["exit_code"]),
                                 ("completed", 0), r)
            self.i.request("DELETE", "/v1/sessions/" + s)
        finally:
            w.close()

    def test_removed_while_it_runs(self):
        """Nothing runs without it; with it again, the next call does."""
        if not self.ours:
            self.skipTest("the profile is somebody else's")
        s = self.i.session()
        self.ok("true", session=s)
        parser("-R")
        try:
            for tool, args in (("bash", {"command": "true"}),
                               ("ls", {})):
                r = self.i.call(tool, args, session=s)
                self.assertEqual(r["state"], "failed", r)
                self.assertIn("AppArmor profile myelin-neuron",
                              r["error"]["message"], r)
            # and no neuron is made
            r = self.i.bash("true")
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "launch_failed"), r)
            self.assertIn("AppArmor", r["error"]["message"], r)
        finally:
            parser("-r")
        self.ok("true", session=s)
        self.ok("true")


if __name__ == "__main__":
    unittest.main()
