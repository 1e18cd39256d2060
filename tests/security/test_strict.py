"""The strict variant: what is shared with the host is not watched, and /proc
tells nothing of the machine; each beside the standard one, where it works."""
import shutil
import unittest

from harness import CONFIG, Instance

START = r"""
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def said(n): return 'ok' if n >= 0 else errno.errorcode[ctypes.get_errno()]
"""

WATCH = START + r"""
fd = libc.inotify_init1(0)
print('init', said(fd))
print('watch', said(libc.inotify_add_watch(fd, b'/usr/bin/true', 0x20)))
if os.uname().machine == 'x86_64':
    print('init0', said(libc.syscall(253)))
# fanotify_init: nobody's
print('fanotify', said(libc.syscall(
    {'x86_64': 300, 'aarch64': 262}[os.uname().machine], 0, 0)))
"""

NODE = r"""
const { Worker } = require('worker_threads');
const os = require('os');
new Worker("require('worker_threads').parentPort.postMessage(6 * 7)",
    { eval: true }).on('message', n => console.log(n, os.cpus().length));
"""

MULTIPROCESSING = r"""
import multiprocessing, asyncio
def square(n): return n * n
if __name__ == '__main__':
    with multiprocessing.Pool(2) as p: print(p.map(square, range(4)))
    async def main():
        p = await asyncio.create_subprocess_exec('echo', 'sub', stdout=-1)
        return (await p.communicate())[0]
    print(asyncio.run(main()))
"""


class Strict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG.replace(
            "preset", 'profile "default", "tight"; preset', 1) +
            'profile "tight" { variant strict }\n')

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def both(self, tool, args):
        """What it prints in a standard neuron, and in a strict one."""
        out = []
        for profile in ("default", "tight"):
            r = self.i.call(tool, args, profile=profile)
            self.assertEqual((r["state"], r["exit_code"]),
                             ("completed", 0), r)
            out.append(r["stdout"].splitlines())
        return out

    def test_074_watches(self):
        """That the host executes a program of /usr, seen from inside."""
        standard, strict = self.both("python", {"code": WATCH})
        self.assertEqual(standard[:2], ["init ok", "watch ok"])
        self.assertEqual(standard[-1], "fanotify EPERM")
        self.assertEqual([l.split()[1] for l in strict],
                         ["EPERM"] * len(strict))

    def test_proc_is_processes_alone(self):
        look = "ls /proc | grep -vE '^[0-9]+$'"
        standard, strict = self.both("bash", {"command": look})
        self.assertIn("cpuinfo", standard)
        self.assertEqual(strict, ["self", "thread-self"])
        # by name, not by list alone
        code = ("import os\nfor n in ('cpuinfo', 'meminfo', 'stat', 'sys', "
                "'version', 'net', 'uptime', 'mounts', 'self'):\n"
                "  print(n, os.path.lexists('/proc/' + n))\n")
        standard, strict = self.both("python", {"code": code})
        self.assertEqual({l.split()[1] for l in standard}, {"True"})
        self.assertEqual([l for l in strict if l.endswith("True")],
                         ["self True"])

    def test_what_the_record_says(self):
        r = self.i.bash("true", profile="tight")
        self.assertIn("processes-alone", r["layers"])
        self.assertIn("no-watches", r["layers"])
        # proven there by an attempt, as /proc can't say it
        self.assertIn("namespace-limits", r["layers"])
        r = self.i.bash("true")
        self.assertNotIn("processes-alone", r["layers"])
        self.assertNotIn("no-watches", r["layers"])

    def test_file_tools(self):
        s = self.i.session(profile="tight")
        for tool, args in (("write", {"path": "f", "content": "needle\n"}),
                           ("read", {"path": "f"}),
                           ("grep", {"pattern": "needle"}),
                           ("ls", {})):
            r = self.i.call(tool, args, session=s)
            self.assertEqual((r["state"], r["exit_code"]),
                             ("completed", 0), r)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_programs_get_along(self):
        """What neither watches files nor reads of the machine."""
        s = self.i.session(profile="tight")
        tried = 0
        for program, command, want in (
                ("gcc", "printf 'int main(void){return 42;}' >a.c && "
                 "gcc -O2 -o a a.c && ./a; echo $?", "42\n"),
                ("git", "git init -q g && cd g && git -c user.name=a -c "
                 "user.email=a@b commit -q --allow-empty -m one && "
                 "git log --format=%s", "one\n"),
                ("python3", "cat >m.py <<'E'\n%sE\npython3 m.py" %
                 MULTIPROCESSING, "[0, 1, 4, 9]\nb'sub\\n'\n"),
                ("node", "cat >n.js <<'E'\n%sE\nnode n.js" % NODE, "42 0\n"),
                ("perl", "perl -e 'print 6 * 7, \"\\n\"'", "42\n"),
                ("javac", "echo 'class A { public static void main(String[] a)"
                 "{ System.out.println(Runtime.getRuntime()."
                 "availableProcessors() > 0 ? 42 : 0); } }' >A.java && "
                 "javac A.java && java A", "42\n"),
                ("tail", "echo one >t; tail -f t >o & "
                 "until [ -s o ]; do sleep 0.1; done; kill $!; cat o",
                 "one\n")):
            if shutil.which(program) is None:
                continue
            r = self.i.bash(command, session=s)
            self.assertEqual(r["stdout"], want, (program, r))
            tried += 1
        self.assertGreater(tried, 2)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_bad_words(self):
        with self.assertRaisesRegex(AssertionError, "variant"):
            Instance(CONFIG + 'profile "x" { variant stricter }\n').stop()


if __name__ == "__main__":
    unittest.main()
