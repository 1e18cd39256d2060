"""The tree of shell text beside the one of shfmt (package shfmt)."""
import json
import os
import re
import shutil
import subprocess
import unittest

import shell_look as shell
from test_shell_syntax import TEXTS, texts

NUMBER = int(os.environ.get("MYELIN_TREES", "400"))
SEED = int(os.environ.get("MYELIN_SEED", "1"))

# What shfmt 3.6 reads otherwise than bash 5.2: texts with these are not
# compared.
SKIPPED = [
    (re.compile(r"\\\n"), "misses \"$\\<newline>(c)\""),
    (re.compile(r"\$\{[^}]*'"), "quotes inside \"${x:-'$(c)'}\""),
    (re.compile(r"\(\("), "rejects ((a) ; b) and $((a) ; b)"),
    (re.compile(r"![ \t]+!"), "rejects ! ! c"),
    (re.compile(r"\w\["), "rejects a[1]=2 c"),
    (re.compile(r"\$\["), "reads $[1] as an expression of its own"),
    (re.compile(r"\b(time|coproc|let|declare|export|local|typeset|"
                r"readonly|nameref|function|select)\b"),
     "has nodes of their own for these"),
    (re.compile(r"[@?*+!]\("), "reads extended patterns everywhere"),
    (re.compile(r"=~"), "reads regular expressions in its own way"),
    (re.compile(r"<<"), "places here-documents otherwise"),
    (re.compile(r"\$'|\$\""), "names these as one part"),
    (re.compile(r"`"), "parses what bash reads when it runs"),
]


def shfmt(text):
    done = subprocess.run(["shfmt", "--to-json", "-ln", "bash"], timeout=60,
                          input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else None


def at(node, which):
    return node[which]["Offset"]


def learn(text):
    """The number that shfmt has for an operator."""
    return shfmt(text)["Stmts"][0]["Cmd"]["Op"]


class Tree:
    """shfmt's tree in the form of tests/shell/look_tree.c."""

    def __init__(self):
        self.ops = {learn("a && b"): "and", learn("a || b"): "or",
                    learn("a | b"): "pipe", learn("a |& b"): "pipe"}

    def stmts(self, found):
        return [self.stmt(s) for s in found or []]

    def substitutions(self, node, found):
        """The substitutions in a word, in order."""
        if isinstance(node, list):
            for one in node:
                self.substitutions(one, found)
        elif isinstance(node, dict):
            if node.get("Type") in ("CmdSubst", "ProcSubst"):
                found.append((at(node, "Pos"), self.stmts(node.get("Stmts"))))
                return
            for name, one in node.items():
                if name not in ("Pos", "End"):
                    self.substitutions(one, found)

    def inner(self, node):
        found = []
        self.substitutions(node, found)
        return [tree for _, tree in sorted(found, key=lambda f: f[0])]

    def word(self, node):
        return [at(node, "Pos"), at(node, "End"), self.inner(node)]

    def words(self, nodes):
        return [self.word(n) for n in nodes or []]

    def stmt(self, stmt, asynchronous=True):
        cmd = stmt.get("Cmd")
        redirs = [self.word(r["Word"]) for r in stmt.get("Redirs") or []]
        head = [int(bool(stmt.get("Negated"))),
                int(asynchronous and bool(stmt.get("Background"))), redirs]
        if cmd is None:
            return head + ["simple", [], []]
        return head + self.command(cmd)

    def stages(self, stmt):
        cmd = stmt.get("Cmd")
        if cmd and cmd["Type"] == "BinaryCmd" and \
                self.ops[cmd["Op"]] == "pipe" and not stmt.get("Redirs") \
                and not stmt.get("Negated"):
            return self.stages(cmd["X"]) + self.stages(cmd["Y"])
        return [self.stmt(stmt)]

    def command(self, cmd):
        kind = cmd["Type"]
        if kind == "CallExpr":
            return ["simple", self.words(cmd.get("Assigns")),
                    self.words(cmd.get("Args"))]
        if kind == "BinaryCmd":
            if self.ops[cmd["Op"]] == "pipe":
                stages = self.stages(cmd["X"]) + self.stages(cmd["Y"])
                # "! a | b" negates the pipe.
                return ["pipe", stages]
            return [self.ops[cmd["Op"]], self.stmt(cmd["X"]),
                    self.stmt(cmd["Y"])]
        if kind in ("Subshell", "Block"):
            return ["subshell" if kind == "Subshell" else "group",
                    self.stmts(cmd["Stmts"])]
        if kind == "IfClause":
            return self.if_clause(cmd)
        if kind == "WhileClause":
            return ["until" if cmd.get("Until") else "while",
                    self.stmts(cmd["Cond"]), self.stmts(cmd["Do"])]
        if kind == "ForClause":
            loop = cmd["Loop"]
            return ["for", loop["Name"]["Value"],
                    self.words(loop.get("Items")), self.stmts(cmd["Do"])]
        if kind == "CaseClause":
            return ["case", self.word(cmd["Word"]), [
                [self.words(i["Patterns"]), self.stmts(i.get("Stmts"))]
                for i in cmd.get("Items") or []]]
        if kind == "FuncDecl":
            return ["function", cmd["Name"]["Value"],
                    self.stmt(cmd["Body"])]
        if kind == "TestClause":
            return ["cond", self.inner(cmd["X"])]
        return ["?" + kind]

    def if_clause(self, cmd):
        other = cmd.get("Else")
        if other is None:
            rest = []
        elif other.get("Cond"):
            rest = [0, 0, []] + self.if_clause(other)
        else:
            rest = self.stmts(other["Then"])
        return ["if", self.stmts(cmd["Cond"]), self.stmts(cmd["Then"]), rest]


@unittest.skipUnless(shutil.which("shfmt"), "shfmt is not installed")
class Shfmt(unittest.TestCase):

    def compare(self, found):
        tree, differ, compared = Tree(), [], 0
        found = [t for t in found
                 if not any(p.search(t) for p, _ in SKIPPED)]
        for text, ours in zip(found, shell.look(found, "-a")):
            theirs = shfmt(text)
            # Which texts there are at all is bash's to say, not shfmt's.
            if ours["error"] or theirs is None:
                continue
            compared += 1
            theirs = tree.stmts(theirs.get("Stmts"))
            mine = [node for one in ours["tree"] for node in one]
            if mine != theirs:
                differ.append((text, mine, theirs))
        self.assertEqual(differ[:3], [], "%d of %d" % (len(differ), compared))
        return compared

    def test_own_texts(self):
        self.assertGreater(self.compare(TEXTS), 3)

    def test_shared_texts(self):
        if shell.cases() is None:
            self.skipTest("the shared texts are not here (MYELIN_SHARED)")
        self.assertGreater(self.compare(texts()), 1000)

    def test_mutations(self):
        self.assertGreater(self.compare(list(shell.mutations(
            texts(), NUMBER, SEED + 3))), NUMBER // 10)


if __name__ == "__main__":
    unittest.main()
