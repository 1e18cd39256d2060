"""Other people's programs that speak MCP, from npm, and the way to them.

They are installed once, by exact version (tests/mcp/package.json), into
build/npm, or npm below $MYELIN_CACHE; no script of a package is run then, and
nothing is installed where that worked before.  Agents, which are large, lie in
npm-agents beside it (tests/agents/package.json).  The harness and the Inspector
want a newer Node.js than Debian 12 has, which comes as a package as well.
"""
import fcntl
import filecmp
import os
import platform
import shutil
import socket
import subprocess
import threading

from harness import IDS, TOP

SOURCE = os.path.join(TOP, "tests", "mcp")
CACHE = os.environ.get("MYELIN_CACHE") or os.path.join(TOP, "build")
NPM = os.path.join(CACHE, "npm")
AGENTS = os.path.join(CACHE, "npm-agents")
NODE_VERSION = "22.20.0"
INSTALL_SECONDS = 600


def node_package():
    arch = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    return arch and "node-linux-%s" % arch


def node():
    return os.path.join(NPM, "node_modules", node_package(), "bin", "node")


def installed(source, directory, proof):
    wanted = os.path.join(source, "package.json")
    have = os.path.join(directory, "installed.json")
    return os.path.exists(have) and filecmp.cmp(wanted, have, False) and \
        os.path.exists(proof)


def npm_install(source, directory, proof, *more):
    """Source's packages into a directory, where that path proves that they are
    for this machine: None, or why they are not there."""
    if not os.path.isdir(CACHE):
        os.makedirs(CACHE)
    with open(directory + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed(source, directory, proof):
            return None
        if shutil.which("npm") is None:
            return "there is no npm (apt install npm)"
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        shutil.copy(os.path.join(source, "package.json"), directory)
        try:
            p = subprocess.run(
                ["npm", "install", "--ignore-scripts", "--no-audit",
                 "--no-fund", "--no-package-lock", "--no-save",
                 "--loglevel=error"] + list(more),
                cwd=directory, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            return "npm took over %d s" % INSTALL_SECONDS
        if p.returncode != 0:
            return "npm could not install: " + \
                p.stdout.decode(errors="replace").strip()[-200:]
        shutil.copy(os.path.join(source, "package.json"),
                    os.path.join(directory, "installed.json"))
        return None


def install():
    """None, or why there are no peers here."""
    if node_package() is None:
        return "npm has no Node.js for this machine"
    return npm_install(SOURCE, NPM, node(), "%s@%s" % (
        node_package(), NODE_VERSION))


def agent_programs():
    """By name, the programs of other people's agents: each in a package for one
    kind of machine."""
    kind = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    modules = os.path.join(AGENTS, "node_modules")
    return {
        "claude": os.path.join(
            modules, "@anthropic-ai", "claude-code-linux-%s" % kind, "claude"),
        "codex": os.path.join(
            modules, "@openai", "codex-linux-%s" % kind, "vendor",
            "%s-unknown-linux-musl" % platform.machine(), "bin", "codex")}


def install_agents():
    """None, or why there are no agents here."""
    programs = agent_programs()
    why = npm_install(os.path.join(TOP, "tests", "agents"), AGENTS,
                      programs["claude"])
    for name, path in programs.items():
        if why is None and not os.path.exists(path):
            why = "npm has no %s for this machine" % name
    return why


def script(name):
    """A client of ours, where it finds the packages."""
    path = os.path.join(NPM, name)
    shutil.copy(os.path.join(SOURCE, name), path)
    return path


def package(*parts):
    return os.path.join(NPM, "node_modules", "@modelcontextprotocol", *parts)


class Forward:
    """A port of the loopback that leads to a Unix socket, byte for byte."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = "http://127.0.0.1:%d/mcp" % self.port
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            with IDS:
                server.connect(self.path)
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b),
                                 daemon=True).start()

    @staticmethod
    def pump(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
