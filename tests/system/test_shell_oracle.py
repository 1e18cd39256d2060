"""What bash runs is among what the resolver said that it would run.

Generated texts are run by a real bash in a namespace of its own, where all
programs are stand-ins that log their arguments.
"""
import fnmatch
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import shell_look as shell

NUMBER = int(os.environ.get("MYELIN_ORACLE", "2500"))
SEED = int(os.environ.get("MYELIN_SEED", "1"))
LOGGER = os.path.join(shell.BUILD, "tests", "shell", "logger")
PROGRAMS = ["aa", "bb", "cc", "no"]
ARGS = ["x", "y z", "-f", "/", "a*b", "$q", "", "it's", "*.txt", "~", "1"]
VARS = ["u", "v", "w"]


class Maker:
    """Makes texts whose outcome depends on nothing but themselves."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.functions = 0

    def pick(self, *what):
        return self.rng.choice(what)

    def quoted(self, text):
        """The text, quoted in one of many ways."""
        kind = self.rng.randint(0, 6)
        if kind == 0 and "'" not in text:
            return "'%s'" % text
        if kind == 1:
            return '"%s"' % "".join(
                "\\" + c if c in '$`"\\' else c for c in text)
        if kind == 2 and text:
            return "".join("\\" + c for c in text)
        if kind == 3:
            return "$'%s'" % "".join("\\x%02x" % ord(c) for c in text)
        if kind == 4 and text.isalnum():
            return text[:1] + self.pick("''", '""', "\\\n") + text[1:]
        if text.isalnum():
            return text
        return "'%s'" % text.replace("'", "'\\''")

    def param(self):
        var = self.pick(*VARS)
        return self.pick(
            "$" + var, '"$%s"' % var, "${%s}" % var, '"${%s:-x y}"' % var,
            "${%s:-%s}" % (var, self.pick(*PROGRAMS)), "${%s#a}" % var,
            "${%s%%%%b*}" % var, "${%s/a/b}" % var, "${%s//b}" % var,
            "${%s^^}" % var, "${%s,,}" % var, '"${%s:1}"' % var,
            "${%s:0:2}" % var, "${#%s}" % var, '"${%s+set}"' % var,
            '"$@"', "$*", '"$1"', "$#", "$((1 + 2))", '"${a[@]}"',
            "${a[0]}", "${#a[@]}", '"${a[*]}"', "${!%s}" % var,
            "$(( ${#%s} * 2 ))" % var, "${%s:=d}" % var)

    def word(self, depth):
        kind = self.rng.randint(0, 9)
        if kind < 4:
            return self.quoted(self.pick(*ARGS))
        if kind < 6:
            return self.param()
        if kind == 6:
            return self.pick("{a,b}", "x{1..3}", "{a,'b c'}y", "{,z}",
                             "{a}{", "~/x", "*.txt", "?.txt", "[ab].txt")
        if kind == 7 and depth > 0:
            return self.pick("$(%s)", '"$(%s)"', "`%s`") % self.pick(
                "echo %s" % self.quoted(self.pick(*ARGS)).replace("`", ""),
                "printf '%s' a b", "echo -n 'x  y'", "echo -e 'a\\tb'",
                "printf 'a%sc\\n' b", "printf '\\x61'", "pwd", ":",
                "echo aGkgeW91 | base64 -d")
        if kind == 8:
            return self.quoted(self.pick(*ARGS)) + self.param()
        return self.param() + self.quoted("k")

    def words(self, depth):
        return " ".join(self.word(depth)
                        for _ in range(self.rng.randint(0, 3)))

    def name(self):
        kind = self.rng.randint(0, 9)
        if kind < 7:
            return self.quoted(self.pick(*PROGRAMS))
        return self.pick("$p", '"$p"', "${p}", "$(echo %s)" %
                         self.pick(*PROGRAMS), "\\aa", "${p:-bb}")

    def assignment(self, depth):
        var = self.pick(*VARS)
        return self.pick(
            "%s=%s" % (var, self.word(depth)),
            "%s=%s" % (var, self.quoted(self.pick(*ARGS))),
            "%s+=%s" % (var, self.quoted("m")), "p=%s" %
            self.pick(*PROGRAMS), "a=(%s)" % self.words(depth),
            "a+=(%s)" % self.quoted("e"), "unset " + var,
            "set -- %s" % self.words(depth), "shift",
            "export %s=%s" % (var, self.quoted("e f")),
            "declare %s=%s" % (var, self.quoted("d")), "IFS=:",
            "printf -v %s '%%s-' a b" % var, "a[1]=%s" % self.quoted("n"),
            "%s=a:b::c" % var, "unset IFS", "readonly r=1",
            "%s=%s" % (var, self.pick("v", "w", "aabb")))

    def simple(self, depth):
        text = "%s %s" % (self.name(), self.words(depth))
        kind = self.rng.randint(0, 9)
        if kind == 0:
            return "x=1 " + text
        if kind == 1:
            return text + self.pick(" >/dev/null", " 2>&1", " </dev/null",
                                    " <<<y", " 3>&1")
        if kind == 2:
            return self.pick("! ", "time ", "command ", ">/dev/null ",
                             "builtin eval ") + text
        return text

    def command(self, depth):
        if depth <= 0:
            return self.simple(0)
        kind = self.rng.randint(0, 21)
        one, two = self.list(depth - 1), self.list(depth - 1)
        if kind < 5:
            return self.simple(depth)
        if kind < 10:
            return self.assignment(depth - 1)
        if kind == 10:
            return "(%s)" % one
        if kind == 11:
            return "{ %s\n}" % one
        if kind == 12:
            return "if %s\nthen %s\nelse %s\nfi" % (
                self.pick("aa", "no", "[ -n \"$u\" ]", "[[ $v == a* ]]"),
                one, two)
        if kind == 13:
            return "for %s in %s; do %s\ndone" % (
                self.pick(*VARS), self.words(depth - 1) or "1 2", one)
        if kind == 14:
            return "case %s in a*|x) %s\n;; *) %s\n;; esac" % (
                self.word(0), one, two)
        if kind == 15:
            self.functions += 1
            name = "f%d" % self.functions
            return "%s() { %s\n}; %s %s" % (name, one, name,
                                            self.words(depth - 1))
        if kind == 16:
            return "eval %s" % self.quoted(self.simple(0))
        if kind == 17:
            return "%s -c %s %s" % (
                "bash", self.quoted(self.simple(0)), self.words(0))
        if kind == 18:
            return "bash <<'E'\n%s\nE\n" % self.simple(0)
        if kind == 19:
            return "echo %s | bash" % self.quoted(
                "%s %s" % (self.pick(*PROGRAMS), self.pick("x", "'y z'")))
        if kind == 20:
            return "cat <<E | bash\naa $u `echo b` $((3*4))\nE\n"
        return "trap %s EXIT" % self.quoted(self.simple(0))

    def list(self, depth):
        parts = [self.command(depth)
                 for _ in range(self.rng.randint(1, 3))]
        text = parts[0]
        for part in parts[1:]:
            if text.endswith("\n"):
                text += part
            else:
                text += self.pick("; ", "\n", " && ", " || ", "\n") + part
        return text

    def text(self):
        self.functions = 0
        known = "u=ab v='c d' w= p=cc; a=(k 'l m'); set -- n 'o p'\n"
        return (known if self.rng.random() < 0.8 else "") + self.list(
            self.rng.randint(1, 3))


def parse_words(text):
    """Words as tests/shell/stub.h writes them."""
    words = []
    for word in text.split(" ") if text else []:
        glob = word.startswith("~")
        word = word[glob:]
        unknown = word.endswith("?")
        splits = word.endswith("*?")
        word = word[:len(word) - unknown - splits]
        out, at = b"", 0
        while at < len(word):
            if word[at] == "%":
                out += bytes([int(word[at + 1:at + 3], 16)])
                at += 3
            else:
                out += word[at].encode()
                at += 1
        if word == "''":
            out = b""
        words.append((out, glob, unknown, splits))
    return words


def fits(argv, words):
    """1 if this argument vector is one that these words may stand for."""
    reach = {0}     # how many arguments the words so far may have taken
    for text, glob, unknown, splits in words:
        then = set()
        for at in reach:
            if splits:
                then.update(range(at, len(argv) + 1))
                continue
            if at < len(argv) and (
                    argv[at] == text or unknown and
                    argv[at].startswith(text)):
                then.add(at + 1)
            while glob and at < len(argv) and (unknown or fnmatch.fnmatchcase(
                    argv[at].decode("latin-1"), text.decode("latin-1"))):
                at += 1
                then.add(at)
        reach = then
    return len(argv) in reach


RUN = r"""
export PATH=/programs
i=0
while IFS= read -r -d '' text; do
    : > /log/argv
    cd /home/agent/project
    timeout -k 1 5 bash --norc --noprofile -c "$text" bash \
        </dev/null >/dev/null 2>&1
    mv /log/argv /log/$i
    i=$((i + 1))
