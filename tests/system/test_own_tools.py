"""Tools that operators declare: no code, and no way round what is promised."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BUILD, CONFIG, MYELIND, TOP, Instance, wait_for

COUNT = {
    "name": "count", "title": "Count", "description": "Counts.",
    "effect": "read", "marks": [], "asks": False, "timeout_ms": 5000,
    "env": {"LC_ALL": "C.UTF-8", "COUNT_STYLE": "plain"},
    "input_schema": {
        "type": "object",
        "properties": {
            "what": {"type": "string", "enum": ["lines", "bytes"],
                     "default": "lines"},
            "n": {"type": "integer", "minimum": 0},
            "names": {"type": "array", "items": {"type": "string"}}},
        "required": ["names"], "additionalProperties": False},
    "argv": ["/usr/bin/printf", "--", "[%s]",
             {"arg": "what", "values": {"lines": "-l", "bytes": "-c"}},
             {"arg": "n", "prefix": "--n="}, {"args": "names"}],
}
SHOW = {
    "name": "show-env", "title": "Show", "description": "Shows.",
    "effect": "mutate-irreversible", "marks": ["self"], "asks": True,
    "input_schema": {"type": "object", "properties": {},
                     "additionalProperties": False},
    "argv": ["/usr/bin/env"],
}


def tools_of(i):
    status, body = i.get("/v1/tools")
    assert status == 200, body
    return {t["name"]: t for t in body["tools"]}


class Declared(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="t-", dir=os.path.join(
            BUILD, "tests"))
        self.addCleanup(shutil.rmtree, self.dir, True)

    def declare(self, tool, name=None, **more):
        tool = dict(tool, **more)
        path = os.path.join(self.dir, (name or tool["name"]) + ".json")
        with open(path, "w") as f:
            json.dump(tool, f, indent=1)
        os.chmod(path, 0o644)
        return path

    def check(self, config):
        """myelind -n of a configuration: its words, and its exit status."""
        path = os.path.join(self.dir, "myelin.conf")
        with open(path, "w") as f:
            f.write(CONFIG + config)
        os.chmod(path, 0o600)
        r = subprocess.run([MYELIND, "-n", "-d", "-f", path, "-p", self.dir,
                            "-L", BUILD], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=60)
        return r.stdout.decode(), r.returncode

    def test_a_tool_of_ones_own(self):
        self.declare(COUNT)
        self.declare(SHOW)
        with Instance(extra='\ntool "%s"\n' % self.dir) as i:
            tools = tools_of(i)
            t = tools["count"]
            self.assertEqual((t["effect"], t["marks"], t["asks"]),
                             ("read", [], False))
            self.assertEqual((t["title"], t["description"], t["timeout_ms"]),
                             ("Count", "Counts.", 5000))
            self.assertEqual(t["input_schema"], COUNT["input_schema"])
            self.assertEqual((tools["show-env"]["marks"],
                              tools["show-env"]["asks"]), (["self"], True))
            self.assertIn("bash", tools)
            r = i.call("count", {"names": ["a b", "--help", "$(id)", ""]})
            self.assertEqual(r["stdout"], "[-l][a b][--help][$(id)][]")
            self.assertEqual(r["effect"], "read")
            r = i.call("count", {"names": [], "what": "bytes", "n": 3})
            self.assertEqual(r["stdout"], "[-c][--n=3]")
            r = i.call("count", {"names": [], "n": -1})
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "invalid_arguments"))
            self.assertIn("args.n: -1, minimum is 0", r["error"]["message"])
            r = i.call("count", {"names": [], "extra": 1})
            self.assertIn("args.extra: no such property",
                          r["error"]["message"])
            # what asks runs for nobody without an approval
            status, r = i.request("POST", "/v1/calls", {
                "tool": "show-env", "args": {}, "wait_ms": 500})
            self.assertNotEqual(r["state"], "completed")
            # the declaration's time is the call's where it names none
            self.declare(COUNT, argv=["/bin/sleep", "--", "9"])
            r = i.call("count", {"names": []})
            self.assertEqual(r["limits"]["timeout_ms"], 5000)

    def test_environment(self):
        path = self.declare(SHOW, asks=False, env={
            "COLOUR": "green", "LANG": "C.UTF-8"})
        with Instance(extra='\ntool "%s"\n' % path) as i:
            r = i.call("show-env", {}, env={"COLOUR": "red", "OTHER": "x"})
            env = dict(x.split("=", 1) for x in r["stdout"].splitlines())
            self.assertEqual((env["COLOUR"], env["OTHER"], env["LANG"]),
                             ("green", "x", "C.UTF-8"))

    def test_environment_of_tools_that_can_not_do_all(self):
        show = self.declare(SHOW, asks=False, effect="read")
        with Instance(extra='\ntool "%s"\nenvironment allow FOO\n' %
                      show) as i:
            r = i.call("show-env", {}, env={"FOO": "1", "TZ": "UTC",
                                            "LC_ALL": "C"})
            self.assertIn("FOO=1\n", r["stdout"])
            for name in ("GIT_PAGER", "PAGER", "BAR"):
                r = i.call("show-env", {}, env={name: "sh -c 'id'",
                                                "FOO": "1"})
                self.assertEqual((r["state"], r["reason"]),
                                 ("failed", "invalid_arguments"))
                self.assertIn('not "%s"' % name, r["error"]["message"])
            r = i.bash("echo $PAGER", env={"PAGER": "cat"})
            self.assertEqual(r["stdout"], "cat\n")

    def test_environment_of_the_host(self):
        i = Instance(extra="\nenvironment allow TZ, LC_TIME, LC_NAME, "
                     "AWS_PROFILE\n", start=False)
        try:
            i.start(prefix=("env", "TZ=Asia/Tokyo", "LC_TIME=../x",
                            "LC_PAPER=C", "AWS_PROFILE=p", "OTHER=o"))
            r = i.bash("env; date +%Z")
            env = r["stdout"].splitlines()
            self.assertIn("TZ=Asia/Tokyo", env)
            self.assertIn("LANG=C.UTF-8", env)
            self.assertEqual([x for x in env if x.startswith(
                ("LC_", "AWS_", "OTHER"))], [])
            r = i.bash("echo $TZ", env={"TZ": "UTC"})
            self.assertEqual(r["stdout"], "UTC\n")
            self.assertIn("environment allow LC_TIME: the host's value",
                          i.log())
            self.assertIn("AWS_PROFILE is named like a credential", i.log())
        finally:
            i.stop()

    def test_environment_of_a_call(self):
        """Refused with the names of all that may not be there."""
        with Instance() as i:
            r = i.bash("env", env={
                "MYELIN_MCP_SERVERS": "{}", "APP_MCP_SERVERS": "{}",
                "GH_TOKEN": "x", "LD_PRELOAD": "/x", "LC_SECRET": "s",
                "NOTES": "ghp_" + "a1B2c3D4e5" * 4, "FINE": "1"})
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "invalid_arguments"))
            words = r["error"]["message"]
            for name in ("MYELIN_MCP_SERVERS", "APP_MCP_SERVERS", "GH_TOKEN",
                         "LD_PRELOAD", "LC_SECRET", "NOTES"):
                self.assertIn('"%s"' % name, words)
            self.assertNotIn("FINE", words)
            self.assertNotIn("ghp_", words)

    def test_presets(self):
        self.declare(COUNT)
        self.declare(SHOW, asks=False)
        config = CONFIG.replace("preset standard", "preset few") + (
            '\ntool "%s/*.json"\n'
            'preset "few" { cap read; allow tool show-env; '
            'deny tool count }\n' % self.dir)
        with Instance(config) as i:
            self.assertEqual(set(tools_of(i)) & {"count", "show-env", "bash"},
                             {"show-env"})
            self.assertEqual(i.call("show-env", {})["state"], "completed")
            status, r = i.request("POST", "/v1/calls", {
                "tool": "count", "args": {"names": []}})
            self.assertEqual(status, 403, r)
        text, status = self.check(
            '\npreset "x" { cap read; allow tool count }\n')
        self.assertNotEqual(status, 0)
        self.assertIn('there is no tool "count"', text)

    def test_refusals_name_file_and_line(self):
        good = self.declare(COUNT)
        line = CONFIG.count("\n") + 2
        conf = os.path.join(self.dir, "myelin.conf")

        def refused(config, *words):
            text, status = self.check(config)
            self.assertNotEqual(status, 0, text)
            for w in words:
                self.assertIn(w, text)

        text, status = self.check('\ntool "%s"\n' % good)
        self.assertEqual(status, 0, text)
        refused('\ntool "%s"\ntool "%s"\n' % (good, good),
                "%s:%d: " % (conf, line + 1), "taken by", good,
                "%s:%d" % (conf, line))
        bash = self.declare(dict(COUNT, name="bash"))
        refused('\ntool "%s"\n' % bash, "%s:%d: " % (conf, line),
                '"bash" comes with Myelin')
        os.unlink(bash)
        refused('\ntool "count.json"\n', "%s:%d: " % (conf, line),
                "absolute path")
        refused('\ntool "%s/none.json"\n' % self.dir,
                "%s:%d: " % (conf, line), "No such file")
        refused('\ntool "%s/Count.JSON"\n' % self.dir, "named like its tool")
        # what others may write is not believed, nor a directory they may
        os.chmod(good, 0o666)
        refused('\ntool "%s"\n' % good, "mode 0666", good)
        os.chmod(good, 0o644)
        os.chown(good, 12345, 0)
        refused('\ntool "%s"\n' % good, "belongs to uid 12345")
        os.chown(good, 0, 0)
        os.chmod(self.dir, 0o777)
        refused('\ntool "%s"\n' % good, "mode 0777")
        os.chmod(self.dir, 0o755)
        os.unlink(good)
        os.mkfifo(good)
        refused('\ntool "%s"\n' % good, "not a regular file")
        os.unlink(good)
        # the declaration's own errors, with its file and line
        for more, words in (
                ({"effect": "some"}, "effect: none of"),
                ({"env": {"MY_TOKEN": "x"}}, "env: \"MY_TOKEN\" is named"),
                ({"env": {"A": "sk-ant-api03-" + "x1" * 20}},
                 "has a value of the shape of a key"),
                ({"argv": ["/bin/x", {"arg": "n"}]},
                 "argv: \"n\" could be read as an option"),
                ({"nosuch": 1}, "no member \"nosuch\" is known"),
                ({"input_schema": {"type": "object", "unevaluatedItems": 1}},
                 "keyword \"unevaluatedItems\" is not supported")):
            path = self.declare(COUNT, **more)
            with open(path) as f:
                text = f.read().splitlines()
            member = next(iter(more))
            at = 1 + next(n for n, x in enumerate(text)
                          if x.startswith(' "%s":' % member))
            refused('\ntool "%s"\n' % path, "%s:%d: " % (path, at), words)
        with open(path, "w") as f:
            f.write('{\n "name": "count",\n oops\n}')
        refused('\ntool "%s"\n' % path, "%s:3: " % path, "not JSON")

    def test_a_reload_brings_others(self):
        self.declare(COUNT)
        with Instance(extra='\ntool "%s"\n' % self.dir) as i:
            judged, apid = i.pid("judged"), i.pid("apid")
            self.declare(COUNT, description="Counts better.")
            self.declare(SHOW)
            i.process.send_signal(signal.SIGHUP)

            def others():
                # 503 while judged is started again
                status, body = i.get("/v1/tools")
                found = {t["name"]: t for t in body.get("tools", [])}
                return "show-env" in found and \
                    found["count"]["description"] == "Counts better."
            wait_for(others, 60, 0.1)
            self.assertNotEqual(i.pid("judged"), judged)
            self.assertEqual(i.pid("apid"), apid)
            self.assertEqual(i.call("count", {"names": ["x"]})["stdout"],
                             "[-l][x]")
            # one that is wrong changes nothing
            self.declare(COUNT, effect="some")
            i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: i.status()["reload"]["result"] == "refused", 60)
            self.assertRegex(i.status()["reload"]["error"],
                             r"count\.json:[0-9]+: effect: none of")
            self.assertIn("count", tools_of(i))

    def test_input_strict_or_coerce(self):
        self.declare(COUNT)
        self.declare(dict(COUNT, name="exact"), input="strict")
        with Instance(extra='\ntool "%s"\ntool-input coerce\n' %
                      self.dir) as i:
            r = i.call("count", {"names": [], "n": "12"})
            self.assertEqual(r["stdout"], "[-l][--n=12]")
            for n in ("twelve", "12 ", "1.5", "-3", ["12"], True):
                r = i.call("count", {"names": [], "n": n})
                self.assertEqual(r["reason"], "invalid_arguments", n)
            r = i.call("exact", {"names": [], "n": "12"})
            self.assertEqual(r["reason"], "invalid_arguments")
            self.assertIn("args.n: expected integer, got string",
                          r["error"]["message"])
            # a text stays a text
            r = i.call("exec", {"argv": ["printf", "%s", "12"]})
            self.assertEqual(r["stdout"], "12")
        with Instance(extra='\ntool "%s"\n' % self.dir) as i:
            r = i.call("count", {"names": [], "n": "12"})
            self.assertEqual(r["reason"], "invalid_arguments")
            # a reload is enough for that, and judged stays
            judged = i.pid("judged")
            i.configure(CONFIG + '\ntool "%s"\ntool-input coerce\n' %
                        self.dir)
            i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: i.status()["reload"]["result"] == "ok", 60)
            r = i.call("count", {"names": [], "n": "12"})
            self.assertEqual(r["stdout"], "[-l][--n=12]")
            self.assertEqual(i.pid("judged"), judged)
        text, status = self.check("\ntool-input lax\n")
        self.assertNotEqual(status, 0)
        self.assertIn("tool-input is strict or coerce", text)

    def test_examples_of_the_manual(self):
        """The page's two declarations are taken out of it and used."""
        with open(os.path.join(TOP, "man", "myelin-tool.5")) as f:
            page = f.read()
        found = re.findall(r"\.Bd -literal.*?\n(\{.*?\n\})\n\.Ed", page,
                           re.S)
        examples = [json.loads(x.replace("\\e", "\\").replace("\\-", "-"))
                    for x in found]
        self.assertEqual([x["name"] for x in examples],
                         ["words", "git-log"])
        for x in examples:
            self.declare(x)
        with Instance(extra='\ntool "%s"\n' % self.dir) as i:
            s = i.session()
            i.bash("printf 'one two\\nthree\\n' >-n", session=s)
            r = i.call("words", {"file": "-n"}, session=s)
            self.assertEqual((r["exit_code"], r["stdout"].split()[0]),
                             (0, "3"), r)
            r = i.call("words", {"file": "-n", "what": "lines"}, session=s)
            self.assertEqual(r["stdout"].split()[0], "2")
            if shutil.which("git"):
                i.bash("git init -q . && git -c user.name=a -c "
                       "user.email=a@b commit -q --allow-empty -m first",
                       session=s)
                r = i.call("git-log", {"most": 5}, session=s)
                self.assertIn("first", r["stdout"], r)
                r = i.call("git-log", {"paths": ["--output=x"]}, session=s)
                self.assertEqual(r["stdout"], "", r)
                r = i.bash("ls", session=s)
                self.assertNotIn("x\n", r["stdout"])


if __name__ == "__main__":
    unittest.main()
