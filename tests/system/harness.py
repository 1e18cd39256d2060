"""What the system tests share: a private instance, and a client of its API.

An instance is real: real processes, real sockets, real neurons.  Nothing of
one outlives stop(), which is checked; only processes that an instance started
are ever signalled, by pid.
"""
import base64
import contextlib
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("MYELIN_BUILD", os.path.join(TOP, "build"))
# Texts that are no part of the project; who needs them skips without.
SHARED = os.environ.get("MYELIN_SHARED",
                        os.path.join(os.path.dirname(TOP), "shared"))


def sanitized():
    """Built with sanitizers: bounds on memory and time do not hold then."""
    try:
        with open(os.path.join(BUILD, "config.h")) as f:
            return "\n#define WITH_SANITIZERS 1" in f.read()
    except OSError:
        return False


SANITIZED = sanitized()
MYELIND = os.path.join(BUILD, "supervisord", "myelind")
CTL = os.path.join(BUILD, "myelinctl", "myelinctl")
NAMES = ("apid", "apid-operator", "judged", "policyd", "egressd", "neurond")
HELPERS = ("maker", "spawner")

CONFIG = """
principal user root { preset standard; workspace "/*"; owner any }
operator user root may approve, audit, manage
hourly 10000000
calls-session 10000000
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def wait_for(what, seconds, step=0.02):
    """Calls what() until it is true; returns its value, or fails."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited %s s for %s" % (seconds, what))
        time.sleep(step)


def cgroups_of(instance):
    """Directories of neurons of this instance, in every hierarchy."""
    found = []
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        for d in dirs:
            if instance in d:
                found.append(os.path.join(root, d))
    return found


