"""Debian's tools in a neuron, each for real, and what myelind(8) says of those
that don't work there.  What this host lacks is skipped by name."""
import glob
import os
import re
import shutil
import unittest

from harness import CONFIG, TOP, Instance, Workspace

PAGE = os.path.join(TOP, "man", "myelind.8")
SECTION = "WHAT DOES NOT WORK IN A NEURON"

MAKEFILE = """\
CFLAGS = -O1 -Wall -Werror
answer: main.o times.o libadd.a
\t$(CC) -o $@ $^
libadd.a: add.o
\t$(AR) rcs $@ $^
check: answer
\ttest "`./answer 6 7`" = 42
"""

PROGRAM = {
    "Makefile": MAKEFILE,
    "calc.h": "int add(int, int);\nint times(int, int);\n",
    "add.c": '#include "calc.h"\nint\nadd(int a, int b)\n{\n'
             "\treturn (a + b);\n}\n",
    "times.c": '#include "calc.h"\nint\ntimes(int a, int b)\n{\n'
               "\tint i, n = 0;\n\n\tfor (i = 0; i < b; i++)\n"
               "\t\tn = add(n, a);\n\treturn (n);\n}\n",
    "main.c": '#include <stdio.h>\n#include <stdlib.h>\n#include "calc.h"\n'
              "int\nmain(int argc, char **argv)\n{\n\tif (argc != 3)\n"
              '\t\treturn (1);\n\tprintf("%d\\n", times(atoi(argv[1]), '
              "atoi(argv[2])));\n\treturn (0);\n}\n",
}

MULTIPROCESSING = """
import concurrent.futures, multiprocessing as m, multiprocessing.shared_memory
def square(x):
    return x * x
def put(q, lock, value):
    with lock:
        value.value += 1
    q.put(value.value)
if __name__ == '__main__':
    with m.Pool(2) as p:
        print(p.map(square, range(5)))
    q, lock, value = m.Queue(), m.Lock(), m.Value("i", 40)
    for _ in range(2):
        p = m.Process(target=put, args=(q, lock, value))
        p.start()
        p.join()
    print(value.value, q.get(), q.get())
    a = m.shared_memory.SharedMemory(create=True, size=100)
    a.buf[0] = 7
    b = m.shared_memory.SharedMemory(a.name)
    print(b.buf[0])
    b.close()
    a.close()
    a.unlink()
    spawn = m.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as p:
        print(list(p.map(abs, [-1, 2])))
"""

ASYNCIO = """
import asyncio
async def answer(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()
async def main():
    p = await asyncio.create_subprocess_exec("/bin/cat", stdin=-1, stdout=-1)
    print(await p.communicate(b"through a pipe"), p.returncode)
    for host in "127.0.0.1", "::1":
        s = await asyncio.start_server(answer, host, 0)
        r, w = await asyncio.open_connection(*s.sockets[0].getsockname()[:2])
        w.write(b"hello\\n")
        print(await r.read())
    print(await asyncio.to_thread(sum, [40, 2]))
    print(await asyncio.gather(*(asyncio.sleep(0.01, n) for n in range(3))))
asyncio.run(main())
"""

NODE = """
const { Worker } = require("worker_threads");
const { execFileSync, fork } = require("child_process");
const fs = require("fs"), http = require("http");
if (process.argv[2] === "child") {
    process.on("message", n => { process.send(n * 2); process.exit(); });
} else (async () => {
    const memory = new Int32Array(new SharedArrayBuffer(4));
    await Promise.all([1, 2].map(n => new Promise((done, failed) => {
        const w = new Worker("const { workerData: a } = " +
            "require('worker_threads'); for (let i = 0; i < 1000; i++)" +
            "Atomics.add(a, 0, 1);", { eval: true, workerData: memory });
        w.on("exit", done);
        w.on("error", failed);
    })));
    console.log("workers", memory[0]);
    const child = fork(__filename, ["child"]);
    child.send(21);
    console.log("fork", await new Promise(f => child.on("message", f)));
    console.log("exec", String(execFileSync("/bin/echo", ["hi"])).trim());
    await fs.promises.writeFile("n.txt", "written");
    console.log("file", await fs.promises.readFile("n.txt", "utf8"));
    const server = http.createServer((q, a) => a.end("served"));
    await new Promise(f => server.listen(0, "127.0.0.1", f));
    const answer = await fetch("http://127.0.0.1:" + server.address().port);
    console.log("http", await answer.text());
    server.close();
    console.log(crypto.randomUUID().length);
    process.exit();
})();
"""

