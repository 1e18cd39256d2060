"""The guarantees of SECURITY.md and the tests that it names for each."""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(TOP, "SECURITY.md")
ROW = re.compile(r"^\| ([A-Z][0-9]+[a-z]?) \|.*\| ([^|]+) \|$")
TEST = re.compile(r"`([a-z_]+(?:/[a-z_]+)?):([A-Za-z_0-9.]+)`")


def sections():
    with open(PAGE) as f:
        parts = re.split(r"^## (.*)$", f.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def rows():
    """(letter, the cell with its tests)"""
    found = [ROW.match(l) for l in sections()["Guarantees"].splitlines()]
    return [(m.group(1), m.group(2)) for m in found if m]


def tests():
    """(letters, file, test), in the page's order, each test once."""
    letters = {}
    for letter, cell in rows():
        for test in TEST.findall(cell):
            letters.setdefault(test, []).append(letter)
    return [(" ".join(l),) + test for test, l in letters.items()]


def without():
    """(switches, letters, [file:test]) of tests/without.tsv."""
    with open(os.path.join(TOP, "tests", "without.tsv")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                switches, letters, tests = line.rstrip("\n").split("\t")
                yield switches, letters, tests.split()


def path_of(where):
    """The file of a test by the page's name for it, or None."""
    for kind, ext in (("security", ".py"), ("system", ".py"),
                      ("unit", ".c")):
        path = os.path.join(TOP, "tests", kind, where + ext)
        if os.path.exists(path):
            return path
    return None
