"""How long the file tools take, beside a warm call of /bin/true in the same
session, and grep beside ripgrep run bare on the same files."""
import json
import os
import statistics
import subprocess
import time


class Caller:
    """One connection that asks and waits, as an agent's host does."""

    def __init__(self, instance, session):
        self.c = instance.connection()
        self.path = "/v1/sessions/%s/calls" % session

    def call(self, tool, args):
        body = json.dumps({"tool": tool, "args": args, "wait_ms": 30000})
        start = time.perf_counter()
        self.c.request("POST", self.path, body,
                       {"Content-Type": "application/json"})
        data = self.c.getresponse().read()
        spent = time.perf_counter() - start
        r = json.loads(data)
        assert (r["state"], r["exit_code"]) == ("completed", 0), r
        return spent, r


def interleaved(rounds, jobs):
    """Medians in ms; the jobs take turns, so that all meet the same load."""
    times = {name: [] for name in jobs}
    for n in range(rounds + 5):
        for name, job in jobs.items():
            spent = job(n)
            if n >= 5:
                times[name].append(spent * 1000)
    return {name: statistics.median(t) for name, t in times.items()}


def small(instance, session, workspace, rounds):
    caller = Caller(instance, session)
    lines = ["line %06d of a file that is edited\n" % n for n in range(2700)]
    workspace.write("large.txt", "".join(lines))
    workspace.write("small.txt", "x" * 63 + "\n" + ("y" * 63 + "\n") * 63)
    edits = ("of a file", "of the file")

    def edit(n):
        a, b = edits[n % 2], edits[1 - n % 2]
        at = "line 001350 "
        return caller.call("edit", {"path": "large.txt", "old": at + a,
                                    "new": at + b})[0]

    t = interleaved(rounds, {
        "true": lambda n: caller.call("exec", {"argv": ["/bin/true"]})[0],
        "read": lambda n: caller.call("read", {"path": "small.txt"})[0],
        "edit": edit})
    print("exec /bin/true        %7.2f ms" % t["true"])
    print("read of 4 KiB         %7.2f ms  %.2fx" % (t["read"],
                                                     t["read"] / t["true"]))
    print("edit in 100 KiB       %7.2f ms  %.2fx" % (t["edit"],
                                                     t["edit"] / t["true"]))


def search(instance, session, workspace):
    """/usr/include, copied: a neuron's grep sees home and workspace alone."""
    top = os.path.join(workspace.path, "include")
    subprocess.run(["cp", "-rL", "/usr/include", top],
                   stderr=subprocess.DEVNULL)
    workspace.give()
    caller = Caller(instance, session)
    pattern = "EINPROGRESS"

    def bare(n):
        start = time.perf_counter()
        subprocess.run(["rg", "--no-config", "-n", "-e", pattern, "--", top],
                       stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    t = interleaved(10, {
        "bare": bare,
        "grep": lambda n: caller.call("grep", {"pattern": pattern,
                                               "path": "include"})[0]})
    print("ripgrep, bare         %7.2f ms" % t["bare"])
    print("grep                  %7.2f ms  %.2fx" % (t["grep"],
                                                     t["grep"] / t["bare"]))


def run(instance, session, workspace, rounds):
    print("file tools, one call after the other, medians")
    small(instance, session, workspace, rounds)
    search(instance, session, workspace)