def children_of(pid):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                text = f.read()
        except OSError:
            continue
        if int(text.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(int(text.split()[0]))
    return found


def descendants_of(pid):
    found, todo = [], [pid]
    while todo:
        kids = children_of(todo.pop())
        found += kids
        todo += kids
    return found


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name; [] if it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()
    except OSError:
        return []


def began(pid):
    """When a process began: a number of another one is not it.  None if it
    is gone, or a zombie: whoever is to reap it takes his time."""
    fields = stat_of(pid)
    return fields[19] if fields and fields[0] not in "ZX" else None


def dying(pid):
    """1 for one that is gone, or was killed and has not got to it yet."""
    exiting = 4
    fields = stat_of(pid)
    if not fields or fields[0] in "ZX" or int(fields[6]) & exiting:
        return True
    try:
        with open("/proc/%d/status" % pid) as f:
            pending = [int(l.split()[1], 16) for l in f
                       if l.startswith(("SigPnd:", "ShdPnd:"))]
    except OSError:
        return True
    return any(p >> signal.SIGKILL - 1 & 1 for p in pending)


def rss_kib(pid):
    if SANITIZED:
        return 0    # what is freed is kept: no measure of anything
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def pss_kib(pid):
    """Memory of a process, what it shares divided among those who do."""
    with open("/proc/%d/smaps_rollup" % pid) as f:
        for line in f:
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


# Whoever connects as somebody else holds it: ids are those of all threads.
IDS = threading.RLock()


class Instance:
    """A private instance in a directory of its own."""

    def __init__(self, config=CONFIG, extra="", build=BUILD, start=True):
        self.dir = tempfile.mkdtemp(prefix="i-", dir=os.path.join(
            BUILD, "tests"))
        os.chmod(self.dir, 0o755)
        self.api = os.path.join(self.dir, "api.sock")
        self.operator = os.path.join(self.dir, "operator.sock")
        self.state = os.path.join(self.dir, "state")
        self.build = build
        self.process = None
        self.log_path = os.path.join(self.dir, "log")
        self.configure(config + extra)
        if start:
            self.start()

    def configure(self, text):
        self.conf = os.path.join(self.dir, "myelin.conf")
        with open(self.conf, "w") as f:
            f.write(text)
        os.chmod(self.conf, 0o600)

    def start(self, args=(), prefix=(), groups=None, debug=True):
        log = open(self.log_path, "a")
        self.process = subprocess.Popen(
            list(prefix) + [
                os.path.join(self.build, "supervisord", "myelind"),
                "-f", self.conf, "-p", self.dir, "-L", self.build] +
            ["-d"] * debug + list(args),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            extra_groups=groups)
        log.close()
        try:
            self.wait_up()
        except BaseException:
            self.stop(check=False)
            raise

    def wait_up(self, seconds=120):
        def up():
            if self.process.poll() is not None:
                raise AssertionError("myelind ended:\n" + self.log())
            try:
                status, body = self.get("/v1/status", operator=True)
                # the sockets answer before neurond, which comes up last
                # and builds some neurons before they are asked for; one that
                # was killed is up until somebody hears of it
                return status == 200 and {
                    p["name"] for p in body["processes"]
                    if p["state"] == "up" and
                    not dying(p["pid"])} >= set(NAMES + HELPERS) and \
                    body["pool"]["ready"] == body["pool"]["wanted"] and \
                    self.get("/v1/whoami")[0] == 200
            except (OSError, http.client.HTTPException):
                return False
        try:
            wait_for(up, seconds, 0.05)
        except AssertionError as e:
            raise AssertionError("%s\n%s" % (e, self.log()[-4000:]))

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def stop(self, check=True):
        """Ends it as an operator would, and looks for what is left."""
        leftover = []
        if self.process is not None:
            pids = {p: began(p) for p in descendants_of(self.process.pid)}
            instance = None
            try:
                instance = self.status()["instance"]
            except Exception:
                pass
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                leftover.append("myelind would not stop")
                self.process.kill()
                self.process.wait()

            def alive():
                return [p for p, start in pids.items()
                        if start is not None and began(p) == start]

            def rest():
                """What the kernel takes down after the last process."""
                with open("/proc/self/mountinfo") as f:
                    return [l for l in f if self.dir in l] + (
                        cgroups_of(instance) if instance else [])
            with contextlib.suppress(AssertionError):
                wait_for(lambda: not alive() and not rest(), 30, 0.05)
            for p in alive():
                leftover.append("process %d" % p)
                try:
                    os.kill(p, signal.SIGKILL)
                except OSError:
                    pass
            leftover += rest()
            self.process = None
        text = self.log() if os.path.exists(self.log_path) else ""
        # a process that a sanitizer ended is started again, and says so here
        if "Sanitizer" in text or "runtime error:" in text:
            leftover.append("a sanitizer's report")
        shutil.rmtree(self.dir, ignore_errors=True)
        if check and leftover:
            raise AssertionError("left behind: %s\n%s" %
                                 (leftover, text[-3000:]))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop(check=kind is None)

    # ---- the API ----

    def connection(self, operator=False, timeout=60):
        return UnixConnection(self.operator if operator else self.api,
                              timeout)

    def request(self, method, path, body=None, operator=False, headers=None,
                timeout=60):
        c = self.connection(operator, timeout)
        h = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            h.setdefault("Content-Type", "application/json")
        c.request(method, path, body, h)
        r = c.getresponse()
        data = r.read()
        c.close()
        if r.getheader("Content-Type", "").startswith("application/json"):
            data = json.loads(data)
        return r.status, data

    def get(self, path, operator=False):
        return self.request("GET", path, operator=operator)

    def status(self):
        status, body = self.get("/v1/status", operator=True)
        assert status == 200, body
        return body

    def processes(self):
        return {p["name"]: p for p in self.status()["processes"]}

    def pid(self, name):
        return self.processes()[name]["pid"]

    def call(self, tool, args, wait=50000, session=None, **more):
        """One call, waited for: its result."""
        body = {"tool": tool, "args": args, "wait_ms": wait}
        body.update(more)
        path = "/v1/sessions/%s/calls" % session if session else "/v1/calls"
        status, result = self.request("POST", path, body)
        # one answer is not waited for longer than that: its time limit ends it
        while status == 202 and wait == 50000:
            status, result = self.get("/v1/calls/%s?wait_ms=%d" % (
                result["call"], wait))
        assert status == 200, (status, result)
        return result

    def bash(self, command, **more):
        return self.call("bash", {"command": command}, **more)

    def session(self, **fields):
        status, body = self.request("POST", "/v1/sessions", fields)
        assert status == 201, (status, body)
        return body["session"]

    def events(self, path, body=None, headers=None, timeout=60):
        """The events of a stream, to its end: (id, event, data)."""
        c = self.connection(timeout=timeout)
        h = {"Accept": "text/event-stream"}
        h.update(headers or {})
        if body is not None:
            h["Content-Type"] = "application/json"
            c.request("POST", path, json.dumps(body).encode(), h)
        else:
            c.request("GET", path, headers=h)
        r = c.getresponse()
        assert r.status == 200, (r.status, r.read())
        yield from parse_events(r)
        c.close()

    # ---- the command line ----

    def ctl(self, *args, input=None, timeout=60, **more):
        env = dict(os.environ, MYELIN_SOCKET=self.api,
                   MYELIN_OPERATOR_SOCKET=self.operator)
        if input is None:
            more.setdefault("stdin", subprocess.DEVNULL)
        else:
            more["input"] = input
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([CTL] + list(args), env=env,
                              stderr=subprocess.PIPE, timeout=timeout, **more)


def parse_events(stream):
    event, ident, data = None, None, []
    for raw in stream:
        line = raw.decode().rstrip("\n").rstrip("\r")
        if line == "":
            if event is not None:
                yield ident, event, json.loads("\n".join(data) or "null")
            event, data = None, []
        elif line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("id:"):
            ident = int(line[3:])
        elif line.startswith("data:"):
            data.append(line[5:].lstrip())


def output_of(data):
    """The bytes of one call.output event."""
    if data.get("encoding") == "base64":
        return base64.b64decode(data["data"])
    return data["data"].encode()


def stdout_of(result):
    if result["encoding"]["stdout"] == "base64":
        return base64.b64decode(result["stdout"])
    return result["stdout"].encode()


def reachable(path):
    """1 if a stranger may walk to this directory."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


class Workspace:
    """A directory of an ordinary user, on a real filesystem."""

    def __init__(self, uid=12345, gid=12346):
        parent = os.path.join(BUILD, "tests")
        if not reachable(parent):
            parent = "/tmp"
        self.top = tempfile.mkdtemp(prefix="w-", dir=parent)
        os.chmod(self.top, 0o755)
        self.path = os.path.join(self.top, "src")
        os.mkdir(self.path)
        self.uid, self.gid = uid, gid
        self.give()

    def give(self):
        """Everything in it becomes its owner's."""
        for root, dirs, files in os.walk(self.path):
            for name in [root] + [os.path.join(root, n)
                                  for n in dirs + files]:
                # placeholders go by themselves
                with contextlib.suppress(FileNotFoundError):
                    os.lchown(name, self.uid, self.gid)

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as f:
            f.write(text)
        os.lchown(path, self.uid, self.gid)

    # what stands there while a neuron has it (neurond/protected.c)
    PLACEHOLDERS = {".mcp.json", ".envrc", ".claude", ".codex", ".cursor",
                    ".gemini", ".vscode", ".gitmodules"}

    def at(self, name):
        return os.path.join(self.path, name)

    def names(self):
        """What is in it, but for placeholders."""
        return set(os.listdir(self.path)) - self.PLACEHOLDERS

    def empty(self):
        """Removes all but placeholders, which go by themselves."""
        for name in self.names():
            path = os.path.join(self.path, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    def fields(self):
        return {"workspace": self.path,
                "owner": {"uid": self.uid, "gid": self.gid}}

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