done < /texts
"""


class Oracle(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if shutil.which("bwrap") is None:
            raise unittest.SkipTest("bubblewrap is not installed")

    def run_all(self, texts):
        """The argument vectors that each text ran."""
        with tempfile.TemporaryDirectory() as top:
            for name in ("log", "programs", "project"):
                os.mkdir(os.path.join(top, name))
                os.chmod(os.path.join(top, name), 0o777)
            os.chmod(top, 0o755)
            for name in PROGRAMS:
                shutil.copy(LOGGER, os.path.join(top, "programs", name))
            for name, path in (("bash", "bash"), ("timeout", "timeout"),
                               ("mv", "mv"), ("cat", "cat"),
                               ("base64", "base64")):
                os.symlink("/usr/bin/" + path,
                           os.path.join(top, "programs", name))
            for name in ("a.txt", "b.txt"):
                open(os.path.join(top, "project", name), "w").close()
            with open(os.path.join(top, "texts"), "wb") as out:
                for text in texts:
                    out.write(text.encode() + b"\0")
            argv = ["bwrap", "--unshare-all", "--die-with-parent",
                    "--clearenv", "--setenv", "HOME", "/home/agent",
                    "--setenv", "USER", "agent",
                    "--setenv", "SHELL", "/bin/bash",
                    "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib",
                    "/lib", "--symlink", "usr/lib64", "/lib64",
                    "--symlink", "usr/bin", "/bin", "--dev", "/dev",
                    "--tmpfs", "/home/agent",
                    "--ro-bind", os.path.join(top, "project"),
                    "/home/agent/project",
                    "--bind", os.path.join(top, "log"), "/log",
                    "--ro-bind", os.path.join(top, "programs"), "/programs",
                    "--ro-bind", os.path.join(top, "texts"), "/texts",
                    "/usr/bin/bash", "--norc", "--noprofile", "-c", RUN]
            subprocess.run(argv, check=True, timeout=800,
                           stdin=subprocess.DEVNULL)
            for i in range(len(texts)):
                with open(os.path.join(top, "log", str(i)), "rb") as log:
                    yield [row.split(b"\0")[:-1]
                           for row in log.read().split(b"\1\0") if row]

    def test_what_ran_was_predicted(self):
        maker = Maker(SEED)
        texts = [maker.text() for _ in range(NUMBER)]
        ran, compared, missing = 0, 0, []
        answers = shell.look(texts, "-r")
        for text, answer, argvs in zip(texts, answers, self.run_all(texts)):
            if answer["unknown"]:
                continue        # anything may run, so it asks
            compared += 1
            predicted = [parse_words(c) for c in answer["commands"]]
            for argv in argvs:
                ran += 1
                if not any(fits(argv, words) for words in predicted):
                    missing.append((text, argv, answer["commands"]))
                    break
        self.assertEqual(missing[:5], [], "%d of %d" % (
            len(missing), len(texts)))
        # Most are compared, and they do run something.
        self.assertGreater(compared, NUMBER * 8 // 10)
        self.assertGreater(ran, NUMBER)


if __name__ == "__main__":
    unittest.main()