PERL = """
use strict; use warnings; use threads; use Socket; use IO::Socket::INET;
use Digest::SHA qw(sha256_hex); use File::Temp qw(tempfile);
my $t = threads->create(sub { return (6 * 7) });
print "thread ", $t->join, "\\n";
print "pipe ", `echo sub`;
socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die $!;
my $p = fork // die $!;
if ($p == 0) { syswrite $b, "child"; exit 3 }
sysread $a, my $said, 5;
waitpid $p, 0;
print "$said ", $? >> 8, "\\n";
my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $@;
my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1:" . $l->sockport) or die;
print "tcp ", ($l->accept ? 1 : 0), "\\n";
my ($f, $name) = tempfile; print $f "x"; close $f;
print "size ", -s $name, "\\n", substr(sha256_hex("abc"), 0, 8), "\\n";
"""

JAVA = """
import java.net.*;
import java.security.*;
import java.util.concurrent.*;
import java.util.stream.*;
public class Answer {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        System.out.println(pool.submit(() -> 6 * 7).get());
        pool.shutdown();
        System.out.println(IntStream.range(0, 1000).parallel().sum());
        byte[] d = MessageDigest.getInstance("SHA-256").digest(new byte[0]);
        System.out.printf("%02x%02x%n", d[0], d[1]);
        System.out.println(new SecureRandom().generateSeed(4).length);
        try (ServerSocket s = new ServerSocket(0, 1,
                InetAddress.getLoopbackAddress());
                Socket c = new Socket(s.getInetAddress(), s.getLocalPort())) {
            System.out.println(s.accept().isConnected());
        }
        Process p = new ProcessBuilder("/bin/echo", "sub").start();
        System.out.print(new String(p.getInputStream().readAllBytes()));
        System.gc();
        System.out.println(Runtime.getRuntime().availableProcessors() > 0);
    }
}
"""

# What the manual lists, by its words there: a command that shows it, the
# program that it needs, and what is said then.
REFUSED = {
    "Unix-domain sockets with a name": (
        ("tmux new -d true", "tmux", "Address family not supported"),
        ("ssh-agent -D", "ssh-agent", "Address family not supported"),
        ("gpg-agent --daemon", "gpg-agent", "Address family not supported"),
        ("gpg --batch --passphrase '' --quick-gen-key a@example.org", "gpg",
         "gpg-agent"),
        ("dbus-daemon --session --print-address", "dbus-daemon",
         "Address family not supported"),
        ("python3 -c 'import multiprocessing as m; m.Manager()'", "python3",
         "Address family not supported"),
        ("python3 -c 'import multiprocessing as m\n"
         "x = m.get_context(\"forkserver\")\n"
         "x.Process(target=print).start()'", "python3",
         "Address family not supported")),
    "Debuggers and tracers": (
        ("gdb -batch -ex run /bin/true", "gdb", "ptrace"),
        ("strace true", "strace", "Operation not permitted"),
        ("perf stat true", "perf", "")),
    "Containers and namespaces": (
        ("unshare true", "unshare", "Operation not permitted"),
        ("bwrap --ro-bind / / true", "bwrap", "namespace"),
        ("mount -t tmpfs none /tmp", "mount", "must be superuser"),
        ("chroot / true", "chroot", "Operation not permitted")),
    "Other rights": (
        ("chmod u+s .", "chmod", "Operation not permitted"),
        ("mknod n c 1 3", "mknod", "Operation not permitted"),
        ("chown 0 .", "chown", "Invalid argument"),
        ("su -c true", "su", "")),
    "Installing packages": (
        ("touch /usr/bin/x", "touch", "Read-only file system"),
        ("apt-get install hello", "apt-get", "")),
    "Scheduling": (
        ("taskset -c 0 true", "taskset", "Operation not permitted"),
        ("chrt -f 1 true", "chrt", "Operation not permitted"),
        ("ionice -c 3 true", "ionice", "Operation not permitted")),
    "Looking at the machine": (
        ("lscpu", "lscpu", "/sys/devices"),
        ("ip link", "ip", ""),
        ("ss -tln", "ss", "Operation not permitted"),
        ("dmesg", "dmesg", "Operation not permitted")),
    "Configuration in /etc": (
        ("cat /etc/services", "cat", "No such file"),
        ("man ls", "man", "/etc/manpath.config"),
        ("mvn --version", "mvn", "m2.conf"),
        ("fc-match sans", "fc-match", "onfig")),
}

WORKS = {
    "nice": "nice -n 5 nice",
    "nproc": "nproc",
    "free": "free && cat /proc/net/tcp",
}

