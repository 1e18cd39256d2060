"""What an instance holds of the host, for tests that look for what is left.

Processes, descriptors, memory, mounts, namespaces and cgroups; whoever is not
of the instance by its own account is a stray.
"""
import glob
import os
import re
import time

from harness import cgroups_of, wait_for

STOCK = 8		# slots that neurond keeps ready


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def pids():
    return [int(p) for p in os.listdir("/proc") if p.isdigit()]


def uids_of(instance):
    def said():
        return re.findall(r"uids (\d+) to (\d+)", instance.log())
    return tuple(int(n) for n in wait_for(said, 60)[-1])


def uid_of(pid):
    """None for one that is gone, or a zombie that is no child of ours."""
    text = read("/proc/%d/status" % pid)
    m = re.search(r"^Uid:\s+(\d+)", text, re.M)
    if not m or re.search(r"^State:\s+Z.*^PPid:\s+1$", text, re.M | re.S):
        return None
    return int(m.group(1))


def ours(instance):
    """Every process of the instance: pid -> name of its program.

    By the program's file, with the log that it writes to or whose child it
    is: other tests run beside us, and run programs of this build as well.
    By the uid, which no other instance has.
    """
    first, last = uids_of(instance)
    found = {}
    for pid in pids():
        exe = link("/proc/%d/exe" % pid)
        uid = uid_of(pid)
        if uid is None:
            continue
        if first <= uid <= last:
            found[pid] = os.path.basename(exe) or "?"
        elif uid == 0 and exe.startswith(instance.build + "/") and (
                link("/proc/%d/fd/2" % pid) == instance.log_path or
                in_tree(instance, pid)):
            found[pid] = os.path.basename(exe)
    return found


def served(pid):
    """1 for a process below a myelind that lives."""
    for _ in range(64):
        stat = read("/proc/%d/stat" % pid)
        if pid <= 1 or not stat:
            return False
        if stat.split(" ", 1)[1].startswith("(myelind)"):
            return True
        pid = int(stat.rsplit(")", 1)[1].split()[1])
    return False


def of_uids(uids):
    """Processes with a uid of that block, whose instance is gone: the block
    is free then, and another instance that starts beside us may be given it.
    Whom the host's init has yet to reap runs nothing.
    """
    found = {}
    for pid in pids():
        uid = uid_of(pid)
        if uid is not None and uids[0] <= uid <= uids[1] and \
                state(pid) not in ("Z", "X", "") and not served(pid):
            found[pid] = read("/proc/%d/comm" % pid).strip()
    return found


def comm(pid):
    return read("/proc/%d/comm" % pid).strip()


def state(pid):
    """As proc(5) writes it; "" for none."""
    return read("/proc/%d/stat" % pid).rpartition(")")[2].strip()[:1]


def children(pid):
    """Children of a process with one thread, in no order."""
    return [int(p) for p in
            read("/proc/%d/task/%d/children" % (pid, pid)).split()]


def in_namespace(pid):
    """1 for a process of a pid namespace below ours."""
    m = re.search(r"^NSpid:(.*)$", read("/proc/%d/status" % pid), re.M)
    return m is not None and len(m.group(1).split()) > 1


def in_tree(instance, pid):
    """1 for a process below the instance's myelind, or below this test but
    neither below another instance nor below a program of a test."""
    seen = 0
    while pid > 1 and seen < 64:
        if instance.process is not None and pid == instance.process.pid:
            return True
        if pid == os.getpid():
            return True
        stat = read("/proc/%d/stat" % pid)
        if not stat or link("/proc/%d/exe" % pid).startswith(
                instance.build + "/tests/"):
            return False
        if stat.split(" ", 1)[1].startswith("(myelind)"):
            return False
        pid = int(stat.rsplit(")", 1)[1].split()[1])
        seen += 1
    return False


def known(instance):
    """The processes that status names, myelind with them."""
    status = instance.status()
    found = {p["pid"]: p["name"] for p in status["processes"]}
    found[status["supervisor"]["pid"]] = "myelind"
    return found


def strays(instance):
    expected = known(instance)
    return {p: n for p, n in ours(instance).items() if p not in expected}


def kind(target):
    """A descriptor's kind, without its number."""
    if target.startswith("/"):
        return "cgroup" if target.startswith("/sys/fs/cgroup") else "file"
    return target.split(":")[0]


def descriptors(pid):
    count = {}
    for fd in glob.glob("/proc/%d/fd/*" % pid):
        k = kind(link(fd))
        if k:
            count[k] = count.get(k, 0) + 1
    return count


def memory(pid):
    """RSS and PSS in KiB."""
    text = read("/proc/%d/smaps_rollup" % pid)
    found = {k: int(v) for k, v in
             re.findall(r"^(Rss|Pss):\s+(\d+)", text, re.M)}
    return found.get("Rss", 0), found.get("Pss", 0)


def namespaces(pid_list):
    """Every namespace that these processes are in or hold open."""
    found = set()
    for pid in pid_list:
        for path in glob.glob("/proc/%d/ns/*" % pid) + \
                glob.glob("/proc/%d/fd/*" % pid):
            target = link(path)
            if re.match(r"^(net|user|mnt|pid|ipc|uts|cgroup|time):\[", target):
                found.add(target)
    return found


