"""What uses up all that a neuron has, or will not end, and how each is told.

Each is a program that a bound stops or that ends itself, in a neuron of the
profile of CONFIG; the row says what the record must say of it.
"""
from harness import CONFIG as PLAIN

PROFILE = """
profile "storm" { memory 64M; pids 64; nofile 200; home 4M; tmp 4M
	inodes 400; output-killed 4M }
"""


def config(text=PLAIN):
    return text.replace("preset", 'profile "default", "storm"; preset',
                        1) + PROFILE


FULL = r"""
import os, sys
held = []
try:
    %s
except OSError as e:
    for f in os.listdir('%s'):
        if f.startswith('storm'): os.unlink('%s/' + f)
    sys.exit(str(e))
"""
IGNORE = r"""
import os, signal, sys, time
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
for n in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0: os._exit(0)
        if n %% 2: os.kill(os.getpid(), signal.SIGSTOP)
        while True: time.sleep(60)
# its children are reaped unseen: this waits for the last of them
try: os.wait()
except ChildProcessError: pass
%s
"""


def fill(where, names):
    what = ("for n in range(100000): os.close(os.open('%s/storm%%d' %% n, "
            "os.O_CREAT))" % where if names else
            "with open('%s/storm', 'wb', 0) as f:\n"
            "        while True: f.write(b'x' * 65536)" % where)
    return FULL % (what, where, where)


# name: (code, state, reason, exit code or signal, words of its error)
STORMS = {
    "forks": (r"""
import os, time
children = 0
while True:
    try:
        if os.fork() == 0: children = 0
        else: children += 1
    except OSError: break
if os.getppid() != 1: time.sleep(60)
time.sleep(0.1)
os._exit(11)
""", "failed", "pids_limit", 11, ""),
    "threads": (r"""
import os, threading, time
try:
    while True: threading.Thread(target=time.sleep, args=(60,)).start()
except RuntimeError: os._exit(11)
""", "failed", "pids_limit", 11, ""),
    "zombies": (r"""
import os
try:
    while True:
        if os.fork() == 0: os._exit(0)
except OSError: os._exit(11)
""", "failed", "pids_limit", 11, ""),
    "memory": ("x = []\nwhile True: x.append(b'x' * (1 << 20))",
               "failed", "oom_killed", "KILL", ""),
    "memory of a child": (r"""
import os, sys
if os.fork() == 0:
    x = []
    while True: x.append(b'x' * (1 << 20))
sys.exit(1 if os.wait()[1] == 9 else 2)
""", "failed", "oom_killed", 1, ""),
    "disk, home": (fill("/home/agent", 0), "completed", None, 1,
                   "No space left on device"),
    "disk, tmp": (fill("/tmp", 0), "completed", None, 1,
                  "No space left on device"),
    "inodes, home": (fill("/home/agent", 1), "completed", None, 1,
                     "No space left on device"),
    "inodes, tmp": (fill("/tmp", 1), "completed", None, 1,
                    "No space left on device"),
    "descriptors": (r"""
import os
while True: os.open('/dev/null', os.O_RDONLY)
""", "completed", None, 1, "Too many open files"),
    "output": (r"""
import os
while True: os.write(1, b'x' * 65536)
""", "failed", "output_limit", "KILL", ""),
    "crashes": (r"""
import os, signal
for _ in range(200):
    pid = os.fork()
    if pid == 0: os.kill(os.getpid(), signal.SIGSEGV); os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGSEGV
os.kill(os.getpid(), signal.SIGSEGV)
""", "failed", "signalled", "SEGV", ""),
    "sleep": ("import time\ntime.sleep(60)", "failed", "timed_out", "TERM",
              ""),
    "spin": ("while True: pass", "failed", "timed_out", "TERM", ""),
    "stopped": (r"""
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
""", "failed", "timed_out", "KILL", ""),
    "immune, and stays": (IGNORE % "while True: time.sleep(60)",
                          "failed", "timed_out", "KILL", ""),
    "immune, and leaves": (IGNORE % "os._exit(0)", "completed", None, 0, ""),
}


def body(name):
    """Members of a call."""
    code, _, reason, _, _ = STORMS[name]
    return {"tool": "python", "args": {"code": code}, "profile": "storm",
            "timeout_ms": 1000 if reason == "timed_out" else 30000}


def wrong(name, r):
    """What a record says amiss; "" if it tells the truth."""
    _, state, reason, end, words = STORMS[name]
    if (r["state"], r["reason"]) != (state, reason):
        return "ended as %s, %s" % (r["state"], r["reason"])
    if isinstance(end, str):
        if r["signal"] not in (end, "SIG" + end):
            return "signal %s" % r["signal"]
    elif r["exit_code"] != end:
        return "exit code %s" % r["exit_code"]
    if words not in r.get("stderr", words):
        return "its error is not what it had: %s" % r["stderr"]
    if name == "immune, and leaves" and r["leftover_processes"] != 5:
        return "%d left over" % r["leftover_processes"]
    return ""
