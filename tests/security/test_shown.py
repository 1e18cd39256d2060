"""Directories of the host that a profile shows: mounts, a root of its own.

What a neuron does to them stays in the neuron, or is refused by the kernel.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BUILD, CONFIG, Instance, Workspace, reachable, wait_for

EROFS, EACCES = 30, 13
# What the image has: the shell that calls run in, and what they use there.
PROGRAMS = ("bash", "cat", "chmod", "dd", "df", "id", "ln", "ls", "mkdir",
            "mv", "rm", "stat", "touch", "true")


def directory(prefix):
    parent = os.path.join(BUILD, "tests")
    if not reachable(parent):
        parent = "/tmp"
    path = tempfile.mkdtemp(prefix=prefix, dir=parent)
    os.chmod(path, 0o755)
    return path


def make_image(top):
    """A root with little in it; its links are as Debian's are."""
    for name in ("usr/bin", "usr/lib", "etc", "opt/inner", "run/left",
                 "var/tmp/old", "srv", "tmp/left"):
        os.makedirs(os.path.join(top, name), 0o755)
    for name in ("bin", "lib", "lib64"):
        os.symlink("usr/" + ("lib" if name == "lib64" else name),
                   os.path.join(top, name))
    paths = [shutil.which(p) for p in PROGRAMS]
    for line in subprocess.run(["ldd"] + paths, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        found = re.search(r"(/\S+) \(0x", line)
        if found:
            paths.append(found.group(1))
    for path in paths:
        where = "usr/bin" if os.path.basename(path) in PROGRAMS else "usr/lib"
        shutil.copy(os.path.realpath(path), os.path.join(
            top, where, os.path.basename(path)))
    for name, text in (("etc/image", "the image's\n"),
                       ("etc/passwd", "intruder:x:0:0::/:/bin/sh\n"),
                       ("usr/file", "as it was\n"), ("run/left/x", "x"),
                       ("usr/secret", "0600\n")):
        with open(os.path.join(top, name), "w") as f:
            f.write(text)
    os.chmod(os.path.join(top, "usr/secret"), 0o600)


def tree(top):
    """All that is in it, with what would show a change."""
    found = {}
    for root, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(root, name)
            st = os.lstat(path)
            found[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_size,
                           st.st_mtime_ns, st.st_ino)
    return found


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = directory("shown-")
        cls.data = os.path.join(cls.top, "data")
        os.mkdir(cls.data)
        os.chmod(cls.data, 0o777)
        for name, mode in (("open", 0o666), ("private", 0o600),
                           ("program", 0o755)):
            path = os.path.join(cls.data, name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\necho from the host\n")
            os.chmod(path, mode)
        os.mkfifo(os.path.join(cls.data, "fifo"))
        os.chmod(os.path.join(cls.data, "fifo"), 0o666)
        cls.image = os.path.join(cls.top, "image")
        make_image(cls.image)
        cls.i = Instance(extra="""
principal user root { preset standard; workspace "/*"; owner any
    profile default, mounted, there, locked, image, changing, both }
profile mounted { mount "%s" at "/data sets/x" read-only }
profile there { mount "%s" read-only }
profile locked { workspace read-only }
profile image { root "%s" }
profile changing { root "%s" overlay; tmp 4M; inodes 300 }
profile both { root "%s" overlay; mount "%s" at "/opt/data" read-only }
""" % (cls.data, cls.data, cls.image, cls.image, cls.image, cls.data),
            config=CONFIG.replace('principal user root { preset standard; '
                                  'workspace "/*"; owner any }', ""))
        cls.w = Workspace()
        cls.w.write("file", "as it was\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()
        shutil.rmtree(cls.top)

    def bash(self, command, profile, **more):
        return self.i.bash(command, profile=profile, **more)

    def ok(self, command, profile, **more):
        r = self.bash(command, profile, **more)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def script(self, text, profile=None, session=None):
        """A file's, which came as data: the judge would say itself what lies
        outside of home, workspace and /tmp."""
        own = session is None
        if own:
            session = self.i.session(profile=profile)
        r = self.i.bash("cat > ~/s", session=session, stdin=text)
        self.assertEqual(r["exit_code"], 0, r)
        r = self.i.bash("bash ~/s", session=session)
        self.assertEqual(r["state"], "completed", r)
        if own:
            self.i.request("DELETE", "/v1/sessions/" + session)
        return r

    def python(self, code, profile, **more):
        r = self.i.call("python", {"code": code}, profile=profile, **more)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    ERRORS = """
import os
def tried(what, *args):
    try: what(*args)
    except OSError as e: print(e.errno, end=" ")
    else: print("done", end=" ")
"""

    # ---- mounts ----

    def test_a_mount_is_there(self):
        self.assertEqual(self.ok("ls '/data sets/x'", "mounted").split(),
                         sorted(os.listdir(self.data)))
        self.assertEqual(self.ok("ls " + self.data, "there").split(),
                         sorted(os.listdir(self.data)))

    def test_nothing_beside_it_is(self):
        self.assertEqual(self.ok("ls " + self.top, "there"), "data\n")
        self.assertEqual(self.bash("ls " + self.data, "mounted")["exit_code"],
                         2)
        r = self.bash("ls " + self.data, "default")
        self.assertNotEqual(r["exit_code"], 0)

    def test_its_programs_run(self):
        self.assertEqual(self.ok("'/data sets/x/program'", "mounted"),
                         "from the host\n")

    def test_what_others_may_not_read_stays_so(self):
        self.assertIn("Permission denied", self.bash(
            "cat '/data sets/x/private'", "mounted")["stderr"])

    def test_nothing_is_written_to_a_mount(self):
        """Everybody may on the host: the mount itself says no."""
        before = tree(self.data)
        out = self.python(self.ERRORS + """
d = "/data sets/x/"
tried(open, d + "open", "w")
tried(open, d + "open", "a")
tried(os.mkdir, d + "new")
tried(os.unlink, d + "open")
tried(os.rename, d + "open", d + "other")
tried(os.chmod, d + "open", 0)
tried(os.utime, d + "open")
tried(os.symlink, "x", d + "link")
tried(os.truncate, d + "open", 0)
""", "mounted")
        self.assertEqual(out.split(), [str(EROFS)] * 9)
        self.assertEqual(tree(self.data), before)

    def test_a_fifo_of_the_host_takes_nothing(self):
        """A read-only mount would let it be written to; Landlock doesn't."""
        path = os.path.join(self.data, "fifo")
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for profile, where in (("mounted", "/data sets/x/fifo"),
                               ("both", "/opt/data/fifo")):
            if profile == "both":
                r = self.script("echo x > %s" % where, profile)
                self.assertIn("Permission denied", r["stderr"], r)
                continue
            out = self.python(self.ERRORS + "tried(os.open, %r, os.O_WRONLY |"
                              " os.O_NONBLOCK)" % where, profile)
            self.assertEqual(out.split(), [str(EACCES)])
        with self.assertRaises(BlockingIOError):
            # nobody has it open for writing: else this were 0 or more bytes
            os.set_blocking(reader, False)
            w = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.read(reader, 1)
            finally:
                os.close(w)

    def refused(self, profile, words, **more):
        status, body = self.i.request("POST", "/v1/calls", dict({
            "tool": "bash", "args": {"command": "true"}, "profile": profile,
            "wait_ms": 20000}, **more))
        self.assertIn(words, str(body))
        return status, body

    def test_a_link_is_never_followed(self):
        away = self.data + ".away"
        os.rename(self.data, away)
        try:
            self.refused("mounted", "does not exist")
            os.symlink("/etc", self.data)
            self.refused("mounted", "symbolic link")
            os.unlink(self.data)
            os.mkdir(os.path.join(self.top, "elsewhere"))
            os.symlink(os.path.join(self.top, "elsewhere"), self.data)
            self.refused("mounted", "symbolic link")
            os.unlink(self.data)
            with open(self.data, "w"):
                pass
            self.refused("mounted", "not a directory")
        finally:
            if os.path.lexists(self.data):
                os.unlink(self.data)
            os.rename(away, self.data)
        # nor on the way, of a root no more than of a mount
        os.rename(self.top, self.top + ".away")
        try:
            os.symlink(self.top + ".away", self.top)
            self.refused("mounted", "symbolic link")
            self.refused("image", "symbolic link")
        finally:
            os.unlink(self.top)
            os.rename(self.top + ".away", self.top)
        self.ok("true", "mounted")

    def test_another_directory_is_the_next_neurons(self):
        session = self.i.session(profile="mounted")
        r = self.i.bash("cat '/data sets/x/open'", session=session)
        self.assertEqual(r["exit_code"], 0, r)
        away = self.data + ".away"
        os.rename(self.data, away)
        try:
            os.mkdir(self.data)
            with open(os.path.join(self.data, "second"), "w"):
                pass
            r = self.i.bash("ls '/data sets/x'", session=session)
            self.assertIn("program", r["stdout"], r)
            self.assertEqual(self.ok("ls '/data sets/x'", "mounted"),
                             "second\n")
        finally:
            shutil.rmtree(self.data)
            os.rename(away, self.data)
            self.i.request("DELETE", "/v1/sessions/" + session)

    def test_a_workspace_that_meets_a_mount_is_refused(self):
        for inside in ("", "/below"):
            path = self.data + inside
            os.makedirs(path, exist_ok=True)
            os.chown(path, self.w.uid, self.w.gid)
            try:
                self.refused("there", "meets the mount at",
                             workspace=path, owner=self.w.fields()["owner"])
            finally:
                os.chown(path, 0, 0)
                if inside:
                    os.rmdir(path)

    def test_a_reload_is_for_the_neurons_after_it(self):
        session = self.i.session(profile="mounted")
        with open(self.i.conf) as f:
            text = f.read()
        other = text.replace('"/data sets/x"', '"/data sets/y"')
        self.assertNotEqual(text, other)

        def seen(name):
            return self.bash("ls '/data sets/%s'" % name,
                             "mounted")["exit_code"] == 0
        try:
            self.i.configure(other)
            self.i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: seen("y"), 60)
            self.assertFalse(seen("x"))
            r = self.i.bash("ls '/data sets/x'", session=session)
            self.assertEqual(r["exit_code"], 0, r)
        finally:
            self.i.configure(text)
            self.i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: seen("x"), 60)
            self.i.request("DELETE", "/v1/sessions/" + session)

    # ---- workspaces ----

    def test_a_read_only_workspace(self):
        os.chmod(self.w.path, 0o777)
        # another neuron's placeholders go by themselves
        wait_for(lambda: os.listdir(self.w.path) == ["file"], 60)
        session = self.i.session(profile="locked", **self.w.fields())
        r = self.i.call("python", {"code": self.ERRORS + """
tried(open, "file", "w"); tried(open, "file", "a")
tried(os.mkdir, "new"); tried(os.unlink, "file")
tried(os.chmod, "file", 0); tried(os.utime, "file")
print(open("file").read(), end="")
"""}, session=session)
        self.assertEqual(r["stdout"], ("%d " % EROFS) * 6 + "as it was\n", r)
        # nothing is put there for it, and who asks for no such thing writes
        self.assertEqual(os.listdir(self.w.path), ["file"])
        self.i.request("DELETE", "/v1/sessions/" + session)
        self.ok("echo more >> file && rm -f new", "default",
                **self.w.fields())
        self.w.write("file", "as it was\n")

    def test_tools_say_that_it_is_read_only(self):
        r = self.i.call("write", {"path": "new", "content": "x"},
                        profile="locked", **self.w.fields())
        self.assertEqual(r["exit_code"], 1, r)
        self.assertNotIn("new", os.listdir(self.w.path))
        r = self.i.call("read", {"path": "file"}, profile="locked",
                        **self.w.fields())
        self.assertIn("as it was", r["stdout"], r)

    def test_a_request_tightens_and_never_widens(self):
        for profile, said, want in (("default", True, EROFS),
                                    ("default", False, None),
                                    ("locked", False, EROFS)):
            out = self.python(self.ERRORS + "tried(open, 'new', 'w')",
                              profile, read_only=said, **self.w.fields())
            self.assertEqual(out.strip(), str(want or "done"), profile)
            session = self.i.session(profile=profile, read_only=said,
                                     **self.w.fields())
            neuron = [n for n in self.i.get("/v1/neurons")[1]["neurons"]
                      if n["session"] == session][0]
            self.assertEqual(neuron["read_only"], want is not None)
            r = self.i.bash("echo x > new", session=session)
            self.assertEqual(r["exit_code"] != 0, want is not None, r)
            if want:
                self.assertIn("Read-only file system", r["stderr"])
            self.i.request("DELETE", "/v1/sessions/" + session)
        os.unlink(self.w.at("new"))
        status, body = self.i.request("POST", "/v1/sessions",
                                      {"read_only": 1})
        self.assertEqual((status, body["error"]["code"]),
                         (400, "bad_request"))
        session = self.i.session()
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % session,
            {"tool": "bash", "args": {"command": "true"}, "read_only": True})
        self.assertEqual(status, 400, body)

    def test_the_clients_option(self):
        r = self.i.ctl("run", "-w", self.w.path, "--read-only", "--", "touch",
                       "new")
        self.assertIn(b"Read-only file system", r.stderr)
        self.assertNotIn("new", os.listdir(self.w.path))

    # ---- a root of its own ----

    def test_an_image_is_the_root(self):
        for profile in ("image", "changing"):
            self.assertEqual(self.ok("cat /etc/image /usr/file", profile),
                             "the image's\nas it was\n")
            self.assertEqual(
                self.bash("ls /usr/share", profile)["exit_code"], 2)

    def test_its_layer_is_in_the_record(self):
        for profile in ("image", "changing", "mounted"):
            self.assertEqual("overlay-root" in self.bash("true", profile)
                             ["layers"], profile != "mounted", profile)

    def test_what_is_the_neurons_lies_over_it(self):
        for profile in ("image", "changing"):
            text = self.ok("cat /etc/passwd; ls /run /tmp; ls -ld /var/tmp; "
                           "id -un; cat /proc/self/attr/current; true",
                           profile)
            self.assertNotIn("intruder", text)
            self.assertNotIn("left", text)
            self.assertIn("agent:x:1000", text)
            self.assertIn("/var/tmp -> /tmp", text)
            self.assertIn("\nagent\n", text)
            for name in ("null", "zero", "full", "urandom"):
                self.ok("ls -l /dev/%s" % name, profile)
            self.ok("echo x > /tmp/x && echo x > ~/x && echo x > /dev/shm/x",
                    profile)

    def test_nothing_of_the_host_is_left(self):
        for profile in ("image", "changing"):
            points = [l.split()[4] for l in self.ok(
                "cat /proc/self/mountinfo", profile).splitlines()]
            for point in points:
                self.assertTrue(point == "/" or point.startswith(
                    ("/dev", "/proc", "/tmp", "/home/agent")), points)
            self.assertEqual(points.count("/"), 1)

    def test_an_image_is_read_only(self):
        before = tree(self.image)
        r = self.script("cd /usr; touch file; echo x > /etc/new; mkdir /x; "
                        "rm -rf /usr/file /etc/image", "image")
        self.assertGreaterEqual(r["stderr"].count("Read-only file system"),
                                4, r)
        self.assertIn("denied", self.bash("cat /usr/secret",
                                          "image")["stderr"])
        self.assertEqual(tree(self.image), before)

    def test_a_neuron_changes_its_own_copy_alone(self):
        before = tree(self.image)
        session = self.i.session(profile="changing")
        r = self.script(
            "set -e; mkdir /usr/new; echo mine > /usr/new/x; rm /etc/image; "
            "echo changed > /usr/file; mv /opt/inner /opt/outer; "
            "ln -s x /srv/link; chmod 700 /usr/bin/touch; cat /usr/secret; "
            "stat -c %U /usr/file", session=session)
        self.assertEqual((r["exit_code"], r["stdout"]), (0, "0600\nagent\n"),
                         r)
        r = self.i.bash("cat /usr/new/x /usr/file; ls /opt /etc",
                        session=session)
        self.assertIn("mine\nchanged\n", r["stdout"], r)
        self.assertIn("outer", r["stdout"])
        self.assertNotIn("image", r["stdout"])
        # neither on the host, nor for another neuron, nor for the next one
        self.assertEqual(tree(self.image), before)
        self.assertEqual(self.ok("cat /usr/file; ls /opt", "changing"),
                         "as it was\ninner\n")
        self.i.request("DELETE", "/v1/sessions/" + session)
        self.assertEqual(self.ok("cat /usr/file; ls /opt", "changing"),
                         "as it was\ninner\n")
        self.assertEqual(tree(self.image), before)

    def test_what_it_changes_is_bounded(self):
        r = self.script("dd if=/dev/zero of=/usr/fill bs=1M count=64",
                      "changing")
        self.assertIn("No space left on device", r["stderr"], r)
        size = int(self.script("dd if=/dev/zero of=/usr/fill bs=64k count=999 "
                             "2>/dev/null; stat -c %s /usr/fill",
                             "changing")["stdout"])
        self.assertLessEqual(size, 4 << 20)
        self.assertGreater(size, 2 << 20)
        r = self.script("for i in {1..400}; do : > /usr/n$i || break; done; "
                      "ls /usr", "changing")
        self.assertIn("No space left on device", r["stderr"], r)
        self.assertLess(len(r["stdout"].split()), 300)

    def test_no_set_id_in_an_overlay(self):
        r = self.script("chmod u+s /usr/bin/touch; stat -c %a /usr/bin/touch",
                      "changing")
        self.assertEqual(r["stdout"], "755\n", r)

    def test_a_workspace_in_an_image(self):
        self.assertEqual(self.ok("cat file; echo more > made", "image",
                                 **self.w.fields()), "as it was\n")
        path = self.w.at("made")
        self.assertEqual(os.stat(path).st_uid, self.w.uid)
        os.unlink(path)

    def test_nothing_is_left_when_they_are_gone(self):
        for profile in ("mounted", "image", "changing", "both"):
            self.ok("true", profile)
        with open("/proc/self/mountinfo") as f:
            self.assertNotIn(self.top, f.read())


if __name__ == "__main__":
    unittest.main()
