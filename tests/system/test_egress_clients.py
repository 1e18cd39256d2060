"""Real clients, with and without the variables that name a proxy: the same
hosts are there for each, and the same are not."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from egress import EgressCase, EgressInstance
from harness import BUILD

HOST, NOT = "ok.example.com", "evil.example.net"
WEB = 'allow host "%s"; allow host "plain.example.com" port 80' % HOST

# name: (program that it needs, its command, what it prints); HOST is put in.
# Each runs in a directory of its own.
CLIENTS = {
    "curl": ("curl", "curl -sS https://HOST/ok", "ok from HOST"),
    "curl, plain": ("curl", "curl -sSf http://HOST/ok", "ok from HOST"),
    "curl, http2": ("curl", "curl -sS --http2 https://HOST/ok",
                    "ok from HOST"),
    "wget": ("wget", "wget -q -t 1 -O - https://HOST/ok", "ok from HOST"),
    "git": ("git", "git ls-remote https://HOST/repo.git", "refs/heads/main"),
    "git, clone": ("git", "git clone -q http://HOST/repo.git r && cat r/file",
                   "in the repository"),
    "python3, urllib": ("python3", """python3 -c '
import urllib.request
print(urllib.request.urlopen("https://HOST/ok", timeout=50).read().decode())'
""", "ok from HOST"),
    "python3, http.client": ("python3", """python3 -c '
import http.client
c = http.client.HTTPSConnection("HOST", timeout=50)
c.request("GET", "/ok")
print(c.getresponse().read().decode())'
""", "ok from HOST"),
    "node, fetch": ("node", """node -e '
fetch("https://HOST/ok").then(r => r.text()).then(console.log)
    .catch(e => { console.error(e.cause || e); process.exit(1) })'
""", "ok from HOST"),
    "node, http": ("node", """node -e '
require("http").get("http://HOST/ok", r => {
    if (r.statusCode != 200) process.exit(1)
    r.pipe(process.stdout) }).on("error", e => process.exit(1))'
""", "ok from HOST"),
    "npm": ("npm", "npm view thing version --registry http://HOST/npm/ "
            "--fetch-retries 0 --no-update-notifier --loglevel error",
            "1.2.3"),
    "pip": ("pip", "python3 -m pip download -q --retries 0 --timeout 50 "
            "--no-cache-dir --disable-pip-version-check --no-deps "
            "-i https://HOST/simple/ -d d thing && ls d",
            "thing-1.2.3-py3-none-any.whl"),
    "apt": ("apt-get", """mkdir -p l/partial c/archives/partial e
echo 'deb [trusted=yes] http://HOST/debian ./' >e/sources.list
: >status
o="-qq -o Acquire::Retries=0 -o Dir::State=$PWD/l -o Dir::Cache=$PWD/c
-o Dir::State::status=$PWD/status -o Dir::State::Lists=$PWD/l
-o Dir::Etc::SourceList=$PWD/e/sources.list -o Dir::Etc::SourceParts=/nosuch
-o Dir::Etc::Parts=/nosuch -o Dir::Etc::Preferences=/nosuch
-o Dir::Etc::PreferencesParts=/nosuch -o Dir::Etc::TrustedParts=/nosuch
-o Acquire::http::Timeout=50 -o APT::Update::Error-Mode=any
-o APT::Architecture=all"
apt-get $o update && apt-get $o download thing && ls *.deb
""", "thing_1.2.3_all.deb"),
    "java": ("javac", """cat >T.java <<'E'
public class T { public static void main(String[] a) throws Exception {
    System.out.write(new java.net.URL("http://HOST/ok").openStream()
        .readAllBytes()); System.out.flush(); } }
