"""SECURITY.md and the suite say the same."""
import importlib.util
import os
import re
import sys
import unittest

from harness import TOP

sys.path.insert(0, os.path.join(TOP, "tests"))
import page  # noqa: E402

LINE = re.compile(r"^\| ((?:`[a-z]+`|a neuron)(?:, [a-z]+ socket)?) "
                  r"\| ([^|]+) \| ([^|]+) \|$")
SETTINGS = re.compile(r"^\| ([A-Z][0-9]+[a-z]?) \| (`.*`) \|$")
# Files of tests that no switch makes fail: those of the suite itself; the one
# that takes each layer away by its own means; those that kill processes, where
# what they look at is not a layer but the service coming back.
NO_SWITCH = {"test_page", "test_static", "test_layers", "test_kills",
             "test_faults", "test_orphans", "test_approval_kills",
             "test_egress_deaths"}
TAKEN = {"`apid`, agent socket", "`apid`, operator socket", "`judged`",
         "`policyd`", "`egressd`", "a neuron"}


def python_test(path, name):
    spec = importlib.util.spec_from_file_location("page_" + os.path.basename(
        path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    thing = module
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing is not None


def exists(where, name):
    path = page.path_of(where)
    if path is None:
        return False
    if path.endswith(".py"):
        return python_test(path, name)
    with open(path) as f:
        return re.search(r"START_TEST\(%s\)" % name, f.read()) is not None


class Page(unittest.TestCase):
    def test_every_guarantee_names_tests_that_exist(self):
        rows = page.rows()
        self.assertGreater(len(rows), 10)
        for letter, cell in rows:
            tests = page.TEST.findall(cell)
            self.assertTrue(tests, letter)
            for where, name in tests:
                self.assertTrue(exists(where, name), (letter, where, name))

    def compromise(self):
        """(taken over, still cannot, tests) of the compromise table."""
        text = page.sections()["Trust model"].split("What a compromise gives")[1]
        table = [l for l in text.splitlines() if l.startswith("|")][2:]
        rows = [LINE.match(l) for l in table]
        for row, line in zip(rows, table):
            self.assertIsNotNone(row, line)
        return [m.groups() for m in rows]

    def test_every_line_of_the_compromise_table_names_tests(self):
        rows = self.compromise()
        self.assertEqual({r[0] for r in rows}, TAKEN)
        for who, what, cell in rows:
            tests = page.TEST.findall(cell)
            self.assertTrue(tests, (who, what))
            # nothing but names: a test that is misspelt is not passed over
            self.assertEqual(page.TEST.sub("", cell).strip(), "", (who, what))
            for where, name in tests:
                self.assertTrue(exists(where, name), (who, where, name))

    def test_every_test_of_a_compromise_is_named(self):
        """By the table, so that it says all that is tested."""
        named = {t for r in self.compromise() for t in page.TEST.findall(r[2])}
        path = os.path.join(TOP, "tests", "security", "test_compromise.py")
        with open(path) as f:
            text = f.read()
        found = re.findall(r"^class (\w+)|^    def (test_\w+)", text, re.M)
        owner = None
        for cls, test in found:
            if cls:
                owner = cls
            else:
                self.assertIn(("test_compromise", owner + "." + test), named)

    def test_no_guarantee_twice(self):
        letters = [r[0] for r in page.rows()]
        self.assertEqual(len(letters), len(set(letters)))

    def test_every_security_test_enforces_a_guarantee(self):
        """A test under tests/security that no row names is no guarantee."""
        named = {w for _, cell in page.rows()
                 for w, _ in page.TEST.findall(cell)}
        named |= {w for r in self.compromise()
                  for w, _ in page.TEST.findall(r[2])}
        for f in os.listdir(os.path.join(TOP, "tests", "security")):
            if f.startswith("test_") and f.endswith(".py") and \
                    f not in ("test_page.py", "test_attempts_list.py"):
                self.assertIn(f[:-3], named)

    def test_every_test_fails_without_its_layer(self):
        """tests/without.tsv has each test of the page, and none unknown."""
        tried = {}
        for _, letters, tests in page.without():
            for test in tests:
                where, name = test.split(":", 1)
                self.assertTrue(exists(where, name), test)
                tried.setdefault((where, name), set()).update(letters.split())
        for letters, where, name in page.tests():
            if where in NO_SWITCH:
                continue
            self.assertIn((where, name), tried)
            self.assertLessEqual(set(letters.split()), tried[where, name],
                                 (where, name))

    def test_settings_are_those_of_the_manual(self):
        """myelin.conf(5) has a paragraph on each, and names its guarantees."""
        table = set()
        for line in page.sections()["Settings"].splitlines():
            row = SETTINGS.match(line)
            if row is not None:
                table |= {(row.group(1), w) for w in
                          re.findall(r"`([a-z-]+)`", row.group(2))}
        with open(os.path.join(TOP, "man", "myelin.conf.5")) as f:
            text = re.search(r"^\.Sh SECURITY\n(.*?)^\.Sh ", f.read(),
                             re.M | re.S).group(1)
        manual = set()
        for words, ids in re.findall(r"^\.It Ic (.*) Pq (.*)$", text, re.M):
            for letter in ids.replace("\\&", "").split(" , "):
                manual |= {(letter, w) for w in words.split(" , ")}
        self.assertGreater(len(manual), 40)
        self.assertEqual(manual, table)
        self.assertLessEqual({i for i, _ in manual},
                             {r[0] for r in page.rows()})

    def test_what_is_not_claimed_is_said(self):
        s = page.sections()
        for title in ("Not claimed", "Gaps", "Trust model",
                      "Status by mode", "Reporting"):
            self.assertGreater(len(s[title].strip()), 100, title)
        gaps = s["Gaps"]
        letters = {r[0] for r in page.rows()}
        for letter in ("C0 C1 C1b C2 C3 C4 C4b C5 C6 C7 C8 C9 C10 D1 D2 D3 "
                       "D4 D5 D6 D7 D8 D9 D10 D11 D12 D13 D14 F1 F2 F3 N1 N2 "
                       "N3 N4 N5 N6 N7 X1 X2 X3 X4 X5 X6 X7 X8 X9 X10 U1 U2 "
                       "U3 U4 U5 U6 U7 U8 U9 U10 U11").split():
            self.assertTrue(letter in letters or
                            re.search(r"\b%s\b" % letter, gaps), letter)


if __name__ == "__main__":
    unittest.main()
