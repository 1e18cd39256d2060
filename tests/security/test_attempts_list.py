"""attempts.tsv and the suite say the same: each attempt is a test that exists,
and something shows that it works where our layer is not."""
import ast
import os
import re
import sys
import unittest

from harness import TOP

sys.path.insert(0, os.path.join(TOP, "tests"))
import page  # noqa: E402

LIST = os.path.join(TOP, "tests", "security", "attempts.tsv")
TEST = re.compile(r"^([a-z_0-9]+):([A-Za-z_0-9.*]+)$")
COUNT = 74
NO_TEST = {11, 12}


def rows():
    with open(LIST) as f:
        for line in f:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def exists(where, name):
    """Also of a test whose class is not told, and of some by a prefix."""
    path = page.path_of(where)
    if path is None:
        return False
    with open(path) as f:
        text = f.read()
    if path.endswith(".c"):
        return re.search(r"START_TEST\(%s\)" % name, text) is not None
    cls, _, test = name.rpartition(".")
    for c in ast.parse(text).body:
        if not isinstance(c, ast.ClassDef) or (cls and c.name != cls):
            continue
        names = [d.name for d in c.body if isinstance(d, ast.FunctionDef)]
        if test in names or (test.endswith("*") and any(
                n.startswith(test[:-1]) for n in names)):
            return True
    return False


class List(unittest.TestCase):
    def test_every_number_has_a_row(self):
        self.assertEqual([int(r[0]) for r in rows()],
                         list(range(1, COUNT + 1)))
        for r in rows():
            self.assertEqual(len(r), 4, r)
            self.assertEqual((r[1], r[2], r[3]) == ("-",) * 3,
                             int(r[0]) in NO_TEST, r)

    def test_every_test_exists(self):
        for number, _, tests, _ in rows():
            for t in tests.split():
                if t == "-":
                    continue
                m = TEST.match(t)
                self.assertIsNotNone(m, (number, t))
                self.assertTrue(exists(*m.groups()), (number, t))

    def test_every_control_exists(self):
        switches = {row[0]: row[2] for row in page.without()}
        for number, _, tests, control in rows():
            if control.startswith("none: "):
                self.assertGreater(len(control), 20, number)
            elif control.startswith("without "):
                name = control.split(" ", 1)[1]
                self.assertIn(name, switches, number)
            elif control not in ("itself", "-"):
                self.assertTrue(exists(*TEST.match(control).groups()),
                                (number, control))

    def test_numbers_in_names(self):
        """A test that has a number in its name is in that number's row."""
        listed = {int(r[0]): r[2] for r in rows()}
        for name in ("test_attempts", "test_attempts_calls",
                     "test_attempts_bounds", "test_protected"):
            with open(page.path_of(name)) as f:
                text = f.read()
            for test in re.findall(r"^    def (test_[0-9]\w*)", text, re.M):
                if test == "test_010_control":
                    continue
                for n in re.findall(r"[0-9]{3}", test):
                    self.assertRegex(listed[int(n)],
                                     r"%s:\w+\.%s\b" % (name, test))


if __name__ == "__main__":
    unittest.main()