# ss says what it can't do, lists nothing, and exits with 0.
EXIT_0 = ("ss -tln", "fc-match sans")


def have(name):
    return shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin")


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def need(self, *names):
        for name in names:
            if have(name) is None:
                self.skipTest("%s is not installed on this host" % name)

    def finished(self, tool, args, session):
        r = self.i.call(tool, args, session=session, timeout_ms=300000)
        self.assertEqual((r["state"], r["reason"]), ("completed", None), r)
        return r

    def hidden(self, command, session):
        """In code that the judge does not follow."""
        return self.finished("python", {"code":
            "import os\n"
            "name = '/bin/' + ''.join(reversed('hsab'))\n"
            "os.execv(name, [name, '-c', bytes.fromhex(%r).decode()])" %
            command.encode().hex()}, session)


class Works(Base):
    """Each in a neuron of its own, with nothing but its home."""

    def setUp(self):
        self.s = self.i.session()

    def tearDown(self):
        self.i.request("DELETE", "/v1/sessions/" + self.s)

    def ok(self, r):
        self.assertEqual(r["exit_code"], 0, (r["stdout"], r["stderr"]))
        return r["stdout"]

    def bash(self, command):
        return self.ok(self.finished("bash", {"command": command}, self.s))

    def python(self, code):
        return self.ok(self.finished("python", {"code": code}, self.s))

    def put(self, path, text):
        self.ok(self.finished("write", {"path": path, "content": text},
                              self.s))

    def test_gcc_and_make(self):
        self.need("gcc", "make")
        self.bash("mkdir calc")
        for name, text in PROGRAM.items():
            self.put("calc/" + name, text)
        self.bash("cd calc && make -j4 check")
        self.assertEqual(self.bash("cd calc && ./answer 11 12"), "132\n")
        self.assertIn("up to date", self.bash("cd calc && make answer"))

    def test_git(self):
        self.need("git")
        self.bash("git init -q -b main repo && cd repo && "
                  "git config user.email a@example.org && "
                  "git config user.name A")
        self.put("repo/f", "one\n")
        self.bash("cd repo && git add f && git commit -q -m one && "
                  "git checkout -q -b side")
        self.put("repo/f", "one\ntwo\n")
        self.bash("cd repo && git commit -q -a -m two && git checkout -q main")
        self.put("repo/g", "three\n")
        self.bash("cd repo && git add g && git commit -q -m three && "
                  "git merge -q -m merged side && git tag v1")
        self.assertEqual(self.bash("cd repo && git log --format=%s"),
                         "merged\nthree\ntwo\none\n")
        self.bash("git clone -q repo copy && git -C copy fsck && "
                  "git -C copy gc -q")
        self.assertEqual(self.bash("cd copy && cat f g && git describe --tags && "
                                   "git status --short"),
                         "one\ntwo\nthree\nv1\n")

    def test_venv(self):
        self.need("python3")
        if not glob.glob("/usr/lib/python3*/ensurepip"):
            self.skipTest("python3-venv is not installed on this host")
        out = self.bash("python3 -m venv v && v/bin/python -c "
                        "'import sys; print(sys.prefix)' && "
                        "v/bin/pip --version")
        self.assertTrue(out.startswith("/home/agent/v\npip "), out)

    def test_multiprocessing(self):
        self.need("python3")
        self.put("m.py", MULTIPROCESSING)
        self.assertEqual(self.bash("python3 m.py"),
                         "[0, 1, 4, 9, 16]\n42 41 42\n7\n[1, 2]\n")

    def test_asyncio(self):
        self.need("python3")
        self.assertEqual(self.python(ASYNCIO),
                         "(b'through a pipe', None) 0\nb'HELLO\\n'\n"
                         "b'HELLO\\n'\n42\n[0, 1, 2]\n")

    def test_node(self):
        self.need("node")
        self.put("n.js", NODE)
        self.assertEqual(self.bash("node n.js"),
                         "workers 2000\nfork 42\nexec hi\nfile written\n"
                         "http served\n36\n")

    def test_perl(self):
        self.need("perl")
        self.put("p.pl", PERL)
        self.assertEqual(self.bash("perl p.pl"),
                         "thread 42\npipe sub\nchild 3\ntcp 1\nsize 1\n"
                         "ba7816bf\n")

    def test_tar(self):
        self.need("tar")
        self.bash("mkdir -p t/d out && echo 1 >t/d/a && ln -s a t/d/link && "
                  "ln t/d/a t/d/hard && mkfifo t/fifo && chmod 640 t/d/a")
        for option, program in (("-z", "gzip"), ("-j", "bzip2"),
                                ("-J", "xz"), ("--zstd", "zstd")):
            if have(program) is None:
                continue
            with self.subTest(option):
                out = self.bash("tar -c %s -f x.tar t && rm -r out && "
                                "mkdir out && tar -x %s -f x.tar -C out && "
                                "diff -r --no-dereference t/d out/t/d && "
                                "stat -c '%%a %%h %%F' out/t/d/a out/t/fifo" %
                                (option, option))
                self.assertEqual(out, "640 2 regular file\n644 1 fifo\n")

    def test_sqlite3(self):
        self.need("sqlite3")
        out = self.bash("sqlite3 x.db 'PRAGMA journal_mode=WAL; "
                        "CREATE TABLE t(a); BEGIN; INSERT INTO t VALUES(40),"
                        "(2); COMMIT; SELECT sum(a) FROM t; VACUUM; "
                        "PRAGMA integrity_check;'")
        self.assertEqual(out, "wal\n42\nok\n")

    def test_ripgrep(self):
        self.need("rg")
        self.bash("mkdir -p q/.git q/d && echo a needle >q/d/a && "
                  "echo hay >q/b && echo d >q/.gitignore")
        self.assertEqual(self.bash("rg -uun needle q"), "q/d/a:1:a needle\n")
        self.assertEqual(self.bash("rg -j2 --files q"), "q/b\n")

    def test_jvm(self):
        self.need("java")
        version = self.finished("bash", {"command": "java -version"}, self.s)
        self.assertIn("VM", self.ok(version) + version["stderr"])
        if have("javac") is None:
            self.skipTest("there is a JVM on this host but no javac")
        self.put("Answer.java", JAVA)
        self.assertEqual(self.bash("javac Answer.java && java Answer"),
                         "42\n499500\ne3b0\n4\ntrue\nsub\ntrue\n")

    def test_instead_of_a_manager_with_a_name(self):
        """What the manual says to do."""
        self.need("python3")
        self.assertEqual(self.python(
            "from multiprocessing.managers import SyncManager\n"
            "m = SyncManager(address=('127.0.0.1', 0))\n"
            "m.start()\n"
            "d = m.dict()\n"
            "d['a'] = 42\n"
            "print(d['a'])\n"
            "m.shutdown()\n"), "42\n")

    def test_in_a_workspace(self):
        """A build whose files are another user's on the host."""
        self.need("git", "gcc", "make")
        w = Workspace()
        try:
            for name, text in PROGRAM.items():
                w.write(name, text)
            s = self.i.session(**w.fields())
            r = self.finished("bash", {"command":
                "git init -q && git add . && make -s check && ./answer 2 3 && "
                "git status --short --untracked-files=no | wc -l"}, s)
            self.assertEqual(self.ok(r), "6\n5\n")
            self.i.request("DELETE", "/v1/sessions/" + s)
            self.assertEqual(os.stat(os.path.join(w.path, "answer")).st_uid,
                             w.uid)
        finally:
            w.close()