def mounts(pid_list):
    """Mounts in each mount namespace that these processes are in.

    The host's own is not counted: others mount there too.
    """
    count = {link("/proc/self/ns/mnt"): 0}
    for pid in pid_list:
        ns = link("/proc/%d/ns/mnt" % pid)
        if ns and ns not in count:
            count[ns] = len(read("/proc/%d/mountinfo" % pid).splitlines())
    return sum(count.values())


def neuron_cgroups(name):
    """Directories of slots, and how many of them hold a process."""
    dirs = [d for d in cgroups_of(name)]
    slots, busy = set(), set()
    for top in dirs:
        for root, subs, _ in os.walk(top):
            for s in subs:
                if re.match(r"^n-\d+-\d+$", s):
                    slots.add(s)
                    if read(os.path.join(root, s, "cgroup.procs")).split():
                        busy.add(s)
    return len(slots), len(busy)


def footprint(instance):
    """Figures of a quiet instance."""
    status = instance.status()
    by_pid = known(instance)
    f = {"processes": len(ours(instance)), "fds": {}, "kinds": {}, "rss": {},
         "pss": {}}
    for pid, name in by_pid.items():
        f["kinds"][name] = descriptors(pid)
        f["fds"][name] = sum(f["kinds"][name].values())
        f["rss"][name], f["pss"][name] = memory(pid)
    f["namespaces"] = len(namespaces(ours(instance)))
    f["mounts"] = mounts(ours(instance))
    f["cgroups"], f["busy"] = neuron_cgroups(status["instance"])
    f["store"] = sum(os.path.getsize(p) for p in
                     glob.glob(instance.state + "/policy/state.db*"))
    return f


def quiet(instance):
    """What keeps the instance from being at rest; "" if it is."""
    try:
        status = instance.status()
        if status["neurons"]["live"] or status["calls"]["running"]:
            return "neurons %s, calls %s" % (status["neurons"],
                                             status["calls"])
        down = [p["name"] for p in status["processes"] if p["state"] != "up"]
        if down:
            return "down: %s" % down
        pool = status["pool"]
        left = strays(instance)
        # the pool's neurons, which nobody has asked for yet
        if pool["ready"] != pool["wanted"] or len(left) != pool["ready"]:
            return "strays: %s, pool: %s" % (left, pool)
        slots, busy = neuron_cgroups(status["instance"])
        if busy != pool["ready"] or slots != STOCK + pool["ready"]:
            return "%d cgroups of slots, %d with processes" % (slots, busy)
        # the namespaces of the next workspace's owner, for a second
        kinds = descriptors(instance.pid("neurond"))
        if kinds.get("user", 0) > kinds.get("net", 0):
            return "descriptors of neurond: %s" % kinds
    except (OSError, ValueError, AssertionError, KeyError,
            IndexError) as e:
        return "no status: %s" % e
    return ""


def settle(instance, seconds=60):
    """Waits until the instance is at rest; fails with what is left."""
    end = time.monotonic() + seconds
    while True:
        why = quiet(instance)
        if not why:
            return
        if time.monotonic() > end:
            raise AssertionError("%s\nnot at rest after %d s: %s" %
                                 (instance.log()[-3000:], seconds, why))
        time.sleep(0.05)


def verify(instance):
    """The audit chain, live."""
    r = instance.ctl("audit", "verify")
    if r.returncode != 0:
        raise AssertionError("audit verify: %s%s" % (r.stdout, r.stderr))


def half_known(instance):
    """Calls that the service takes for running; at rest there are none."""
    found, cursor = [], ""
    while True:
        _, body = instance.get("/v1/calls?limit=500" + cursor, operator=True)
        found += [c for c in body["calls"]
                  if c["state"] in ("queued", "running")]
        if not body.get("next"):
            return found
        cursor = "&cursor=%s" % body["next"]


def compare(before, after, fds=2):
    """Words for each figure that grew beyond its tolerance."""
    grown = []
    for name in before["fds"]:
        if after["fds"].get(name, 0) > before["fds"][name] + fds:
            grown.append("%s: %d fds, were %d: %s, were %s" % (
                name, after["fds"][name], before["fds"][name],
                after["kinds"][name], before["kinds"][name]))
    for key in ("processes", "namespaces", "mounts", "cgroups"):
        if after[key] > before[key]:
            grown.append("%s: %d, were %d" % (key, after[key], before[key]))
    return grown


def still(instance, seconds=60):
    """Figures of an instance at rest, which are the same at a second look:
    status hears of some things a little later than they are so."""
    end = time.monotonic() + seconds
    while True:
        settle(instance)
        first = footprint(instance)
        time.sleep(0.3)
        settle(instance)
        f = footprint(instance)
        if not compare(first, f, 0) and not compare(f, first, 0):
            return f
        if time.monotonic() > end:
            raise AssertionError("%s is not still: %s" % (
                instance.dir, compare(first, f, 0) + compare(f, first, 0)))


def grown(instance, before, fds=2, seconds=60):
    """Words for what there is more of than before.  What is left stays; what
    only takes its time to go is waited for."""
    end = time.monotonic() + seconds
    while True:
        settle(instance)
        found = compare(before, footprint(instance), fds)
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.2)
