"""Runs one unittest module, or some of its tests, a line for each test.

usage: module.py FILE [Class.test...]
"""
import importlib.util
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "system"))


class Lines(unittest.TestResult):
    def line(self, word, test, detail=""):
        detail = " ".join(detail.split())[:300]
        sys.stdout.write("%s %s%s\n" % (word, test.id() if hasattr(test, "id")
                                        else test, " | " + detail
                                        if detail else ""))
        sys.stdout.flush()

    def bad(self, test, err):
        text = self._exc_info_to_string(err, test)
        self.line("failed", test, text.strip().splitlines()[-1])
        for l in text.splitlines()[-25:]:
            sys.stdout.write("detail %s\n" % l)

    def addSuccess(self, test):
        self.line("passed", test)

    def addFailure(self, test, err):
        self.bad(test, err)

    def addError(self, test, err):
        self.bad(test, err)

    def addSkip(self, test, reason):
        self.line("skipped", test, reason)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad(subtest, err)
            self.failures.append((subtest, ""))

    def addExpectedFailure(self, test, err):
        self.line("failed", test, "an expected failure is no test")


def stop(*_):
    raise SystemExit(1)


def main():
    signal.signal(signal.SIGTERM, stop)
    path = sys.argv[1]
    name = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    loader = unittest.defaultTestLoader
    if len(sys.argv) > 2:
        # one suite, so that tests of a class share what it sets up
        tests = loader.loadTestsFromNames(sys.argv[2:], module)
    else:
        tests = loader.loadTestsFromModule(module)
    tests.run(Lines())
    print("end")


main()
