"""neuron-tool against a model of how the kernel walks a path.

Random trees of directories, files and links, and random paths in them: what
never leaves home and workspace is read, exactly that file; what leaves is
refused, even if it comes back.  MYELIN_FUZZ_SEED and MYELIN_FUZZ_PATHS make it
another run.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import BUILD  # noqa: E402

SEED = int(os.environ.get("MYELIN_FUZZ_SEED", "20261129"))
PATHS = int(os.environ.get("MYELIN_FUZZ_PATHS", "300"))
TREES = 4
LINKS = 25
LINKS_FOLLOWED = 40


def string(b):
    return struct.pack("<I", len(b)) + b


def block(body, args):
    """A run block of a body (common/runblock.h)."""
    return struct.pack("<HI", 1, 1) + string(b"") + \
        struct.pack("<I", 1) + string(body.encode()) + \
        struct.pack("<I", 0) + string(json.dumps(args).encode())


class Tree:
    def __init__(self, rnd):
        self.rnd = rnd
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="myelin-model-"))
        self.roots = [self.top + "/work", self.top + "/home"]
        self.dirs, self.links = [], []
        for r in self.roots + [self.top + "/out"]:
            os.mkdir(r)
            own = [r]
            for _ in range(4):
                d = rnd.choice(own) + "/" + rnd.choice("abcd")
                if not os.path.lexists(d):
                    os.mkdir(d)
                    own.append(d)
            self.dirs += own
        for d in self.dirs:
            for name in "fg":
                with open(d + "/" + name, "w") as f:
                    f.write(d + "/" + name)
        for i in range(LINKS):
            self.link(i)

    def link(self, i):
        rnd = self.rnd
        d, to = rnd.choice(self.dirs), rnd.choice(self.dirs)
        target = rnd.choice([
            to, os.path.relpath(to, d), to + "/" + rnd.choice("fgx"),
            "../" * rnd.randint(1, 3) +
            rnd.choice(["f", "a", "work/f", "home", "out/f"]),
            rnd.choice(self.links or [to])])
        os.symlink(target, "%s/l%d" % (d, i))
        self.links.append("%s/l%d" % (d, i))

    def inside(self, path):
        return any(path == r or path.startswith(r + "/") for r in self.roots)

    def above(self, path):
        return any(r.startswith(path.rstrip("/") + "/") for r in self.roots)

    def walk(self, path, cwd):
        """Where the kernel ends, None for nowhere; and if it ever left."""
        cur = "/" if path.startswith("/") else cwd
        todo = [c for c in path.split("/") if c]
        left, followed = False, 0
        while todo:
            c = todo.pop(0)
            if c == ".":
                continue
            if not os.path.isdir(cur):
                return None, left
            one = cur.rstrip("/") + "/" + c
            if c == "..":
                cur = os.path.dirname(cur)
            elif os.path.islink(one):
                followed += 1
                if followed > LINKS_FOLLOWED:
                    return None, left
                target = os.readlink(one)
                todo = [x for x in target.split("/") if x] + todo
                if target.startswith("/"):
                    cur = "/"
                continue
            elif os.path.exists(one):
                cur = one
            else:
                return None, left
            left = left or not (self.inside(cur) or self.above(cur))
        return cur, left

    def path(self, cwd):
        """Mostly one that exists."""
        names = ["a", "f", "..", ".", "work", "home", "out", "nothing"]
        parts, cur = [], cwd
        for _ in range(self.rnd.randint(1, 7)):
            # of the tree alone, and in an order that is the same everywhere:
            # what else is on the host comes and goes
            there = sorted(os.listdir(cur)) if (cur + "/").startswith(
                self.top + "/") else []
            parts.append(self.rnd.choice(
                there if there and self.rnd.random() < 0.8 else names))
            cur = self.walk("/".join(parts), cwd)[0]
            if cur is None or not os.path.isdir(cur):
                break
        path = "/".join(parts)
        if self.rnd.random() < 0.1:
            path = self.rnd.choice(self.dirs) + "/" + path
        return path

    def read(self, path, cwd):
        fd = os.memfd_create("run")
        os.write(fd, block("read", {"path": path}))
        try:
            p = subprocess.run(
                ["/bin/sh", "-c", 'exec "$0" "$@" 3<&%d' % fd,
                 os.path.join(BUILD, "neurond", "neuron-tool"), "read",
                 self.roots[1], self.roots[0]], cwd=cwd, pass_fds=[fd],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=60)
        finally:
            os.close(fd)
        error = json.loads(p.stderr).get("error")
        return p.returncode, p.stdout.decode(), error and error["code"]


class Model(unittest.TestCase):
    def one(self, tree, counts):
        cwd = tree.rnd.choice([d for d in tree.dirs if tree.inside(d)])
        path = tree.path(cwd)
        real, left = tree.walk(path, cwd)
        status, text, code = tree.read(path, cwd)
        what = (cwd, path, real, left, status, text, code)
        self.assertIn(status, (0, 1), what)
        if status == 0:
            self.assertEqual(text, real, what)
            self.assertTrue(tree.inside(real), what)
            counts["read"] += 1
        elif real is not None and not left:
            self.assertEqual(code, "is_a_directory" if tree.inside(real)
                             else "outside", what)
            self.assertTrue(os.path.isdir(real), what)
        elif real is not None:
            self.assertEqual(code, "outside", what)
            counts["outside"] += 1
        else:
            self.assertIn(code, ("not_found", "not_a_directory", "outside",
                                 "bad_path"), what)

    def test_paths(self):
        counts = {"read": 0, "outside": 0}
        for n in range(TREES):
            tree = Tree(random.Random(SEED + n))
            try:
                for _ in range(PATHS):
                    self.one(tree, counts)
            finally:
                shutil.rmtree(tree.top)
        self.assertGreater(counts["read"], PATHS * TREES // 10)
        self.assertGreater(counts["outside"], PATHS * TREES // 100)


if __name__ == "__main__":
    unittest.main()
