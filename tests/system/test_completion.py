"""Completion in bash: offers what myelinctl's own help says, and the ids that
the service has; the file is sourced as a shell does it."""
import os
import re
import subprocess
import unittest

from harness import CTL, TOP, Instance, wait_for

FILE = os.path.join(TOP, "contrib", "completions", "myelinctl")
ASK = r"""
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_myelinctl "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def complete(*words, env=None, cwd=TOP):
    """What is offered for the last of the words."""
    r = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", FILE, CTL] + list(words),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=60, cwd=cwd,
        env={**os.environ, "MYELIN_SOCKET": "/nowhere",
             "MYELIN_OPERATOR_SOCKET": "/nowhere", **(env or {})})
    assert r.stderr == b"", r.stderr
    return [l for l in r.stdout.decode().split("\n") if l]


def help_of(*words):
    return subprocess.run([CTL] + list(words) + ["-h"], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          timeout=60).stdout.decode()


def commands():
    return [l.split()[0] for l in help_of().splitlines()
            if re.match(r"  [a-z]", l)]


class Words(unittest.TestCase):
    def test_commands(self):
        names = commands()
        self.assertLessEqual({"run", "audit", "version"}, set(names))
        self.assertEqual(complete(""), names)
        self.assertEqual(complete("-s", "/x", "who"), ["whoami"])
        self.assertEqual(complete("ver"), ["version"])
        self.assertEqual(complete("nonsense", ""), [])

    def test_options_are_those_of_the_help(self):
        for name in commands():
            with self.subTest(command=name):
                said = set(re.findall(r"(?m)^ {2,6}(?:-\w, )?(--[a-z-]+)",
                                      help_of(name)))
                said |= set(re.findall(r"(?m)^  (-\w), ", help_of(name)))
                self.assertEqual(set(complete(name, "-")), said | {"-h"})

    def test_verbs_are_those_of_the_help(self):
        verbs = {"audit": ["verify", "tail", "export"],
                 "sessions": ["open", "end", "show"],
                 "neurons": ["list", "create", "show", "destroy"],
                 "approvals": ["show", "revoke", "watch", "suggest"],
                 "keys": ["list", "add", "rotate", "revoke"],
                 "secrets": ["list", "add", "delete"],
                 "call": ["show", "explain"], "version": [], "whoami": []}
        for name, want in verbs.items():
            with self.subTest(command=name):
                found = complete(name, "")
                self.assertLessEqual(set(want), set(found))
                # and no verb that the command does not know
                usage = help_of(name).splitlines()[0]
                for verb in found:
                    if name != "audit":     # which takes files, too
                        self.assertIn(" " + verb, usage.replace("[", " ")
                                      .replace("|", " "))
        self.assertEqual(complete("sessions", "e"), ["end"])

    def test_files(self):
        here = os.path.join(TOP, "contrib")
        self.assertEqual(complete("run", "-w", "exa", cwd=here), ["examples"])
        # a value of an option that names a directory is no file
        self.assertEqual(complete("run", "-w", "chec", cwd=here), [])
        self.assertEqual(complete("audit", "--anchors", "chec", cwd=here),
                         ["check"])
        self.assertEqual(complete("run", "--timeout", "", cwd=here), [])
        self.assertIn("sh", complete("run", "--", "sh"))
        self.assertEqual(complete("run", "--", "sh", "chec", cwd=here),
                         ["check"])

    def test_no_service(self):
        self.assertEqual(complete("approve", ""), [])
        self.assertEqual(complete("call", "--session", ""), [])


class Ids(unittest.TestCase):
    def test_ids(self):
        with Instance() as i:
            env = {"MYELIN_SOCKET": i.api,
                   "MYELIN_OPERATOR_SOCKET": i.operator}

            def ask(*words):
                return complete(*words, env=env)
            session = i.session()
            call = i.bash("true", session=session)["call"]
            self.assertEqual(ask("sessions", "end", ""), [session])
            self.assertEqual(ask("sessions", "show", "s-"), [session])
            self.assertEqual(ask("call", "--session", ""), [session])
            self.assertEqual(ask("files", ""), [session])
            self.assertIn(call, ask("call", "explain", "c-"))
            self.assertEqual(ask("call", "bas"), ["bash"])
            i.request("POST", "/v1/calls", {
                "tool": "bash", "args": {"command": "rm -rf .git"}})
            # the answer does not wait for the verdict
            found = wait_for(lambda: i.get("/v1/approvals", operator=True)[1][
                "approvals"], 60)
            self.assertEqual(ask("approve", ""), [found[0]["approval"]])
            self.assertEqual(ask("approve", "x"), [])
            i.ctl("secrets", "add", "pass-1", input=b"long enough a value")
            self.assertEqual(ask("secrets", "delete", ""), ["pass-1"])


if __name__ == "__main__":
    unittest.main()
