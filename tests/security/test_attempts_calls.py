"""Attempts by system calls, each tried twice: in a neuron it must be denied,
and in namespaces to throw away, as root and without our layers, it must work.

A script says one line for each attempt: "denied NAME ERRNO" where something of
ours can have refused it, else "REACHED NAME", as then the kernel itself looked
at it.
"""
import hashlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest

import throwaway
from harness import BUILD, TOP, Instance

START = r"""
import ctypes, errno, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == 'x86_64'
OURS = (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EROFS,
        errno.EAFNOSUPPORT, errno.ENOTTY)
def call(name, nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(nr), *[
        ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    say(name, ctypes.get_errno() if r == -1 else 0)
    return r
def say(name, error):
    if error in OURS:
        print('denied', name, errno.errorcode[error])
    else:
        print('REACHED', name)
def tries(name, what):
    try: what()
    except OSError as e: say(name, e.errno)
    else: say(name, 0)
buf = ctypes.create_string_buffer(4096)
"""


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def both(self, script, controls):
        """The script in a neuron, where all is denied; and without layers,
        where those of controls are not."""
        r = self.i.call("python", {"code": START + script})
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        self.assertNotIn("REACHED", r["stdout"], r["stdout"])
        tried = re.findall(r"^denied (\S+)", r["stdout"], re.M)
        self.assertLessEqual(set(controls), set(tried), r)
        status, text = throwaway.python(START + script)
        reached = re.findall(r"^REACHED (\S+)", text, re.M)
        self.assertLessEqual(set(controls), set(reached), text)
        return r["stdout"]

    def test_016_write_to_proc(self):
        """Opened, never written: the control harms nobody."""
        self.both(r"""
for p in ('kernel/core_pattern', 'kernel/hostname', 'kernel/modprobe',
          'vm/drop_caches', 'net/ipv4/ip_forward'):
    if os.path.exists('/proc/sys/' + p):
        tries(p, lambda: os.open('/proc/sys/' + p, os.O_WRONLY))
if os.path.exists('/proc/sysrq-trigger'):
    tries('sysrq', lambda: os.open('/proc/sysrq-trigger', os.O_WRONLY))
""", ["kernel/core_pattern", "kernel/hostname"])

    def test_017_masks_are_there(self):
        """Each name that the host's /proc has is a mount of its own."""
        with open(os.path.join(TOP, "neurond", "native", "inside.c")) as f:
            rows = f.read().split("mask_rows[]")[1]
        names = [n for n in re.findall(r'\{ "([a-z._-]+)", [01] \}', rows)
                 if os.path.exists("/proc/" + n)]
        self.assertGreater(len(names), 4)
        points = [l.split()[4] for l in self.i.bash(
            "cat /proc/self/mountinfo")["stdout"].splitlines()]
        for n in names:
            self.assertIn("/proc/" + n, points)

    def test_019_a_program_of_ours(self):
        """By its own fd, by a script that names /proc/self/exe."""
        names = ["neurond/spawner", "neurond/neuron-tool",
                 "neurond/neurond"]

        def sums():
            found = []
            for n in names:
                with open(os.path.join(BUILD, n), "rb") as f:
                    found.append(hashlib.sha256(f.read()).hexdigest())
            return found
        before = sums()
        self.both(r"""
fd = os.open('/etc/passwd', os.O_RDONLY)
tries('by-fd', lambda: os.open('/proc/self/fd/%d' % fd, os.O_WRONLY))
tries('truncate-by-fd', lambda: os.truncate('/proc/self/fd/%d' % fd, 100))
with open('/tmp/script', 'w') as f: f.write('#!/proc/self/exe\n')
os.chmod('/tmp/script', 0o755)
pid = os.fork()
if pid == 0:
    null = os.open('/dev/null', os.O_RDWR)
    for n in (0, 1, 2): os.dup2(null, n)
    try: os.execv('/tmp/script', ['x'])
    except OSError: os._exit(9)
os.waitpid(pid, 0)
for n in os.listdir('/proc/self/fd'):
    try: p = os.readlink('/proc/self/fd/' + n)
    except OSError: continue
    if 'memfd' in p or p.endswith(('spawner', 'neuron-tool')):
        tries(p, lambda: os.open('/proc/self/fd/' + n, os.O_WRONLY))
""", ["by-fd", "truncate-by-fd"])
        self.assertEqual(sums(), before)

    def test_024_its_own_pipes(self):
        """Opened again they are what they are: pipes of this call."""
        r = self.i.bash("echo one | tee /dev/stderr /proc/self/fd/1; "
                        "exec 5<>/proc/self/fd/1; echo two >&5")
        self.assertEqual((r["stdout"], r["stderr"]),
                         ("one\none\ntwo\n", "one\n"), r)
        look = ("import os, stat\n"
                "print([stat.S_IFMT(os.fstat(f).st_mode) in (stat.S_IFIFO, "
                "stat.S_IFCHR) and not os.isatty(f) for f in (0, 1, 2)])")
        r = self.i.call("python", {"code": look})
        self.assertEqual(r["stdout"], "[True, True, True]\n", r)
        # the control: a file shows as one
        with tempfile.TemporaryFile() as f:
            subprocess.run([sys.executable, "-c", look], stdout=f,
                           check=True)
            f.seek(0)
            self.assertIn(b"False", f.read())

    def test_025_descriptors_sent_in(self):
        look = r"""
import socket, sys
for fd in 0, 1, 2:
    try:
        s = socket.socket(fileno=fd)
        print('GOT', len(socket.recv_fds(s, 10, 10)[1]))
    except OSError as e: print(fd, e.errno)
"""
        r = self.i.call("python", {"code": look})
        self.assertEqual(r["stdout"], "0 88\n1 88\n2 88\n", r)
        # the control: by a socket one comes in
        ours, its = socket.socketpair()
        with ours, its, open("/dev/null") as f:
            socket.send_fds(ours, [b"x"], [f.fileno()])
            out = subprocess.run([sys.executable, "-c", look], stdin=its,
                                 stdout=subprocess.PIPE).stdout
        self.assertIn(b"GOT 1", out)

    def test_032_io_uring(self):
        self.both(r"""
fd = call('setup', 425, 4, buf)
call('enter', 426, fd, 0, 0, 0, 0, 0)
call('register', 427, fd, 0, 0, 0)
""", [])
        # a host may have switched it off: then there is nothing to deny
        status, text = throwaway.python(
            START + "call('setup', 425, 4, buf)")
        if "denied setup" in text:
            self.skipTest("this host has no io_uring: " + text)

    def test_033_memory_bpf_and_keys(self):
        self.both(r"""
call('userfaultfd', 323 if X86 else 282, 1)
attr = ctypes.create_string_buffer(struct.pack('=IIII', 2, 4, 4, 1), 128)
call('bpf', 321 if X86 else 280, 0, attr, 128)
perf = ctypes.create_string_buffer(struct.pack('=IIQ', 1, 128, 0), 128)
call('perf', 298 if X86 else 241, perf, 0, -1, -1, 0)
nr = 250 if X86 else 219
call('keyctl', nr, 1, 0)
call('keyctl-high', nr, 1 << 32 | 1, 0)
call('add_key', 248 if X86 else 217, b'user', b'myelin', b'x', 1, -1)
call('request_key', 249 if X86 else 218, b'user', b'myelin-none', 0, 0)
""", ["bpf", "keyctl", "keyctl-high", "add_key", "request_key"])

    def test_034_file_handles(self):
        self.both(r"""
h = ctypes.create_string_buffer(struct.pack('=Ii', 128, 0), 256)
mount = ctypes.c_int()
call('name_to_handle_at', 303 if X86 else 264, -100, b'/usr', h,
     ctypes.byref(mount), 0)
fd = os.open('/usr', os.O_RDONLY)
call('open_by_handle_at', 304 if X86 else 265, fd, h, 0)
""", ["name_to_handle_at", "open_by_handle_at"])

    def test_037_what_reaches_into_the_kernel(self):
        """Those that do no harm where they work."""
        self.both(r"""
import fcntl
call('personality-exec', 135 if X86 else 92, 0x0400000)
call('personality-random', 135 if X86 else 92, 0x0040000)
call('syslog', 103 if X86 else 116, 10, 0, 0)
if X86:
    call('modify_ldt', 154, 0, buf, 16)
    call('iopl', 172, 0)
call('swapon', 167 if X86 else 224, b'/nowhere', 0)
call('quotactl_fd', 443, 0, 0x80000700, 0, 0)
call('init_module', 175 if X86 else 105, buf, 4, b'')
for ns in ('uts', 'ipc', 'net'):
    fd = os.open('/proc/self/ns/' + ns, os.O_RDONLY)
    call('setns-' + ns, 308 if X86 else 268, fd, 0)
fd = os.open('/proc/self/ns/pid', os.O_RDONLY)
tries('NS_GET_PARENT', lambda: fcntl.ioctl(fd, 0xb702))
tries('NS_GET_USERNS', lambda: fcntl.ioctl(fd, 0xb701))
pid = os.pidfd_open(os.getpid())
tries('PIDFD_GET_NET', lambda: fcntl.ioctl(pid, 0xff04))
""", ["personality-exec", "personality-random", "syslog", "swapon",
            "setns-uts", "setns-ipc", "setns-net", "NS_GET_USERNS"])

    def test_039_a_filter_of_its_own(self):
        """A browser's: it can narrow, and widens nothing."""
        r = self.i.call("python", {"code": START + r"""
def load(*rows):
    prog = b''.join(struct.pack('=HBBI', *r) for r in rows)
    b = ctypes.create_string_buffer(prog)
    p = ctypes.create_string_buffer(struct.pack('=HxxxxxxQ', len(rows),
                                    ctypes.addressof(b)))
    r = libc.prctl(22, 2, p, 0, 0)
    print('load', r)
# all is allowed; then: all but getppid
load((6, 0, 0, 0x7fff0000))
call('unshare', 272 if X86 else 97, 0x10000000)
call('bpf', 321 if X86 else 280, 0, buf, 128)
nr = 110 if X86 else 173
load((0x20, 0, 0, 0), (0x15, 0, 1, nr), (6, 0, 0, 0x00050000 | 13),
     (6, 0, 0, 0x7fff0000))
call('getppid', nr)
with open('/proc/self/status') as f:
    print([l for l in f if l.startswith('Seccomp:')])
"""})
        self.assertEqual(r["stdout"].splitlines(), [
            "load 0", "denied unshare EPERM", "denied bpf EPERM", "load 0",
            "denied getppid EACCES", "['Seccomp:\\t2\\n']"], r)

    def test_061_priorities(self):
        """Of time, of cores, of disks, and of who dies first."""
        said = self.both(r"""
tries('nice', lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
tries('fifo', lambda: os.sched_setscheduler(0, os.SCHED_FIFO,
      os.sched_param(1)))
attr = ctypes.create_string_buffer(struct.pack('=IIQiIQQQ', 48, 6, 0, 0, 0,
    10000000, 20000000, 30000000), 64)
call('deadline', 314 if X86 else 274, 0, attr, 0)
call('ioprio', 251 if X86 else 30, 1, 0, 1 << 13 | 4)
def oom():
    with open('/proc/self/oom_score_adj', 'w') as f: f.write('-1000')
tries('oom', oom)
tries('affinity', lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
""", ["affinity"])
        self.assertEqual(said.count("denied"), 6, said)

    def test_072_nothing_inside_decides(self):
        """No way to the service's own sockets, and none around the layers by
        another name of a program."""
        r = self.i.call("python", {"code": START + r"""
import socket, subprocess
for p in sys.argv[1:] or %r:
    tries(p, lambda: os.stat(p) and None)
    def connect():
        s = socket.socket(socket.AF_UNIX)
        s.connect(p)
    tries('connect', connect)
look = 'import re; print(re.findall("Seccomp:.*|NoNewPrivs:.*", ' \
    'open("/proc/self/status").read()))'
exe = os.path.realpath('/usr/bin/python3')
for argv in ([exe], ['/proc/self/root' + exe],
             [next(p for p in ('/lib64/ld-linux-x86-64.so.2',
                               '/lib/ld-linux-aarch64.so.1')
                   if os.path.exists(p)), exe]):
    print(subprocess.run(argv + ['-c', look], stdout=subprocess.PIPE,
                         text=True).stdout, end='')
""" % [self.i.api, self.i.operator, "/run/myelin/api.sock",
            "/run/myelin/operator.sock"]})
        lines = r["stdout"].splitlines()
        self.assertEqual(lines.count("denied connect EAFNOSUPPORT"), 4, r)
        self.assertEqual(lines.count("['NoNewPrivs:\\t1', 'Seccomp:\\t2']"),
                         3, r)
        # a name that is not there: the kernel says so, and it is none of ours
        self.assertEqual(sum(l.startswith("REACHED /") for l in lines), 4, r)
        r = self.i.bash("ls -d '%s' '%s'" % (self.i.api, self.i.operator))
        self.assertEqual(r["stdout"], "", r)
        # the control: on the host both answer
        self.assertEqual(self.i.get("/v1/whoami")[0], 200)
        self.assertEqual(self.i.get("/v1/status", operator=True)[0], 200)

    def test_073_a_second_program(self):
        """The same filter for each call, from memory of neurond's."""
        s = self.i.session()
        look = {"code": "import re\nprint(re.findall('(?:Seccomp|NoNew|Cap"
                "|Shd).*', open('/proc/self/status').read()))"}
        first = self.i.call("python", look, session=s)["stdout"]
        self.i.call("python", {"code":
            "import os\n"
            "for n in ('seccomp', 'filter', '.config'):\n"
            "  open(os.path.expanduser('~/' + n), 'w').write('allow')"},
            session=s)
        for _ in range(3):
            self.assertEqual(self.i.call("python", look, session=s)["stdout"],
                             first)
        self.assertIn("Seccomp:\\t2", first)
        self.assertIn("Seccomp_filters:\\t2", first)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_074_shared_files(self):
        """/usr is the host's, seen to be used and locked; that, and what the
        template holds, is the same for everybody: nothing of a principal."""
        r = self.i.call("python", {"code": START + r"""
import fcntl
fd = libc.inotify_init()
print(libc.inotify_add_watch(fd, b'/usr/bin/true', 0x20) > 0)
fcntl.flock(os.open('/usr/bin/true', os.O_RDONLY),
            fcntl.LOCK_SH | fcntl.LOCK_NB)
tries('write', lambda: os.open('/usr/bin/true', os.O_WRONLY))
"""})
        self.assertRegex(r["stdout"], r"^True\ndenied write E\w+\n$", r)
        look = ("find /etc /dev /run /var -xdev ! -path '/dev/pts*' "
                "! -path '/dev/shm*' -printf '%p %i %l %s\\n' 2>&1 | "
                "sort | sha256sum")
        a, b = (self.i.bash(look)["stdout"] for _ in range(2))
        self.assertEqual(a, b)
        with open(os.path.join(TOP, "SECURITY.md")) as f:
            said = f.read().split("## Not claimed")[1]
        self.assertIn("with\n  inotify sees", said)


if __name__ == "__main__":
    unittest.main()
