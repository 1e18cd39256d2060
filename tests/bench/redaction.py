"""How fast output is redacted: the program "scan" on a text as logs are."""
import base64
import os
import random
import re
import subprocess
import tempfile

from harness import BUILD

BYTES = 64 << 20


def log_text(size):
    """Lines of builds, JSON and base64, with much that begins like a key."""
    r = random.Random(1)
    words = ("compile link src/main.c warning token keys author risk-free "
             "disk-usage password: string eyes sk- ghp path monkey 404 0x7ffe "
             "https://example.org/a?b=1 secret passes compass").split()
    plain = "the of build file done 12 target object from in to".split()
    lines = []
    for _ in range(20000):
        kind = r.randrange(4)
        if kind == 0:
            lines.append(base64.b64encode(r.randbytes(57)))
        elif kind == 1:
            lines.append(b'{"id": "%032x", "name": "%s", "n": %d}' % (
                r.getrandbits(128), r.choice(words).encode(), r.randrange(9)))
        else:
            lines.append(" ".join(
                r.choice(words) if r.randrange(30) == 0 else
                r.choice(plain) for _ in range(12)).encode())
    text = b"\n".join(lines) + b"\n"
    return text * (size // len(text) + 1)


def run(rounds=9, size=BYTES):
    """Prints what the program prints; returns (what, ratio, goal) of those
    lines that have one."""
    with tempfile.NamedTemporaryFile(dir=os.path.join(BUILD, "tests")) as f:
        f.write(log_text(size))
        f.flush()
        r = subprocess.run(
            [os.path.join(BUILD, "tests", "bench", "scan"), f.name,
             str(rounds)], check=True, stdout=subprocess.PIPE,
            universal_newlines=True)
    print(r.stdout, end="")
    return [(what.strip(), float(ratio), float(aim)) for what, ratio, aim in
            re.findall(r"^(.*?) +[\d.]+ GB/s to [\d.]+ GB/s: ([\d.]+)x "
                       r"\(at least ([\d.]+)x\)$", r.stdout, re.M)]