E
java -Xshare:auto -XX:TieredStopAtLevel=1 T.java
""", "ok from HOST"),
}
# They take a second each: what is not there they look for once.
SLOW = ("npm", "pip", "java")
# Node before 24 knows no proxy by itself: with variables it is the same.
UNSET = "unset http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy " \
    "ALL_PROXY no_proxy NO_PROXY NODE_USE_ENV_PROXY JAVA_TOOL_OPTIONS " \
    "npm_config_proxy npm_config_https_proxy PIP_PROXY\n"


def repository(www):
    """A git repository, served as files."""
    with tempfile.TemporaryDirectory(dir=os.path.join(BUILD, "tests")) as d:
        with open(os.path.join(d, "file"), "w") as f:
            f.write("in the repository\n")
        bare = os.path.join(www, "repo.git")
        env = dict(os.environ, HOME=d, GIT_CONFIG_NOSYSTEM="1")
        for args in (["init", "-q", "-b", "main"], ["add", "file"],
                     ["-c", "user.name=t", "-c", "user.email=t@example.com",
                      "commit", "-q", "-m", "one"],
                     ["clone", "-q", "--bare", ".", bare],
                     ["--git-dir", bare, "update-server-info"]):
            subprocess.run(["git"] + args, cwd=d, env=env, check=True,
                           stdout=subprocess.DEVNULL)


def wheel(www):
    where = os.path.join(www, "simple", "thing")
    os.makedirs(where)
    name = "thing-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(where, name), "w") as z:
        z.writestr("thing.py", "x = 1\n")
        info = "thing-1.2.3.dist-info/"
        z.writestr(info + "METADATA",
                   "Metadata-Version: 2.1\nName: thing\nVersion: 1.2.3\n")
        z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\n"
                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(info + "RECORD", "")
    with open(os.path.join(where, "index.html"), "w") as f:
        f.write('<!DOCTYPE html><html><body><a href="%s">%s</a></body></html>'
                % (name, name))


def registry(www):
    os.mkdir(os.path.join(www, "npm"))
    with open(os.path.join(www, "npm", "thing"), "w") as f:
        json.dump({"name": "thing", "dist-tags": {"latest": "1.2.3"},
                   "versions": {"1.2.3": {
                       "name": "thing", "version": "1.2.3", "dist": {
                           "tarball": "http://%s/npm/thing.tgz" % HOST,
                           "shasum": "0" * 40}}}}, f)


def archive(www):
    """A flat repository with one package."""
    where = os.path.join(www, "debian")
    tree = os.path.join(where, "t", "DEBIAN")
    os.makedirs(tree)
    os.chmod(os.path.join(where, "t"), 0o755)
    os.chmod(tree, 0o755)
    control = "Package: thing\nVersion: 1.2.3\nArchitecture: all\n" \
        "Maintainer: t <t@example.com>\nDescription: thing\n"
    with open(os.path.join(tree, "control"), "w") as f:
        f.write(control)
    name = "thing_1.2.3_all.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", "t", name],
                   cwd=where, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(os.path.join(where, "t"))
    digest = subprocess.run(["sha256sum", name], cwd=where, check=True,
                            stdout=subprocess.PIPE).stdout.split()[0].decode()
    with open(os.path.join(where, "Packages"), "w") as f:
        f.write(control + "Filename: ./%s\nSize: %d\nSHA256: %s\n" % (
            name, os.path.getsize(os.path.join(where, name)), digest))


class Clients(EgressCase):
    NAMES = (HOST, NOT)

    @classmethod
    def instance(cls):
        for make in (repository, wheel, registry, archive):
            make(cls.net.www)
        return EgressInstance(cls.net, {"web": WEB})

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.session = cls.i.session(profile="web", **cls.w.fields())

    def run_client(self, name, host, unset):
        """In a script, as a build or an agent's program would."""
        program, command, _ = CLIENTS[name]
        script = "set -u\n%scd $(mktemp -d)\n%s" % (
            UNSET if unset else "", command.replace("HOST", host))
        self.w.write("client.sh", script)
        return self.i.call("exec", {"argv": [
            "/bin/sh", os.path.join(self.w.path, "client.sh")]},
            session=self.session, timeout_ms=240000)

    def client(self, name):
        program, _, prints = CLIENTS[name]
        there = "import importlib.util, sys; " \
            "sys.exit(importlib.util.find_spec('pip') is None)"
        if program == "pip":
            if subprocess.run(["/usr/bin/python3", "-I", "-c",
                               there]).returncode:
                self.skipTest("there is no pip")
        elif shutil.which(program, path="/usr/bin:/bin") is None:
            self.skipTest("there is no " + program)
        for unset in (False, True):
            how = "without variables" if unset else "with variables"
            with self.subTest(how=how):
                self.net.forget()
                r = self.run_client(name, HOST, unset)
                self.assertEqual((r["state"], r["exit_code"]),
                                 ("completed", 0),
                                 (r["stdout"], r["stderr"], r["denials"]))
                self.assertIn(prints.replace("HOST", HOST), r["stdout"], how)
                self.assertEqual(r["denials"], [])
                self.assertTrue(self.net.connections())
                if unset and name in SLOW:
                    continue
                self.net.forget()
                r = self.run_client(name, NOT, unset)
                self.assertEqual(r["state"], "completed", (how, r))
                self.assertNotEqual(r["exit_code"], 0, (how, r))
                self.assertNotIn("ok from", r["stdout"])
                self.assertEqual(self.net.connections(), [])
                self.assertNotIn(NOT, self.net.queries())
                # whatever the client made of it, the call's record says why
                self.assertTrue([d for d in r["denials"]
                                 if d["layer"] == "egress" and
                                 NOT in d["what"]], (how, r))

    def test_judged(self):
        """As an agent writes it: the judge lets what reads run, and the
        refusal is typed, at once, and says how to ask."""
        r = self.i.bash("curl -sS https://%s/ok" % HOST, session=self.session)
        self.assertEqual((r["state"], r["exit_code"], r["stdout"]),
                         ("completed", 0, "ok from %s\n" % HOST), r)
        r = self.i.bash("git ls-remote https://%s/repo.git" % HOST,
                        session=self.session)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        spent = []
        for _ in range(3):
            r = self.i.bash(
                "curl -sS -w '%%{http_code} %%{time_total}\\n' "
                "http://%s/ok" % NOT, session=self.session)
            self.assertEqual((r["state"], r["exit_code"]), ("completed", 0),
                             r)
            body, _, last = r["stdout"].strip().rpartition("\n")
            refusal = json.loads(body)
            self.assertEqual((refusal["error"], refusal["host"]),
                             ("not_listed", NOT))
            status, seconds = last.split()
            self.assertEqual(status, "403")
            spent.append(float(seconds))
        self.assertLess(min(spent), 5)
        denial = [d for d in r["denials"] if d["layer"] == "egress"]
        self.assertEqual(len(denial), 1, r["denials"])
        self.assertIn(NOT, denial[0]["what"])
        self.assertIn("request_egress", denial[0]["next"])


def add(name):
    def test(self):
        self.client(name)
    test.__doc__ = "%s: what is listed, what is not, with and without" % name
    setattr(Clients, "test_" + name.replace(", ", "_").replace(".", "_"),
            test)


for n in CLIENTS:
    add(n)


if __name__ == "__main__":
    unittest.main()
