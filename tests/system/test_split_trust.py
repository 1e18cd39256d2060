"""The recipes of README for who may ask and who may decide, as they stand
there, with the shipped configuration: real users and groups, in an /etc and a
/home that this process and what it starts have to themselves."""
import ctypes
import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import CTL, TOP, Instance

NEW_NS, PRIVATE, BIND = 0x20000, 0x44000, 0x1000
SUDO = """#!/bin/sh
# What sudo would do for somebody who knows the password.
if [ "$1" = -u ]; then
	user=$2
	shift 2
	exec setpriv --reuid "$user" --regid "$(id -g "$user")" \\
	    --init-groups -- "$@"
fi
exec "$@"
"""
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags=0, data=None):
    if libc.mount(source.encode(), target.encode(), kind and kind.encode(),
                  ctypes.c_ulong(flags), data) == -1:
        raise OSError(ctypes.get_errno(), "mount %s" % target)


def alone(parent):
    """Copies of what adduser(8) writes to; the host's are out of reach."""
    if libc.unshare(NEW_NS) == -1:
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", None, PRIVATE)
    mount("recipes", parent, "tmpfs", data=b"mode=0755")
    for path in ("/etc", "/home", "/var/log", "/var/mail"):
        copy = os.path.join(parent, path.replace("/", "_"))
        if path == "/etc":
            subprocess.run(["cp", "-a", path, copy], check=True)
        else:
            os.mkdir(copy, 0o755)
        if os.path.isdir(path):
            mount(copy, path, None, BIND)


