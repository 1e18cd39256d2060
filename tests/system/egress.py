"""What the tests of egress share: a network namespace with servers and a
resolver that lies on request (upstream.py), an instance that runs in it, and
a workspace with the attacker's library (probe.py).
"""
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from harness import BUILD, Instance, Workspace, wait_for
from upstream import RESOLVER

HERE = os.path.dirname(os.path.abspath(__file__))

CONFIG = """
principal user root { preset standard; workspace "/*"; owner any; %s }
operator user root may approve, audit, manage
hourly 10000000
calls-session 10000000
"""

# The instance sees the test's resolver and the test's authority, and its
# neurons with it, wherever the host's are.
PREFIX = """
for f in /etc/resolv.conf /etc/ssl/certs; do
	# without a file of servers the one on the loopback is asked: ours too
	[ -e "$f" ] || continue
	mount --bind "$0/${f##*/}" "$(readlink -f $f)" || exit 125
done
exec "$@"
"""


def openssl(*args, cwd):
    subprocess.run(["openssl"] + list(args), cwd=cwd, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


class Net:
    """The namespace and what listens there; close() ends all of it."""

    def __init__(self, names=()):
        self.dir = tempfile.mkdtemp(prefix="n-", dir=os.path.join(
            BUILD, "tests"))
        self.process = None
        os.chmod(self.dir, 0o755)
        self.www = os.path.join(self.dir, "www")
        os.mkdir(self.www)
        try:
            self.authority()
            with open(os.path.join(self.dir, "resolv.conf"), "w") as f:
                f.write("nameserver %s\n" % RESOLVER)
            with open(os.path.join(self.dir, "said"), "w") as said:
                self.process = subprocess.Popen(
                    [sys.executable, "-B", os.path.join(HERE, "upstream.py"),
                     self.dir], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=said)
            assert self.answer().get("ready"), self.said()
            self.names(dict.fromkeys(names, ["11.1.1.1"]))
        except BaseException:
            self.close()
            raise

    def authority(self):
        """A CA of its own, and a certificate for every name that is used."""
        d = self.dir
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-sha256")
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem",
                "-days", "2", "-subj", "/CN=Test authority", cwd=d)
        openssl("req", *key, "-keyout", "key.pem", "-out", "req.pem", "-subj",
                "/CN=server", cwd=d)
        with open(os.path.join(d, "ext"), "w") as f:
            f.write("subjectAltName=DNS:*.example.com,DNS:*.example.net,"
                    "DNS:example.com,IP:11.1.1.1\n")
        openssl("x509", "-req", "-in", "req.pem", "-CA", "ca.pem", "-CAkey",
                "ca.key", "-CAcreateserial", "-days", "2", "-sha256",
                "-extfile", "ext", "-out", "cert.pem", cwd=d)
        certs = os.path.join(d, "certs")
        os.mkdir(certs)
        shutil.copy(os.path.join(d, "ca.pem"), os.path.join(
            certs, "test.pem"))
        shutil.copy(os.path.join(d, "ca.pem"), os.path.join(
            certs, "ca-certificates.crt"))
        openssl("rehash", certs, cwd=d)
        for root, dirs, files in os.walk(d):
            os.chmod(root, 0o755)
            for name in files:
                os.chmod(os.path.join(root, name), 0o644)

    def said(self):
        with open(os.path.join(self.dir, "said"), errors="replace") as f:
            return f.read()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "the servers ended: " + self.said()
        return json.loads(line)

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()
        return self.answer()

    def names(self, names):
        """What the resolver says: {name: [address, ...]}, or for a name a
        dictionary of upstream.py's answers_to()."""
        zone = {}
        for name, what in names.items():
            if not isinstance(what, dict):
                what = {"A": [[a for a in what if ":" not in a]],
                        "AAAA": [[a for a in what if ":" in a]]}
            zone[name] = what
        self.tell(do="zone", names=zone)

    def forget(self):
        """What came so far; all that is under way comes first."""
        end = time.monotonic() + 5
        last = None
        while time.monotonic() < end:
            now = self.tell(do="count")
            if now == last and now["open"] == 0:
                break
            last = now
            time.sleep(0.02)
        self.tell(do="forget")

    def connections(self, **match):
        return [c for c in self.tell(do="seen")["connections"]
                if all(c[k] == v for k, v in match.items())]

    def requests(self):
        """All requests of all connections: (sni, method, host, target)."""
        return [(r["sni"], r["method"], r["headers"].get("host"), r["target"])
                for c in self.connections() for r in c["requests"]]

    def queries(self):
        return [q["name"] for q in self.tell(do="seen")["queries"]]

    def settled(self):
        """No connection is open any more; True, so that it can be asserted."""
        return wait_for(lambda: self.tell(do="count")["open"] == 0 or None, 60)

    def prefix(self):
        """For a program that is to run in the namespace."""
        return ["nsenter", "--net=/proc/%d/ns/net" % self.process.pid,
                "unshare", "--mount", "--propagation", "private", "sh", "-c",
                PREFIX, self.dir]

    def run(self, argv, **more):
        """A program in the namespace, outside of every neuron: a control."""
        more.setdefault("timeout", 120)
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.prefix() + list(argv),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **more)

    def python(self, code):
        """What code prints as JSON, run as probe() runs it, as a control."""
        r = self.run([sys.executable, "-I", "-c", wrapped(HERE, code)])
        assert r.returncode == 0, r.stderr.decode()
        return json.loads(r.stdout)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process = None
        shutil.rmtree(self.dir, ignore_errors=True)


