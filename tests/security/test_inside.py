"""What a program in a neuron sees and can do, told from the inside."""
import os
import socket
import unittest

import footprint
from harness import Instance, descendants_of, wait_for


class Inside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.canary = "canary-%s" % os.urandom(8).hex()
        os.environ["MYELIN_TEST_CANARY"] = cls.canary
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def ok(self, command, **more):
        r = self.i.bash(command, **more)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def test_ids(self):
        self.assertEqual(self.ok("id -u; id -g; whoami"),
                         "1000\n1000\nagent\n")
        self.assertNotIn(" 0(", self.ok("id"))

    def test_privileges(self):
        text = self.ok("cat /proc/self/status")
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertRegex(text, name + ":\t0{16}")
        self.assertRegex(text, r"Groups:\t[^1-9]*\n")

    def test_securebits(self):
        """Root's uid would mean nothing, and that can't be changed."""
        noroot, no_fixup, no_ambient = 0x03, 0x0c, 0xc0
        r = self.i.call("python", {"code":
            "import ctypes; print(ctypes.CDLL(None).prctl(27, 0, 0, 0, 0))"})
        want = noroot | no_fixup | no_ambient
        self.assertEqual(int(r["stdout"]) & want, want, r)

    def test_rlimits(self):
        """No core to a host's handler, no locked memory, bounded files."""
        r = self.i.call("python", {"code":
            "from resource import *\n"
            "for w in (RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE,"
            " RLIMIT_RTPRIO, RLIMIT_NOFILE): print(*getrlimit(w))"})
        rows = [[int(v) for v in l.split()]
                for l in r["stdout"].splitlines()]
        for most, row in zip((1, 0, 0, 0, 1 << 20), rows):
            for value in row:
                self.assertTrue(0 <= value <= most, (most, rows))
        self.assertEqual(len(rows), 5, r)

    def test_namespaces_are_its_own(self):
        for kind in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
            path = "/proc/self/ns/" + kind
            self.assertNotEqual(os.readlink(path),
                                self.ok("readlink " + path).strip(), kind)

    def test_no_new_privs(self):
        self.assertIn("NoNewPrivs:\t1", self.ok("cat /proc/self/status"))

    def test_seccomp(self):
        self.assertIn("Seccomp:\t2", self.ok("cat /proc/self/status"))

    def test_landlock(self):
        """A socket's name in /tmp: mounts, ids and the filter allow it."""
        r = self.i.call("python", {"code":
            "import os, stat\n"
            "for d in ('/tmp', '/dev/shm', '/home/agent'):\n"
            "  try: os.mknod(d + '/s', stat.S_IFSOCK | 0o600)\n"
            "  except PermissionError as e: print(e.errno)\n"
            "  else: print('made', d)"})
        self.assertEqual(r["stdout"], "13\n13\n13\n", r)

    def test_socket_families(self):
        """Internet and the routing of its own lo; all else is refused."""
        r = self.i.call("python", {"code":
            "import socket\n"
            "for family, kind in ((1, 1), (1, 2), (17, 3), (38, 5), (40, 1)):"
            "\n  try: socket.socket(family, kind)\n"
            "  except OSError as e: print(e.errno)\n"
            "  else: print('made', family)"})
        self.assertEqual(r["stdout"], "97\n" * 5, r)

    def test_namespaces_are_the_filters_to_refuse(self):
        """EPERM: the kernel itself would say ENOSPC, its limit being 0."""
        r = self.i.call("python", {"code":
            "import ctypes, os\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "print(libc.unshare(0x10000000), ctypes.get_errno())\n"
            "clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
            "pid = libc.syscall(clone, 0x10000011, 0, 0, 0, 0)\n"
            "if pid == 0: os._exit(0)\n"
            "print(pid, ctypes.get_errno())"})
        self.assertEqual(r["stdout"], "-1 1\n-1 1\n", r)

    def test_no_namespace_fits(self):
        """And without a filter: its user namespace counts none below it."""
        self.assertEqual(set(self.ok(
            "cat /proc/sys/user/max_*_namespaces").split()), {"0"})

    def test_mount_flags(self):
        """No set-id and no device anywhere; what is not for it read-only."""
        for line in self.ok("cat /proc/self/mountinfo").splitlines():
            point, flags = line.split()[4], line.split()[5].split(",")
            self.assertIn("nosuid", flags, line)
            if not point.startswith(("/dev", "/proc/")):
                self.assertIn("nodev", flags, line)
            if point not in ("/proc", "/tmp", "/dev/shm", "/dev/pts",
                             "/home/agent"):
                self.assertIn("ro", flags, line)

    def test_pids_are_its_own(self):
        pids = [int(p) for p in self.ok(
            "ls /proc | grep -E '^[0-9]+$'").split()]
        self.assertLess(max(pids), 1000)
        self.assertLess(len(pids), 8)
        self.assertNotEqual(os.readlink("/proc/self/ns/pid"),
                            self.ok("readlink /proc/self/ns/pid").strip())

    def test_pid_1_is_not_seen(self):
        self.assertNotIn("1", self.ok("ls /proc").split())

    def test_hostname_is_not_the_hosts(self):
        self.assertNotEqual(self.ok("uname -n").strip(),
                            socket.gethostname())

    def test_network_is_lo_alone(self):
        lines = self.ok("sed 1,2d /proc/net/dev").splitlines()
        self.assertEqual([l.split(":")[0].strip() for l in lines], ["lo"])
        self.assertEqual(self.ok("sed 1d /proc/net/route"), "")
        # and it is not the host's, which may have no more than lo either
        self.assertNotEqual(os.readlink("/proc/self/ns/net"),
                            self.ok("readlink /proc/self/ns/net").strip())

    def test_lo_works(self):
        self.assertEqual(self.ok("""python3 - <<'E'
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: s.accept()[0].sendall(b"x")).start()
print(socket.create_connection(s.getsockname()).recv(1))
E"""), "b'x'\n")

    def test_a_listener_of_the_host_is_out_of_reach(self):
        """And the same connect works on the host: the control."""
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
            socket.create_connection(("127.0.0.1", port)).close()
            s.accept()[0].close()
            # in code that the judge does not follow: the neuron alone refuses
            r = self.i.call("python", {"code":
                "import socket\n"
                "socket.create_connection(('127.0.0.1', %d))" % port})
            self.assertEqual(r["state"], "completed", r)
            self.assertNotEqual(r["exit_code"], 0)
            s.settimeout(0.2)
            self.assertRaises(TimeoutError, s.accept)

    def test_an_abstract_socket_of_the_host_is_out_of_reach(self):
        with socket.socket(socket.AF_UNIX) as s:
            name = "\0myelin-test-%d" % os.getpid()
            s.bind(name)
            s.listen()
            c = socket.socket(socket.AF_UNIX)
            c.connect(name)
            c.close()
            r = self.i.call("python", {"code":
                "import socket\n"
                "s = socket.socket(socket.AF_UNIX)\n"
                "s.connect(%r)" % name})
            self.assertNotEqual(r["exit_code"], 0)

    def test_environment_is_built_from_nothing(self):
        env = self.ok("env")
        self.assertNotIn(self.canary, env)
        names = {l.split("=", 1)[0] for l in env.splitlines()}
        self.assertLessEqual(names, {
            "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TERM", "TZ",
            "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "MYELIN_NEURON",
            "MYELIN_SESSION", "MYELIN_CALL"})

    def test_a_crash_starts_no_core_handler(self):
        """The kernel starts a handler at any limit but 1, also at 0."""
        r = self.i.call("python", {"code":
            "import os, resource\n"
            "print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)\n"
            "os.abort()"})
        self.assertEqual(r["stdout"], "(1, 1)\n", r)
        self.assertEqual((r["reason"], r["signal"]), ("signalled", "ABRT"), r)
        r = self.i.bash("sh -c 'kill -SEGV $$'; echo $?; ls -A")
        self.assertEqual(r["stdout"], "139\n", r)

    def test_no_environment_of_pid_1(self):
        r = self.i.bash("cat /proc/1/environ")
        self.assertNotEqual(r["exit_code"], 0)

    def test_home_and_root_are_not_the_hosts(self):
        self.assertEqual(self.ok("ls /home"), "agent\n")
        self.assertEqual(self.i.bash("ls /root /srv /var/lib /boot /mnt")
                         ["stdout"].replace("\n", ""), "")
        for path in ("/root", "/etc/shadow", "/var/lib/myelin", "/boot",
                     "/sys", self.i.dir):
            # "/..": what a mount on top of the root would show
            for name in (path, "/.." + path):
                r = self.i.bash("ls -d '%s'" % name)
                self.assertIn("No such file", r["stderr"], name)

    def test_etc_is_the_list_and_no_more(self):
        have = set(self.ok("ls /etc").split())
        allowed = {"passwd", "group", "hosts", "hostname", "nsswitch.conf",
                   "resolv.conf", "alternatives", "ssl", "ca-certificates",
                   "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
                   "mime.types", "ca-certificates.conf"}
        self.assertEqual({n for n in have - allowed
                          if not n.startswith(("python3", "java-"))}, set())
        self.assertLessEqual({"passwd", "group", "hosts", "hostname",
                              "nsswitch.conf", "resolv.conf"}, have)

    def test_read_only(self):
        for path in ("/", "/usr", "/etc", "/dev", "/usr/bin", "/run"):
            r = self.create(path)
            # not "Permission denied", which is another layer's
            self.assertIn("Read-only file system", r["stderr"], path)
        r = self.create("/proc")
        self.assertEqual(r["state"], "completed", r)
        self.assertNotEqual(r["exit_code"], 0)

    def create(self, path):
        """In code that the judge does not follow."""
        return self.i.call("python", {"code":
            "import os\n"
            "d = os.open(%r, os.O_PATH)\n"
            "os.open('myelin-test', os.O_CREAT | os.O_WRONLY, dir_fd=d)" %
            path})

    def test_writable(self):
        for path in ("/tmp", "/dev/shm", "/home/agent", "/var/tmp"):
            self.ok("echo x > %s/f && rm %s/f" % (path, path))

    def test_tmp_runs_programs_and_no_set_ids(self):
        self.ok("cp /bin/true /tmp/t && /tmp/t")
        # in Python: the judge does not let a shell's chmod come that far
        for d in ("/tmp", "/home/agent"):
            r = self.i.call("python", {"code":
                "import os, shutil\n"
                "shutil.copy('/bin/true', '%s/t')\n"
                "os.chmod('%s/t', 0o755)\n"
                "print('control', flush=True)\n"
                "for bits in 0o4755, 0o2755, 0o6755:\n"
                "  try: print(os.chmod('%s/t', bits), flush=True)\n"
                "  except PermissionError: print('refused')" % (d, d, d)})
            self.assertEqual(r["stdout"], "control\n" + "refused\n" * 3, r)

    def test_fds(self):
        self.assertEqual(self.i.call("python", {"code":
            "import os; print(sorted(int(f) for f in "
            "os.listdir('/proc/self/fd') if int(f) < 3))\n"
            "fds = [f for f in os.listdir('/proc/self/fd')]\n"
            "for f in fds:\n"
            "  try: print(f, os.readlink('/proc/self/fd/' + f).split(':')[0])"
            "\n  except OSError: pass"})["stdout"].split("\n")[0],
            "[0, 1, 2]")
        listing = self.i.call("exec", {"argv": ["ls", "-l",
                                                "/proc/self/fd"]})["stdout"]
        fds = [l.split()[-3] for l in listing.splitlines() if "->" in l]
        # ls itself has the directory open
        self.assertEqual(fds, ["0", "1", "2", "3"])

    def test_stdio_can_be_opened_again(self):
        self.assertEqual(self.ok("echo x > /dev/stdout; echo y >/dev/fd/1"),
                         "x\ny\n")

    def test_devices(self):
        have = set(self.ok("ls /dev").split())
        self.assertEqual({d for d in have if d not in (
            "fd", "stdin", "stdout", "stderr", "shm", "pts", "ptmx")},
            {"null", "zero", "full", "random", "urandom", "tty"})

    def test_mounts_name_no_host_path(self):
        text = self.ok("cat /proc/self/mountinfo /proc/self/cgroup")
        self.assertNotIn(self.i.dir, text)
        self.assertNotIn(self.i.status()["instance"], text)
        self.assertNotRegex(text, "n-[0-9]+-[0-9]+")
        self.assertNotRegex(text, "n-[0-9a-z]{20}")
        for line in text.splitlines():
            if " - " in line:
                self.assertNotIn("shared:", line)
                self.assertNotIn("master:", line)

    def test_proc_leaks_are_masked(self):
        for name in ("kcore", "kallsyms", "keys", "config.gz", "cmdline",
                     "timer_list", "sysvipc", "partitions", "interrupts",
                     "modules"):
            r = self.i.bash("find /proc/%s -type f -exec cat {} +" % name)
            self.assertEqual(r["bytes"]["stdout"], 0, name)

    def test_tools_work(self):
        for command in ("awk 'BEGIN { print 1 }'", "which cc", "cc --version",
                        "whoami", "git --version", "perl -e 'print 1'",
                        "test -s /etc/ssl/certs/ca-certificates.crt",
                        "python3 -c 'import ssl; assert "
                        "ssl.create_default_context().cert_store_stats()"
                        "[\"x509_ca\"] > 0'",
                        "python3 -c 'import multiprocessing as m; m.Lock()'",
                        "date", "getent passwd agent", "getent hosts "
                        "localhost"):
            self.ok(command)

    def test_two_neurons_do_not_meet(self):
        """Neither files, pids nor network of another neuron."""
        a, b = self.i.session(), self.i.session()
        self.i.bash("echo secret > /tmp/s; echo secret > ~/s", session=a)
        status, call = self.i.request("POST", "/v1/sessions/%s/calls" % a, {
            "tool": "python", "timeout_ms": 600000, "args": {"code":
                "import socket,time\n"
                "s = socket.create_server(('127.0.0.1', 7777))\n"
                "print('up', flush=True)\ntime.sleep(300)"}})
        r = self.i.bash("ls /tmp /home/agent; ps -e 2>/dev/null | wc -l",
                        session=b)
        self.assertEqual(r["state"], "completed", r)
        self.assertNotIn("secret", r["stdout"])
        self.assertNotIn("s\n", r["stdout"])
        connect = ("import socket\n"
                   "socket.create_connection(('127.0.0.1', 7777))")
        # where it listens it can be reached: the control
        wait_for(lambda: self.i.call("python", {"code": connect}, session=a)[
            "exit_code"] == 0, 60)
        r = self.i.call("python", {"code": connect}, session=b)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 1), r)
        for s in (a, b):
            self.i.request("DELETE", "/v1/sessions/" + s)

    def test_renames_between_directories(self):
        """What Landlock has is whole, the domain of each call with it."""
        self.assertEqual(self.ok("""for d in /tmp ~ /dev/shm; do
cd $d && mkdir -p one/in two && echo text >one/in/file
python3 -c 'import os
os.rename("one/in/file", "two/file"); os.link("two/file", "one/link")
os.rename("one/in", "two/in")'
cat one/link; ls two; done"""), "text\nfile\nin\n" * 3)

    def test_calls_do_not_signal_each_other(self):
        """Two calls of one neuron have one uid: Landlock keeps them apart."""
        s = self.i.session()
        if "landlock-scopes" not in self.i.bash("true", session=s)["layers"]:
            self.skipTest("this kernel's Landlock has no scopes")
        status, call = self.i.request("POST", "/v1/sessions/%s/calls" % s, {
            "tool": "bash", "timeout_ms": 600000, "args": {
                "command": "echo $$ >/tmp/new; mv /tmp/new /tmp/pid;"
                "exec sleep 300"}})
        r = self.i.call("python", {"code":
            "import os, time\n"
            "end = time.monotonic() + 40\n"
            "while not os.path.exists('/tmp/pid') and time.monotonic() < end:\n"
            "  time.sleep(0.05)\n"
            "try: os.kill(int(open('/tmp/pid').read()), 0)\n"
            "except PermissionError: print('refused')"}, session=s)
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.assertEqual(r["stdout"], "refused\n", r)

    def test_kuids_differ_and_are_nobody(self):
        """Outside, each neuron runs as a uid of its own, never a user's."""
        for _ in range(2):
            s = self.i.session()
            status, call = self.i.request(
                "POST", "/v1/sessions/%s/calls" % s,
                {"tool": "exec", "args": {"argv": ["sleep", "600"]},
                 "timeout_ms": 600000})
            self.assertEqual(status, 202, call)

        def sleepers():
            pids = [p for p in descendants_of(self.i.process.pid) if
                    footprint.read("/proc/%d/cmdline" % p) ==
                    "sleep\x00600\x00"]
            return len(pids) == 2 and pids
        seen = {footprint.uid_of(p) for p in wait_for(sleepers, 60)}
        self.assertEqual(len(seen), 2, seen)
        for uid in seen:
            self.assertGreater(uid, 100000)
        self.assertEqual(self.ok("id -u"), "1000\n")
        for s in self.i.get("/v1/sessions")[1]["sessions"]:
            self.i.request("DELETE", "/v1/sessions/" + s["session"])


if __name__ == "__main__":
    unittest.main()
