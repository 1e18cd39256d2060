"""Other sandboxes, to be timed beside neurons: where they are, how they are
started on a machine that was not made for them, and why one is missing.

They are looked for in the directory that $MYELIN_SANDBOXES names, as Debian's
packages unpacked, and then on this host.  Nothing is installed.  What of them
filters system calls does so with its default; bwrap, nsjail, minijail and the
runtimes load no filter here, which is to their advantage.
"""
import json
import os
import shutil
import signal
import subprocess
import time

DIR = os.environ.get("MYELIN_SANDBOXES", "")
PACKAGES = ("bubblewrap", "crun", "libyajl2", "runc", "runsc", "docker.io",
            "containerd", "tini")
# What Debian 12 has no package of.
NO_PACKAGE = {"nsjail": "Debian 12 has no package of it",
              "minijail0": "Debian 12 has no package of it"}
PACKAGE_OF = {"bwrap": "bubblewrap", "docker": "docker.io",
              "dockerd": "docker.io"}
DEADLINE = 30
PROGRAM_SECONDS = "60"    # no peer takes longer for one program


def environment():
    """With the unpacked packages first, if there are any."""
    env = dict(os.environ)
    if DIR:
        env["PATH"] = "%s/usr/sbin:%s/usr/bin:%s" % (DIR, DIR, env["PATH"])
        env["LD_LIBRARY_PATH"] = os.path.join(DIR, "usr/lib",
                                              os.uname().machine +
                                              "-linux-gnu")
    return env


def find(name):
    return shutil.which(name, path=environment()["PATH"])


def unpack(directory):
    """Debian's packages, unpacked into a directory and not installed."""
    global DIR
    os.makedirs(directory, exist_ok=True)
    debs = os.path.join(directory, "debs")
    if not os.path.isdir(debs):
        os.mkdir(debs)
        subprocess.run(["apt-get", "-q", "download"] + list(PACKAGES),
                       cwd=debs, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for name in os.listdir(debs):
            subprocess.run(["dpkg-deb", "-x", os.path.join(debs, name),
                            directory], check=True)
    DIR = directory


def quiet(argv, **more):
    return subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=DEADLINE, **more)


NAMESPACES = ("pid", "network", "ipc", "uts", "mount", "user")


def bundle(directory, workspace, argv):
    """What crun, runc and runsc run: about what a neuron is made of."""
    root = os.path.join(directory, "root")
    for name in ("usr", "proc", "dev", "tmp", workspace.lstrip("/")):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        if not os.path.lexists(os.path.join(root, name)):
            os.symlink("usr/" + name, os.path.join(root, name))
    config = {
        "ociVersion": "1.0.0",
        "process": {
            "terminal": False, "user": {"uid": 0, "gid": 0}, "args": argv,
            "env": ["PATH=/usr/bin:/bin"], "cwd": "/",
            "capabilities": {s: [] for s in (
                "bounding", "effective", "inheritable", "permitted")},
            "noNewPrivileges": True},
        "root": {"path": root, "readonly": True}, "hostname": "peer",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
             "options": ["nosuid", "mode=755", "size=65536k"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
             "options": ["nosuid", "nodev", "size=65536k"]},
            {"destination": "/usr", "type": "bind", "source": "/usr",
             "options": ["bind", "ro", "nosuid", "nodev"]},
            {"destination": workspace, "type": "bind", "source": workspace,
             "options": ["bind", "rw", "nosuid", "nodev"]}],
        "linux": {
            "namespaces": [{"type": n} for n in NAMESPACES],
            "uidMappings": [{"containerID": 0, "hostID": 100000,
                             "size": 65536}],
            "gidMappings": [{"containerID": 0, "hostID": 100000,
                             "size": 65536}]}}
    with open(os.path.join(directory, "config.json"), "w") as f:
        json.dump(config, f)