def wrapped(where, code):
    """Its last statement is an expression, and what that is gets printed."""
    code = code.strip()
    lines = code.split("\n")
    at = ast.parse(code).body[-1].lineno - 1
    return "\n".join(
        ["import json, sys", "sys.path.insert(0, %r)" % where,
         "from probe import *"] + lines[:at] + ["print(json.dumps("] +
        lines[at:] + ["))"])


class EgressInstance(Instance):
    """Runs in a Net; profiles are {name: what is in "egress { }"}, the first
    one the principal's own; those of without have no such block."""

    def __init__(self, net, profiles, extra="", limits=None, without=(),
                 **more):
        self.net = net
        text = CONFIG % "; ".join('profile "%s"' % p
                                  for p in [*profiles, *without])
        limits = limits or {}
        for name, rules in profiles.items():
            text += 'profile "%s" { mode native; %s egress { %s } }\n' % (
                name, limits.get(name, ""), rules)
        for name in without:
            text += 'profile "%s" { mode native }\n' % name
        super().__init__(config=text, extra=extra, **more)

    def start(self, args=(), prefix=(), **more):
        super().start(args=args, prefix=self.net.prefix() + list(prefix),
                      **more)

    def wait_up(self, seconds=60):
        super().wait_up(seconds)
        wait_for(lambda: self.processes()["egressd"]["state"] == "up", seconds)


class Attacker(Workspace):
    """A workspace that holds probe.py, for code that a neuron runs."""

    def __init__(self, instance):
        super().__init__()
        self.i = instance
        shutil.copy(os.path.join(HERE, "probe.py"), self.path)
        self.give()

    def call(self, code, **more):
        """One call of the python tool: the judge does not follow it."""
        fields = {} if "session" in more else self.fields()
        more.setdefault("timeout_ms", 50000)
        return self.i.call("python", {"code": wrapped(self.path, code)},
                           **fields, **more)

    def probe(self, code, **more):
        """What its last line, an expression, comes to inside a neuron."""
        r = self.call(code, **more)
        assert (r["state"], r["exit_code"]) == ("completed", 0), r
        return json.loads(r["stdout"])


class EgressCase(unittest.TestCase):
    """One Net, one instance in it and one workspace for a class's tests."""

    NAMES = ()      # hosts of the Net

    @classmethod
    def instance(cls):
        """An EgressInstance, for whatever else cls.net has to say first."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.net = Net(cls.NAMES)
        cls.addClassCleanup(cls.net.close)
        cls.i = cls.instance()
        cls.addClassCleanup(cls.i.stop)
        cls.w = Attacker(cls.i)
        cls.addClassCleanup(cls.w.close)

    def setUp(self):
        self.net.forget()