def blocks():
    """The commands of README's chapter, in the order they stand there."""
    with open(os.path.join(TOP, "README.md")) as f:
        chapter = f.read().split("## Who may ask, and who may decide\n")[1]
    chapter = chapter.split("\n## ")[0]
    found = [[]]
    for line in chapter.splitlines():
        if line.startswith("    "):
            found[-1].append(line[4:])
        elif found[-1]:
            found.append([])
    return [b for b in found if b]


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("adduser", path="/usr/sbin:/sbin") is None:
            raise unittest.SkipTest("adduser is not installed")
        cls.before = cls.hosts()
        cls.parent = tempfile.mkdtemp(prefix="recipes-")
        cls.addClassCleanup(cls.leave)
        alone(cls.parent)
        cls.bin = os.path.join(cls.parent, "bin")
        os.mkdir(cls.bin, 0o755)
        shutil.copy(CTL, cls.bin)
        with open(os.path.join(cls.bin, "sudo"), "w") as f:
            f.write(SUDO)
        os.chmod(os.path.join(cls.bin, "sudo"), 0o755)
        # what installing the package does
        with open(os.path.join(TOP, "contrib", "systemd",
                               "myelin.sysusers")) as f:
            groups = re.findall(r"(?m)^g (\S+)", f.read())
        for name in groups:
            subprocess.run(["groupadd", "--system", name], check=True)
        for name in ("alice", "me"):
            subprocess.run(["useradd", "-m", "-s", "/bin/sh", name],
                           check=True)
        cls.i = Instance(start=False)
        cls.addClassCleanup(cls.i.stop)
        os.mkdir(os.path.join(cls.i.dir, "conf.d"), 0o700)
        cls.i.configure(cls.configuration())
        cls.i.start()

    @classmethod
    def leave(cls):
        libc.umount2(cls.parent.encode(), 2)
        # its mounts go with this process; the host's directory is empty
        os.rmdir(cls.parent)

    @staticmethod
    def hosts():
        return [os.stat(p).st_mtime_ns for p in (
            "/etc/passwd", "/etc/group", "/home")]

    @classmethod
    def configuration(cls):
        """As shipped, but for where it is; root looks for the harness."""
        with open(os.path.join(TOP, "contrib", "myelin.conf")) as f:
            text = f.read()
        text = text.replace("/run/myelin/", cls.i.dir + "/")
        text = text.replace("/etc/myelin/conf.d/", cls.i.dir + "/conf.d/")
        return text + "principal user root { preset standard }\n"

    def start(self, line, user="me", approval=None):
        """One command, as it stands there, typed by that user."""
        if approval is not None:
            line = line.replace("a-...", approval)
        argv = ["sh", "-c", line]
        if not line.startswith("sudo "):
            argv = [os.path.join(self.bin, "sudo"), "-u", user] + argv
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, env={
            "PATH": self.bin + ":/usr/sbin:/usr/bin:/sbin:/bin",
            "USER": user, "LC_ALL": "C.UTF-8",
            "MYELIN_SOCKET": self.i.api,
            "MYELIN_OPERATOR_SOCKET": self.i.operator},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")

    def type(self, line, want=0, **more):
        out, err = self.wait(self.start(line, **more), want)
        return out + err

    def wait(self, p, want):
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, want, (p.args, out, err))
        return out.decode(), err.decode()

    def approval_of(self, p):
        """What the one who waits is told."""
        line = p.stderr.readline().decode()
        said = re.search(r"waits for an operator's decision: (a-\w+)", line)
        self.assertTrue(said, line)
        return said.group(1)

    def in_groups(self, name):
        return set(subprocess.run(
            ["id", "-Gn", name], stdout=subprocess.PIPE,
            check=True).stdout.decode().split())

    def test_recipes(self):
        users, ask_and_decide, second, alone_ask = self.blocks()
        for line in users:
            self.type(line)
        self.assertIn("myelin", self.in_groups("agent"))
        self.assertNotIn("myelin-operator", self.in_groups("agent"))
        self.assertNotIn("myelin", self.in_groups("alice"))
        self.split(*ask_and_decide)
        for line in second:
            self.type(line)
        self.assertNotIn("myelin", self.in_groups("approver"))
        self.single(*alone_ask)
        self.assertEqual(self.hosts_now(), self.before)

    def blocks(self):
        found = blocks()
        self.assertEqual([len(b) for b in found], [3, 4, 3, 3])
        return found

    def hosts_now(self):
        """The host's files, which are not the ones that we see."""
        out = subprocess.run(
            ["nsenter", "--mount", "--target", str(os.getppid()), "stat",
             "-c", "%.Y", "/etc/passwd", "/etc/group", "/home"],
            stdout=subprocess.PIPE, check=True).stdout.decode().split()
        return [int(t.replace(".", "")) for t in out]

    def split(self, run, table, show, approve):
        p = self.start(run)
        a = self.approval_of(p)
        # who asks has no way to the other socket, and who decides none to
        # this one
        said = self.type("sudo -u agent myelinctl approve a-...", 1,
                         approval=a)
        self.assertIn("ermission", said)
        said = self.type("sudo -u alice myelinctl run -- true", 125)
        self.assertIn("ermission", said)
        self.assertIsNone(p.poll())
        said = self.type(table)
        self.assertIn(a, said)
        uid = pwd.getpwnam("agent").pw_uid
        self.assertIn("uid:%d" % uid, said)
        said = self.type(show, approval=a)
        self.assertIn("rm -rf .git", said)
        self.assertIsNone(p.poll())
        self.type(approve, approval=a)
        out, _ = self.wait(p, 0)
        self.assertEqual(out, "ran\n")
        # it is decided: nobody is asked twice
        self.assertIn("allowed", self.type(approve, 3, approval=a))

    def single(self, run, own, second):
        p = self.start(run)
        a = self.approval_of(p)
        self.assertIn("waits", self.type("myelinctl approvals show " + a))
        said = self.type(own, 4, approval=a)
        self.assertIn("own", said)
        status, body = self.raw("me", a)
        self.assertEqual((status, body["error"]["code"]),
                         (403, "forbidden"))
        self.assertIsNone(p.poll())
        self.type(second, approval=a)
        out, _ = self.wait(p, 0)
        self.assertEqual(out, "ran\n")
        # and no other way round: the second user can't ask
        said = self.type("sudo -u approver myelinctl run -- true", 125)
        self.assertIn("ermission", said)

    def raw(self, name, approval):
        """The decision by HTTP, from a connection of that user's."""
        user = pwd.getpwnam(name)
        groups = os.getgrouplist(name, user.pw_gid)
        c = self.i.connection(operator=True)
        mine = os.getgroups()
        os.setgroups(groups)
        os.setegid(user.pw_gid)
        os.seteuid(user.pw_uid)
        try:
            c.connect()
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(mine)
        c.request("GET", "/v1/approvals/" + approval)
        digest = json.loads(c.getresponse().read())["digest"]
        c.request("POST", "/v1/approvals/" + approval, json.dumps({
            "decision": "allow_once", "digest": digest}),
            {"Content-Type": "application/json"})
        r = c.getresponse()
        body = json.loads(r.read())
        c.close()
        return r.status, body


if __name__ == "__main__":
    unittest.main()
