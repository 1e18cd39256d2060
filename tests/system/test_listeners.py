"""Where egress begins: the sockets that are made in a neuron's network
namespace, who has them, and what programs inside are told of them."""
import os
import re
import signal
import unittest

from harness import CONFIG, Instance, cgroups_of, wait_for

PROFILES = """
profile "web" { egress { } }
profile "proxy" { egress { transparent no } }
"""
GIVEN = CONFIG.replace("owner any", "owner any; profile default, web, proxy")

# What listens, as /proc/net has it: (port, address, inode).
LOOK = """
for kind in ("tcp", "udp", "tcp6", "udp6", "raw", "packet"):
    try:
        lines = open("/proc/net/" + kind).read().splitlines()[1:]
    except OSError:
        continue
    for line in lines:
        f = line.split()
        address, port = f[1].split(":")
        print(kind, address, int(port, 16), f[9])
"""
PROXY = ("tcp", "0100007F", "3128")
NAMED = [("tcp", "00000000", "443"), ("tcp", "00000000", "80"),
         ("udp", "00000000", "53")]

# Each of the places that egressd has, taken by all that a program has.
TAKE = """
import socket
for kind, port in ((1, 443), (1, 80), (1, 3128), (2, 53), (1, 53)):
    for address in ("127.0.0.1", "0.0.0.0", "127.64.0.1"):
        s = socket.socket(socket.AF_INET, kind)
        s.setsockopt(1, socket.SO_REUSEADDR, 1)
        try:
            s.setsockopt(1, socket.SO_REUSEPORT, 1)
        except OSError:
            pass
        try:
            s.bind((address, port))
            if kind == 1:
                s.listen(5)
        except OSError as e:
            print(port, address, e.errno)
        else:
            print(port, address, "taken")
"""


def sockets_of(pid):
    """Inodes of the sockets that a process holds."""
    found = set()
    try:
        fds = os.listdir("/proc/%d/fd" % pid)
    except FileNotFoundError:
        return found
    for fd in fds:
        try:
            m = re.match(r"socket:\[(\d+)\]", os.readlink(
                "/proc/%d/fd/%s" % (pid, fd)))
        except OSError:
            continue
        if m:
            found.add(m.group(1))
    return found


