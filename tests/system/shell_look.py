"""Drives tests/shell/look: what the shell's reader makes of texts."""
import json
import os
import random
import subprocess

from harness import BUILD, SHARED

LOOK = os.path.join(BUILD, "tests", "shell", "look")


def look(texts, *options):
    """One object for each text (none may hold a NUL)."""
    done = subprocess.run(
        [LOOK, *options], check=True, stdout=subprocess.PIPE, timeout=600,
        input=b"".join(t.encode("utf-8", "surrogateescape") + b"\0"
                       for t in texts))
    return [json.loads(line) for line in done.stdout.splitlines()]


def cases():
    """The texts of the judged cases, or None where they are not."""
    path = os.path.join(SHARED, "policy-cases.tsv")
    if not os.path.exists(path):
        return None
    found = []
    with open(path, encoding="utf-8") as rows:
        for row in rows:
            fields = row.rstrip("\n").split("\t")
            if not row.startswith("# ") and len(fields) > 2:
                found.append(decode(fields[2]))
    return found


def decode(text):
    """Takes the escapes of the command column away."""
    out, rest = "", iter(text)
    for char in rest:
        if char == "\\":
            char = next(rest, "\\")
            char = {"n": "\n", "t": "\t"}.get(char, char)
        out += char
    return out


def corpus():
    path = os.path.join(SHARED, "benign-corpus.txt")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines if line.strip()]


PIECES = [
    "'", '"', "\\\n", "''", '""', "$IFS", "${IFS}", "(", ")", "{", "}", ";",
    "|", "&", "<", ">", "`", "$(", "${", "$((", "))", "((", "\n", "#", "\\",
    " ", "<<E", "<<-'E'", "\nE\n", "[[", "]]", "[", "]", "if ", "then ",
    "fi", "else ", "while ", "do ", "done", "for x in ", "case x in ",
    "esac", ";;", "&&", "||", "|&", "&>", ">&", "<(", ">(", "$'", '$"',
    "f() ", "function f ", "a=(", "a[1]=", "x+=", "! ", "time ", "coproc ",
    "select x in ", "until ", "in ", "=~ ", "*", "~", "@(", "{a,b}",
    "{1..3}", "env ", "sudo ", "nohup ", "timeout 5 ", "xargs ", "2>", "3<",
    "{fd}>", "<<<", "$x", "${x:-", "${#x}", "${x//", "$@", "!("]


def mutations(texts, number, seed):
    """Texts with a few pieces put in, taken away or swapped."""
    rng = random.Random(seed)
    while number > 0:
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            at, what = rng.randint(0, len(text)), rng.random()
            if what < 0.65:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            elif what < 0.85:
                text = text[:at] + text[at + rng.randint(1, 3):]
            else:
                end = rng.randint(0, len(text))
                low, high = min(at, end), max(at, end)
                text = text[:low] + text[low:high][::-1] + text[high:]
        if text.strip() and "\0" not in text:
            yield text
            number -= 1


def shell_rejects(texts, shell="bash"):
    """Whether `shell -n` rejects each, in one process for all of them."""
    # bash 5.2 says so of a bad [[ ]], and succeeds.
    loop = r"""while IFS= read -r -d '' t; do
        e=$(%s -n -c -- "$t" 2>&1 >/dev/null </dev/null); r=$?
        case $e in *conditional*|*'syntax error'*) r=1;; esac
        printf '%%d\n' "$r"
    done""" % shell
    done = subprocess.run(
        ["bash", "-c", loop], check=True, stdout=subprocess.PIPE, timeout=900,
        input=b"".join(t.encode("utf-8", "surrogateescape") + b"\0"
                       for t in texts),
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
    return [line != b"0" for line in done.stdout.split()]
