"""What judged reads as shell text is what bash and dash read as such."""
import os
import re
import shutil
import unittest

import shell_look as shell

NUMBER = int(os.environ.get("MYELIN_MUTATIONS", "10000"))
SEED = int(os.environ.get("MYELIN_SEED", "1"))
OK, SYNTAX, BOUND = range(3)

# Where the two may differ, and why.  A row is a pattern of the text, and
# which of the two rejects it.
KNOWN = [
    # Reading ends at a bound, which asks.
    (re.compile(r"[({\[]{30}"), "judged", "nested deeper than is read"),
    # bash 5.2 takes "[[ ]] a == b ]]" without a word, and runs nothing.
    (re.compile(r"(\[\[|&&|\|\||[(!])\s*\]\]"), "judged", "]] for a test"),
    (re.compile(r"\$\{[^}]*[<>]\("), "bash", "<( where a ${} is bad anyway"),
    # dash takes the text of a delimiter as it is.
    (re.compile(r"<<.*\$[{(]"), "judged", "an open ${ in a delimiter"),
    # dash reads the inside of `...` at once; bash, and judged, when it runs.
    # judged then asks.
    (re.compile(r"`", re.S), "dash", "an error inside backticks"),
]

# A text of our own for each kind of syntax: what is mutated when the shared
# ones are not there.
TEXTS = [
    "ls -la | grep x && echo y || echo z; sleep 1 &",
    "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
    "if [ -d .git ]; then git status; else echo none; fi",
    "case $x in a|b) echo 1;; (c) echo 2;; *) echo 3; esac",
    "while read -r line; do echo \"$line\"; done < file",
    "f() { local x=$1; echo \"${x:-none}\"; }; f a",
    "cat <<EOF > out\n$HOME $(date) `id`\nEOF\necho done",
    "x=(1 2 3); echo \"${x[@]:1:2}\" ${#x[@]} $((x[0] + 1))",
    "[[ $a == b* && ! -f c || $d =~ ^(e|f)$ ]] && (( i++ ))",
    "diff <(sort a) <(sort b) 2>/dev/null | tee >(wc -l) &> log",
    "echo $'a\\tb' \"c $(echo \"d ${e:-'f'}\")\" 'g'\\''h'",
    "{ echo a; (echo b); } | tr a-z A-Z >> out 2>&1",
    "until false; do select x in a b; do break; done; done",
    "for ((i = 0; i < 3; i++)); do echo {1..3} {a,b}c; done",
    "function g { time ls; ! true; }; coproc { cat; }",
]


def texts():
    found = (shell.cases() or []) + (shell.corpus() or [])
    return [t for t in found if t] or TEXTS


def known(text, rejecter):
    return any(pattern.search(text) and who == rejecter
               for pattern, who, _ in KNOWN)


class Agreement(unittest.TestCase):

    def compare(self, found, program, *options, rate=0):
        ours = shell.look(found, "-n", *options)
        theirs = shell.shell_rejects(found, program)
        self.assertEqual(len(ours), len(found))
        self.assertEqual(len(theirs), len(found))
        differ = []
        for text, our, their in zip(found, ours, theirs):
            if (our["error"] != OK) != their and not known(
                    text, program if their else "judged"):
                differ.append((text, our["error"], their))
        # What is rejected here alone asks; what is taken here alone is read
        # otherwise than the shell does, and must stay rare.
        for d in differ[:20]:
            print("# differs:", d)
        taken = [d for d in differ if d[1] == OK]
        self.assertLessEqual(len(differ), len(found) * rate, differ)
        self.assertLessEqual(len(taken), len(found) * rate / 5, taken)
        return sum(theirs)

    def test_shared_texts(self):
        if shell.cases() is None:
            self.skipTest("the shared texts are not here (MYELIN_SHARED)")
        self.compare(texts(), "bash")

    def test_own_texts(self):
        self.assertEqual(self.compare(TEXTS, "bash"), 0)

    def test_mutations(self):
        found = list(shell.mutations(texts(), NUMBER, SEED))
        rejected = self.compare(found, "bash", rate=0.01)
        # The mutations are worth something: both kinds are there.
        self.assertGreater(rejected, NUMBER // 10)
        self.assertLess(rejected, NUMBER * 9 // 10)

    @unittest.skipUnless(shutil.which("dash"), "dash is not installed")
    def test_mutations_of_dash(self):
        found = list(shell.mutations(texts(), NUMBER // 4, SEED + 1))
        self.compare(found, "dash", "-d", rate=0.01)

    def test_an_error_is_never_allowed(self):
        found = list(shell.mutations(texts(), NUMBER // 4, SEED + 2))
        for text, our, what in zip(found, shell.look(found, "-n"),
                                   shell.look(found, "-r")):
            if our["error"] != OK and "extglob" not in text:
                self.assertNotEqual(what["verdict"], "allow", text)


if __name__ == "__main__":
    unittest.main()
