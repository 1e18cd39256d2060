"""What tools that only read find in the tree: nothing."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, TOP

BUILD_WITHOUT = os.environ.get("MYELIN_BUILD_WITHOUT",
                               os.path.join(TOP, "build-without"))
PARTS = ["apid", "common", "egressd", "judged", "myelinctl", "neurond",
         "policyd", "supervisord", "tests"]
PROGRAMS = ["supervisord/myelind", "apid/apid", "judged/judged",
            "policyd/policyd", "egressd/egressd", "neurond/neurond",
            "neurond/maker", "neurond/spawner", "neurond/neuron-tool",
            "myelinctl/myelinctl"]


def tool(argv):
    return subprocess.run(argv, cwd=TOP, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Static(unittest.TestCase):
    def need(self, name):
        if shutil.which(name) is None:
            self.skipTest("%s is not installed" % name)

    def clean(self, argv):
        r = tool(argv)
        self.assertEqual((r.stdout.decode(), r.returncode), ("", 0))

    def cppcheck(self, parts):
        self.need("cppcheck")
        return [
            "cppcheck", "-q", "-j2", "--std=c11", "--platform=unix64",
            "--enable=warning,portability,performance", "--inline-suppr",
            "--suppressions-list=tests/static.supp",
            "--suppress=missingInclude", "--suppress=missingIncludeSystem",
            "--suppress=unmatchedSuppression", "--error-exitcode=1",
            "-D__linux__", "-D__x86_64__", "-D_GNU_SOURCE", "-D__GNUC__=12",
            "-DLIBBSD_OVERLAY", "-UMYELIN_WITHOUT", "-U__clang__",
            # macros that look like code: json_array_foreach, TAILQ, RB
            "--include=/usr/include/jansson.h", "-I", "/usr/include/bsd",
            "-I", "common", "-I", BUILD, "-I", "tests/unit",
            "--template={file}:{line}: {id}: {message}"] + parts

    def test_cppcheck(self):
        self.clean(self.cppcheck(PARTS))

    def test_cppcheck_is_not_blind(self):
        """The control: with the same options it finds a fault."""
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "fault.c")
            with open(path, "w") as f:
                f.write("int fault(void);\n"
                        "int\nfault(void)\n{\n\tint v[2] = { 0, 0 };\n\n"
                        "\treturn (v[2]);\n}\n")
            r = tool(self.cppcheck([path]))
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"arrayIndexOutOfBounds", r.stdout)

    def test_shellcheck(self):
        self.need("shellcheck")
        scripts = []
        for pattern in ("contrib/*", "contrib/vm/*", "contrib/vm/guest/*",
                        ".ci/*", "tests/bench/*", "debian/*",
                        "debian/tests/*", "contrib/completions/*"):
            for path in glob.glob(os.path.join(TOP, pattern)):
                if not os.path.isfile(path):
                    continue
                with open(path, "rb") as f:
                    first = f.read(500)
                if re.match(rb"#! ?/bin/(ba)?sh\b", first) or \
                        b"# shellcheck shell=" in first or \
                        path.endswith(".sh"):
                    scripts.append(os.path.relpath(path, TOP))
        self.assertLessEqual({"contrib/check", "contrib/completions/myelinctl",
                              "debian/myelin.preinst"}, set(scripts))
        self.clean(["shellcheck", "-x", "-S", "style"] + sorted(scripts))

    def test_mandoc(self):
        self.need("mandoc")
        for page in sorted(glob.glob(os.path.join(TOP, "man", "*.[1-8]"))):
            with self.subTest(page=os.path.basename(page)):
                r = tool(["mandoc", "-Tlint", "-W", "style", page])
                # pages of others: whether this host has them is no matter
                left = [l for l in r.stdout.decode().splitlines()
                        if "referenced manual not found" not in l and
                        "outdated mandoc.db" not in l]
                self.assertEqual(left, [])


class Shipped(unittest.TestCase):
    """No program of an ordinary build can do without a layer."""

    def traces(self, build):
        found = set()
        for name in PROGRAMS:
            with open(os.path.join(build, name), "rb") as f:
                data = f.read()
            symbols = tool(["nm", "-a", os.path.join(build, name)]).stdout
            if b"myelin-without" in data or b"+without" in data or \
                    b"imsg_channel\0" in data or \
                    re.search(rb" without(\.c)?$", symbols, re.M):
                found.add(name)
        return found

    def test_no_switch_is_in_it(self):
        self.assertEqual(self.traces(BUILD), set())

    def test_where_there_are_switches_they_are_found(self):
        """The control: the same look at a build that has them."""
        if not os.path.exists(os.path.join(BUILD_WITHOUT, PROGRAMS[-1])):
            self.skipTest("there is no build with --enable-without")
        self.assertEqual(self.traces(BUILD_WITHOUT), set(PROGRAMS))

    def test_a_build_with_switches_is_no_service(self):
        myelind = os.path.join(BUILD_WITHOUT, PROGRAMS[0])
        if not os.path.exists(myelind):
            self.skipTest("there is no build with --enable-without")
        r = tool([myelind, "-d", "-f", "/dev/null"])
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"private instances alone", r.stdout)
        # and no build has an option that would switch anything
        for build in (BUILD, BUILD_WITHOUT):
            r = tool([os.path.join(build, PROGRAMS[0]), "-W", "seccomp"])
            self.assertEqual(r.returncode, 2)
        r = tool([os.path.join(BUILD_WITHOUT, PROGRAMS[-1]), "version"])
        self.assertIn(b"+without", r.stdout)


class Tarball(unittest.TestCase):
    """What "make dist" packs, without packing it."""

    MAKE = "include Makefile\nlist:\n\t@printf '%s\\n' $(DISTFILES)\n"
    # debian is dist-hook's, with what a build of a package left taken away.
    NOT = (".ci/", ".gitignore", "debian/")

    def test_all_of_the_tree_is_in_it(self):
        if not os.path.exists(os.path.join(TOP, ".git")) or \
                shutil.which("git") is None:
            self.skipTest("this is no clone, or there is no git")
        tree = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z"],
            check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        made = subprocess.run(
            ["make", "-s", "--old-file=Makefile", "-f", "-", "list"],
            cwd=BUILD, input=self.MAKE.encode(), check=True,
            stdout=subprocess.PIPE).stdout.decode().splitlines()
        packed = set()
        for name in made:
            for path in glob.glob(os.path.join(BUILD, name)) + \
                    glob.glob(os.path.join(TOP, name)):
                packed.add(os.path.relpath(os.path.realpath(path),
                                           os.path.realpath(TOP)))
        self.assertGreater(len(packed), 500)
        self.assertEqual([f for f in tree if f and not f.startswith(self.NOT)
                          and f not in packed and not any(
                              f.startswith(d + "/") for d in packed)], [])


if __name__ == "__main__":
    unittest.main()
