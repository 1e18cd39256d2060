"""The validator against the official test suite of JSON Schema 2020-12.

It is taken from a Debian package that carries a copy, as installed or, into a
scratch directory, as downloaded; without either this is skipped, and says so.
"""
import collections
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD

PACKAGE = "libtest-json-schema-acceptance-perl"
SUITE = ("/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/"
         "tests/draft2020-12")
DRIVER = os.path.join(BUILD, "tests", "unit", "schema_suite")

# Files whose keyword is not supported, and why it is not.
LEFT = {
    "anchor.json": "$anchor: references by pointer alone",
    "defs.json": "its one schema refers to the metaschema's address",
    "dynamicRef.json": "$dynamicRef: for schemas that others extend",
    "id.json": "$id: a declaration is one document",
    "refRemote.json": "references within the declaration alone",
    "unevaluatedItems.json": "unevaluatedItems: needs annotations",
    "unevaluatedProperties.json": "unevaluatedProperties: the same",
    "unknownKeyword.json": "what is not known is refused, not skipped",
    "vocabulary.json": "$vocabulary: for metaschemas",
}
# Each file here must have cases that run: a keyword that we support.
KEYWORDS = """additionalProperties allOf anyOf boolean_schema const contains
content default dependentRequired dependentSchemas enum exclusiveMaximum
exclusiveMinimum format if-then-else infinite-loop-detection items maxContains
maxItems maxLength maxProperties maximum minContains minItems minLength
minProperties minimum multipleOf not oneOf pattern patternProperties
prefixItems properties propertyNames ref required type uniqueItems""".split()


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="suite-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        suite = SUITE if os.path.isdir(SUITE) else cls.download()
        cls.files = sorted(os.path.join(suite, f) for f in os.listdir(suite)
                           if f.endswith(".json"))

    @classmethod
    def download(cls):
        """The package's files alone; what it depends on is not needed."""
        os.chmod(cls.dir, 0o777)    # apt's own user writes there
        for argv in (["apt-get", "download", PACKAGE], ["sh", "-c",
                     "dpkg-deb -x ./%s_*.deb ." % PACKAGE]):
            try:
                r = subprocess.run(argv, cwd=cls.dir, timeout=120,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
            except (OSError, subprocess.TimeoutExpired) as e:
                raise unittest.SkipTest("%s: %s" % (argv[0], e))
            if r.returncode != 0:
                raise unittest.SkipTest("the Debian package %s is neither "
                                        "installed nor to be had: %s" % (
                                            PACKAGE, r.stdout[-200:]))
        return cls.dir + SUITE

    def test_all_cases_of_the_keywords_agree(self):
        r = subprocess.run([DRIVER] + self.files, stdout=subprocess.PIPE,
                           timeout=120)
        lines = r.stdout.decode().splitlines()
        ran, left = collections.Counter(), collections.Counter()
        why = collections.defaultdict(collections.Counter)
        for line in lines:
            word, rest = line.split(" ", 1)
            if word == "ran":
                name, n = rest.split(" ")
                ran[name] += int(n)
            elif word == "left":
                name, n, words = rest.split(" ", 2)
                left[name] += int(n)
                why[name][words.split(": ", 1)[1]] += int(n)
        print("JSON Schema 2020-12: %d cases ran, %d were left out" % (
            sum(ran.values()), sum(left.values())))
        for name in sorted(left):
            print("  %s: %d of %d left out: %s" % (
                name, left[name], left[name] + ran[name],
                LEFT.get(name) or "; ".join(
                    "%s (%d)" % x for x in why[name].most_common())))
        self.assertEqual([x for x in lines if x.startswith("wrong")], [])
        self.assertEqual(r.returncode, 0)
        missing = [k for k in KEYWORDS if ran[k + ".json"] == 0]
        self.assertEqual(missing, [])
        names = {os.path.basename(f) for f in self.files}
        self.assertEqual(names - set(LEFT) - {k + ".json" for k in KEYWORDS},
                         set())
        # of a keyword that is supported, only schemas that use one that is
        # not, or an address elsewhere, are left out
        for k in KEYWORDS:
            for words in why[k + ".json"]:
                self.assertRegex(words, "is not supported|references within|"
                                 "leads to nothing|does not lead")
        self.assertGreater(sum(ran.values()), 800)


if __name__ == "__main__":
    unittest.main()