class DoesNot(Base):
    def test_the_list_of_the_manual(self):
        with open(PAGE) as f:
            text = f.read()
        section = re.search(r"\n\.Sh %s\n(.*?)\n\.Sh " % SECTION, text,
                            re.DOTALL)
        self.assertIsNotNone(section)
        listed = re.findall(r"\n\.It (.*)", section.group(1))
        self.assertEqual(listed, list(REFUSED))
        # each program that an item names is tried, here or below
        named = set(re.findall(r"\n\.Xr (\S+) [18]\b",
                               section.group(1).split(".Bl", 1)[1]))
        tried = {row[1] for rows in REFUSED.values() for row in rows}
        self.assertEqual(named - tried, set(WORKS))

    def test_what_works_nevertheless(self):
        s = self.i.session()
        for program, command in WORKS.items():
            self.need(program)
            with self.subTest(program):
                r = self.hidden(command, s)
                self.assertEqual((r["exit_code"], r["stderr"]), (0, ""), r)
                self.assertNotEqual(r["stdout"], "")
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_each(self):
        s = self.i.session()
        for what, rows in REFUSED.items():
            tried = 0
            for command, program, words in rows:
                if have(program) is None:
                    continue
                with self.subTest(what, command=command):
                    r = self.hidden(command, s)
                    if command not in EXIT_0:
                        self.assertNotEqual(r["exit_code"], 0, r)
                    self.assertIn(words, r["stdout"] + r["stderr"])
                    tried += 1
            self.assertGreater(tried, 0, what)
        self.i.request("DELETE", "/v1/sessions/" + s)


if __name__ == "__main__":
    unittest.main()
