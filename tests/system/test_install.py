"""What "make install" puts down is whole: it runs from there, in a mount
namespace of its own where the prefix is the copy."""
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, Instance, reachable

OVER = 'mount --bind "$0" "$1" && shift && exec "$@"'
LIBEXEC = {"apid", "judged", "policyd", "egressd", "neurond", "maker",
           "spawner", "neuron-tool"}
PAGES = {"man1/myelinctl.1", "man5/myelin.conf.5", "man5/myelin-tool.5",
         "man7/myelin-api.7", "man8/myelind.8"}


def variable(name):
    """Of the build directory's Makefile."""
    r = subprocess.run(
        ["make", "-s", "-C", BUILD, "-f", "Makefile", "-f", "-", "show"],
        input=b"show:\n\t@echo $(%s)\n" % name.encode(),
        stdout=subprocess.PIPE, timeout=60)
    return r.stdout.decode().strip()


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = variable("prefix")
        if not os.path.isdir(cls.prefix):
            raise unittest.SkipTest("%s is not there" % cls.prefix)
        cls.d = tempfile.mkdtemp(prefix="d-", dir=os.path.join(
            BUILD, "tests"))
        os.chmod(cls.d, 0o755)
        r = subprocess.run(["make", "-s", "-C", BUILD, "install",
                            "DESTDIR=" + cls.d], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=600)
        if r.returncode != 0:
            shutil.rmtree(cls.d)
            raise AssertionError(r.stdout.decode())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.d)

    def at(self, name):
        return self.d + variable(name)

    def test_all_is_there(self):
        self.assertEqual(set(os.listdir(self.at("myelinlibdir"))), LIBEXEC)
        self.assertIn("myelind", os.listdir(self.at("sbindir")))
        self.assertIn("myelinctl", os.listdir(self.at("bindir")))
        self.assertEqual(set(os.listdir(self.at("toolsdir"))),
                         set(n for n in os.listdir(os.path.join(
                             BUILD, "judged", "tools"))
                             if n.endswith(".json")))
        self.assertEqual(os.listdir(self.at("completionsdir")), ["myelinctl"])
        for page in PAGES:
            self.assertTrue(os.path.exists(os.path.join(
                self.at("mandir"), page)), page)

    def test_it_runs(self):
        if not reachable(self.d):
            self.skipTest("the build directory can't be reached by others")
        ns = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
              OVER, self.d + self.prefix, self.prefix]
        myelind = os.path.join(variable("sbindir"), "myelind")
        with Instance(start=False) as i:
            log = open(i.log_path, "a")
            i.process = subprocess.Popen(
                ns + [myelind, "-d", "-f", i.conf, "-p", i.dir],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            log.close()
            i.wait_up()
            self.assertEqual(i.bash("echo ok")["stdout"], "ok\n")
            for name in ("apid", "judged", "neurond"):
                exe = os.readlink("/proc/%d/exe" % i.pid(name))
                self.assertEqual(os.path.basename(os.path.dirname(exe)),
                                 "myelin", exe)
            # and what it offers is what was installed
            r = i.ctl("tools")
            for tool in ("bash", "exec", "python"):
                self.assertIn(tool.encode(), r.stdout)


if __name__ == "__main__":
    unittest.main()