class Listeners(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(GIVEN + PROFILES)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def python(self, code, **more):
        r = self.i.call("python", {"code": code}, **more)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def look(self, **more):
        rows = [tuple(l.split()) for l in
                self.python(LOOK, **more).splitlines()]
        return sorted(r[:3] for r in rows), {r[3] for r in rows}

    def environment(self, **more):
        r = self.i.call("exec", {"argv": ["env"]}, **more)
        return dict(l.split("=", 1) for l in r["stdout"].splitlines())

    def session(self, profile):
        s = self.i.session(profile=profile)
        self.addCleanup(self.i.request, "DELETE", "/v1/sessions/" + s)
        return s

    def test_none_without_egress(self):
        self.assertEqual(self.look(), ([], set()))
        self.assertEqual([n for n in self.environment() if "prox" in
                          n.lower() or "JAVA" in n], [])

    def test_where_they_listen(self):
        self.assertEqual(self.look(profile="web")[0],
                         sorted([PROXY] + NAMED))
        self.assertEqual(self.look(profile="proxy")[0], [PROXY])

    def test_places_can_not_be_taken(self):
        """Low ports are none of a neuron's, and the proxy's is taken."""
        for profile in ("web", "proxy"):
            text = self.python(TAKE, profile=profile)
            # an address beside the proxy's is the neuron's own affair
            self.assertEqual(re.findall(r".* taken", text),
                             ["3128 127.64.0.1 taken"], text)
            self.assertEqual(len(text.splitlines()), 15)

    def test_who_holds_them(self):
        """neurond and egressd, and no process in the neuron."""
        s = self.session("web")
        before = {n: sockets_of(self.i.pid(n)) for n in ("neurond",
                                                         "egressd")}
        _, inodes = self.look(session=s)
        self.assertEqual(len(inodes), 4)
        self.assertEqual(inodes - before["neurond"], set())
        wait_for(lambda: inodes <= sockets_of(self.i.pid("egressd")), 60)
        inside = set()
        for d in cgroups_of(os.path.basename(self.i.dir).lower()):
            try:
                with open(os.path.join(d, "cgroup.procs")) as f:
                    inside |= {int(p) for p in f.read().split()}
            except OSError:
                continue
        for pid in inside - {0}:
            self.assertEqual(inodes & sockets_of(pid), set(), pid)
        for name in ("apid", "judged", "maker", "spawner", "policyd"):
            self.assertEqual(inodes & sockets_of(self.i.pid(name)), set(),
                             name)

    def test_they_go_with_it(self):
        s = self.i.session(profile="web")
        _, inodes = self.look(session=s)
        self.i.request("DELETE", "/v1/sessions/" + s)
        for name in ("neurond", "egressd", "policyd"):
            wait_for(lambda: not inodes & sockets_of(self.i.pid(name)), 60)

    def test_a_new_egressd_has_them_back(self):
        s = self.session("web")
        _, inodes = self.look(session=s)
        wait_for(lambda: inodes <= sockets_of(self.i.pid("egressd")), 60)
        before = self.i.pid("egressd")
        others = {n: p["pid"] for n, p in self.i.processes().items()
                  if n != "egressd"}
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: self.i.pid("egressd") not in (0, before) and
                 inodes <= sockets_of(self.i.pid("egressd")), 60)
        self.assertEqual(self.look(session=s)[1], inodes)
        self.assertEqual({n: p["pid"] for n, p in self.i.processes().items()
                          if n != "egressd"}, others)

    def test_what_programs_are_told(self):
        env = self.environment(profile="web")
        proxy = "http://127.0.0.1:3128"
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            self.assertEqual((env[name], env[name.upper()]), (proxy, proxy))
        self.assertEqual(env["no_proxy"], env["NO_PROXY"])
        self.assertIn("127.0.0.1", env["no_proxy"].split(","))
        self.assertEqual(env["NODE_USE_ENV_PROXY"], "1")
        for word in ("http.proxyHost=127.0.0.1", "https.proxyPort=3128"):
            self.assertIn("-D" + word, env["JAVA_TOOL_OPTIONS"])
        other = self.environment(profile="proxy")
        self.assertEqual({n: v for n, v in other.items()
                          if not n.startswith("MYELIN_")},
                         {n: v for n, v in env.items()
                          if not n.startswith("MYELIN_")})

    def test_a_call_may_say_otherwise(self):
        env = self.environment(profile="web", env={"http_proxy": "",
                                                   "NO_PROXY": "x"})
        self.assertEqual((env["http_proxy"], env["NO_PROXY"]), ("", "x"))
        self.assertIn("3128", env["HTTP_PROXY"])

    def test_names_are_asked_inside(self):
        r = self.i.bash("cat /etc/resolv.conf", profile="web")
        self.assertRegex(r["stdout"], r"(?m)^nameserver 127\.0\.0\.1$")
        # without egress nobody is there, which is said at once: who waits for
        # an answer waits for 10 s
        r = self.i.bash("getent hosts a.example; echo $?")
        self.assertEqual(r["stdout"], "2\n")
        self.assertLess(r["duration_ms"], 10000)


class Hook(unittest.TestCase):
    def test_has_no_network(self):
        """Whatever the profile of the call that it judges."""
        i = Instance(GIVEN + PROFILES, start=False)
        self.addCleanup(i.stop)
        path = os.path.join(i.dir, "hook")
        with open(path, "w") as f:
            f.write("#!/bin/sh\n(env | grep -i proxy; wc -l </proc/net/tcp)"
                    " >&2\nexit 1\n")
        os.chmod(path, 0o755)
        i.configure(GIVEN + PROFILES + 'hook "look" "%s"\n' % path)
        i.start()
        r = i.bash("true", profile="web")
        self.assertEqual(r["reason"], "denied_by_policy", r)
        self.assertEqual(r["denials"][0]["what"], "1", r)


class Reload(unittest.TestCase):
    def test_a_profile_gets_and_loses_it(self):
        i = Instance(GIVEN + PROFILES)
        self.addCleanup(i.stop)
        look = "wc -l < /proc/net/tcp"
        self.assertEqual(i.bash(look, profile="web")["stdout"], "4\n")
        text = PROFILES.replace('"web" { egress { } }', '"web" { }')
        for n, (profiles, lines) in enumerate(((text, "1\n"),
                                               (PROFILES, "4\n"))):
            i.configure(GIVEN + profiles)
            i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "generation %d is in force" % (n + 2) in
                     i.log(), 60)
            self.assertEqual(i.bash(look, profile="web")["stdout"], lines)


if __name__ == "__main__":
    unittest.main()