def bwrap(workspace, program):
    return ["bwrap", "--unshare-all", "--unshare-user", "--uid", "65534",
            "--gid", "65534", "--ro-bind", "/usr", "/usr", "--symlink",
            "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink",
            "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
            "--tmpfs", "/tmp", "--bind", workspace, workspace, "--chdir",
            workspace, "--cap-drop", "ALL", "--die-with-parent",
            "--new-session", "--clearenv", "--setenv", "PATH",
            "/usr/bin:/bin"] + program


RUNTIMES = {
    "crun": ["crun", "--cgroup-manager=disabled"],
    "runc": ["runc"],
    "runsc": ["runsc", "--network=none", "--ignore-cgroups",
              "--platform=ptrace"]}

# Rounds between two turns of what takes long.
SLOW = {"runsc": 5, "docker": 10, "runc": 2}


class Sandboxes:
    """Every sandbox that works here, ready to run one program."""

    def __init__(self, directory, workspace, program):
        self.dir = directory
        self.workspace = workspace
        self.program = program
        self.commands = {}      # name: (rounds between turns, argv)
        self.missing = {}       # name: why
        self.left = []          # argv of what ends a container
        self.dockerd = None
        if self.present("bwrap"):
            self.keep("bwrap", 1, bwrap(workspace, program))
        for name, start in (("minijail0", self.minijail),
                            ("nsjail", self.nsjail)):
            if self.present(name):
                self.keep(name, 1, start())
        for name in RUNTIMES:
            if self.present(name):
                self.runtime(name)
        if self.present("dockerd") and self.present("docker"):
            self.docker()

    def present(self, name):
        if find(name) is not None:
            return True
        self.missing[name] = NO_PACKAGE.get(
            name, "not installed, and $MYELIN_SANDBOXES has none (apt-get "
            "download %s)" % PACKAGE_OF.get(name, name))
        return False

    def keep(self, name, every, argv):
        """Into the list, if one run of it works."""
        try:
            r = quiet(argv)
            why = r.stdout.decode(errors="replace").strip()[-300:] \
                if r.returncode != 0 else None
        except subprocess.TimeoutExpired:
            why = "it does not end within %d s" % DEADLINE
        if why is not None:
            self.missing[name] = why or "it fails, and says nothing"
            return False
        self.commands[name] = (every, argv)
        return True

    def minijail(self):
        root = os.path.join(self.dir, "minijail")
        for name in ("usr", "proc", "tmp", self.workspace.lstrip("/")):
            os.makedirs(os.path.join(root, name), exist_ok=True)
        for name in ("bin", "lib", "lib64"):
            os.symlink("usr/" + name, os.path.join(root, name))
        # it would hide a workspace below it
        tmp = [] if self.workspace.startswith("/tmp/") else \
            ["-k", "tmpfs,/tmp,tmpfs,0x6"]
        return ["minijail0", "-T", "static",
                "--no-default-runtime-environment", "-n", "-U", "-m", "-M",
                "-v", "-p", "-l", "-e", "-N", "--uts=n", "-P", root, "-b",
                "/usr,/usr,1", "-b", "%s,%s,1" % (self.workspace,
                                                  self.workspace),
                "-k", "proc,/proc,proc,0xe"] + tmp + ["--"] + self.program

    def nsjail(self):
        return ["nsjail", "-Mo", "-Q", "-u", "65534:100000:1", "-g",
                "65534:100000:1", "-R", "/usr", "-s", "usr/bin:/bin", "-s",
                "usr/lib:/lib", "-s", "usr/lib64:/lib64", "-m",
                "none:/tmp:tmpfs:size=67108864", "-B", self.workspace, "-R",
                "/dev/null", "-R", "/dev/zero", "-R", "/dev/urandom",
                "--cwd", self.workspace, "-E", "PATH=/usr/bin:/bin", "-t",
                PROGRAM_SECONDS, "--"] + self.program

    def runtime(self, name):
        """One that is thrown away, and one that lives and is entered."""
        base = RUNTIMES[name] + ["--root", os.path.join(self.dir,
                                                        name + ".state")]
        one, two = (os.path.join(self.dir, name + n) for n in ("", ".warm"))
        for d in (one, two):
            os.mkdir(d)
        bundle(one, self.workspace, self.program)
        bundle(two, self.workspace, ["/bin/sleep", "3600"])
        every = SLOW.get(name, 1)
        if not self.keep(name + " run", every,
                         base + ["run", "--bundle", one, "p-" + name]):
            return
        log = open(os.path.join(two, "log"), "wb")
        detach = base + ["run", "--detach", "--bundle", two, "w-" + name]
        p = subprocess.run(detach, env=environment(),
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           timeout=DEADLINE)
        log.close()
        self.left.append(base + ["delete", "--force", "w-" + name])
        if p.returncode != 0:
            with open(log.name, errors="replace") as f:
                self.missing[name + " exec"] = f.read()[-300:]
            return
        self.keep(name + " exec", every,
                  base + ["exec", "w-" + name] + self.program)

    def docker(self):
        d = os.path.join(self.dir, "docker")
        os.mkdir(d)
        sock = os.path.join(d, "sock")
        with open(os.path.join(d, "log"), "wb") as log:
            self.dockerd = subprocess.Popen(
                ["dockerd", "--iptables=false", "--bridge=none",
                 "--data-root", os.path.join(d, "data"), "--exec-root",
                 os.path.join(d, "exec"), "--pidfile", os.path.join(d, "pid"),
                 "-H", "unix://" + sock], env=environment(), stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        # the client that comes with it
        docker = [find("docker"), "-H", "unix://" + sock]
        end = time.monotonic() + DEADLINE
        while quiet(docker + ["version"]).returncode != 0:
            if time.monotonic() > end or self.dockerd.poll() is not None:
                with open(os.path.join(d, "log"), errors="replace") as f:
                    self.missing["docker"] = f.read()[-300:]
                return
            time.sleep(0.2)
        image = os.path.join(d, "image")
        for name in ("usr", "proc", "dev", "tmp", "etc", "sys",
                     self.workspace.lstrip("/")):
            os.makedirs(os.path.join(image, name))
        for name in ("bin", "lib", "lib64"):
            os.symlink("usr/" + name, os.path.join(image, name))
        tar = subprocess.Popen(["tar", "-c", "-C", image, "."],
                               stdout=subprocess.PIPE)
        r = subprocess.run(docker + ["import", "-", "tiny"],
                           stdin=tar.stdout, env=environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tar.stdout.close()
        if tar.wait() != 0 or r.returncode != 0:
            self.missing["docker"] = r.stdout.decode(errors="replace")[-300:]
            return
        options = ["--network", "none", "--user", "65534", "--cap-drop",
                   "ALL", "--security-opt", "no-new-privileges",
                   "--read-only", "--memory", "256m", "--pids-limit", "64",
                   "--tmpfs", "/tmp", "-v", "/usr:/usr:ro", "-v",
                   "%s:%s" % (self.workspace, self.workspace)]
        if not self.keep("docker run", SLOW["docker"], docker +
                         ["run", "--rm"] + options + ["tiny"] + self.program):
            return
        r = quiet(docker + ["run", "-d", "--name", "warm"] + options +
                  ["tiny", "/bin/sleep", "3600"])
        self.left.append(docker + ["rm", "--force", "warm"])
        if r.returncode != 0:
            self.missing["docker exec"] = r.stdout.decode()[-300:]
            return
        self.keep("docker exec", SLOW["docker"],
                  docker + ["exec", "warm"] + self.program)

    def lines(self, names=None):
        """For the program "launch"."""
        return "".join("\037".join([name, str(every)] + argv) + "\n"
                       for name, (every, argv) in self.commands.items()
                       if names is None or name in names)

    def close(self):
        for argv in self.left:
            quiet(argv)
        if self.dockerd is not None and self.dockerd.poll() is None:
            self.dockerd.send_signal(signal.SIGTERM)
            try:
                self.dockerd.wait(timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                self.dockerd.kill()
                self.dockerd.wait()
