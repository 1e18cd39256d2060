"""MCP as other people's programs speak it: the official clients in both their
versions, the Inspector, the conformance harness.  Skipped where npm has not
got them."""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest

import peers
from approvals import ASKS, Split
from harness import CTL, Instance, wait_for
from mcp import Mcp, tasks_meta

# Scenarios that mean something for a server of tools alone.
SCENARIOS = {
    "2025-11-25": ("server-initialize", "ping", "tools-list",
                   "dns-rebinding-protection", "server-session-lifecycle"),
    "2026-07-28": ("server-stateless", "tools-list",
                   "dns-rebinding-protection", "http-header-validation",
                   "caching"),
}
CALLS = {
    "bash": {"command": "echo one; sleep 1.5; echo two"},
    "exec": {"argv": ["printf", "%s", "a b"]},
    "python": {"code": "print(6*7)"},
    "write": {"path": "note", "content": "hello\n"},
    "read": {"path": "note"},
    "edit": {"path": "note", "old": "hello", "new": "bye"},
    "ls": {},
    "find": {"name": "*"},
    "grep": {"pattern": "e"},
}
FIRST = ("write", "bash")   # before those that need what they leave


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = peers.install()
        if why is not None:
            raise unittest.SkipTest(why)
        cls.i = Instance()
        cls.forward = peers.Forward(cls.i.api)
        cls.home = tempfile.TemporaryDirectory(dir=cls.i.dir)
        status, body = cls.i.get("/v1/tools")
        assert status == 200, body
        cls.tools = sorted(t["name"] for t in body["tools"])
        cls.env = dict(os.environ, HOME=cls.home.name,
                       MYELIN_SOCKET=cls.i.api, NO_COLOR="1")

    @classmethod
    def tearDownClass(cls):
        cls.forward.close()
        cls.home.cleanup()
        cls.i.stop()

    def run_node(self, *argv, status=0):
        p = subprocess.run([peers.node()] + list(argv), env=self.env,
                           cwd=peers.NPM, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=300)
        out = p.stdout.decode(errors="replace")
        if status is not None:
            self.assertEqual(p.returncode, status, out[-3000:] +
                             p.stderr.decode(errors="replace")[-3000:])
        return out

    def stdio(self):
        return {"command": CTL, "args": ["mcp"]}

    def calls(self):
        """One of each tool, with arguments that it takes if we know some."""
        names = sorted(self.tools, key=lambda n: (n not in FIRST, n))
        return [[n, CALLS.get(n, {})] for n in names]

    def look(self, seen):
        self.assertEqual([t["name"] for t in seen["tools"]], self.tools)
        for tool in seen["tools"]:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertTrue(tool["description"])
        results = {c[0]: r for c, r in zip(self.calls(), seen["results"])}
        self.assertEqual(len(results), len(self.tools))
        self.assertEqual(results["bash"]["content"][0]["text"], "one\ntwo\n")
        self.assertEqual(results["exec"]["content"][0]["text"], "a b")
        self.assertEqual(results["python"]["structuredContent"]["stdout"],
                         "42\n")
        for result in results.values():
            self.assertTrue(result["content"])
        self.assertGreater(seen["progress"], 0)
        self.assertIn("enough", seen["aborted"])
        # what was given up does not go on
        wait_for(lambda: not [
            c for c in self.i.get("/v1/calls?limit=20")[1]["calls"]
            if c["state"] in ("queued", "running")], 60)

    def sessions_live(self):
        return {s["session"] for s in
                self.i.get("/v1/sessions")[1]["sessions"]
                if s["state"] == "live"}

    def client(self, name, where, *more):
        """One that ends what it began, which the Inspector does not."""
        before = self.sessions_live()
        out = self.run_node(peers.script(name), json.dumps(where),
                            json.dumps(self.calls()), *more)
        self.look(json.loads(out.splitlines()[-1]))
        wait_for(lambda: self.sessions_live() <= before, 60)
        return json.loads(out.splitlines()[-1])

    def test_sdk_1_over_http(self):
        self.client("client_v1.mjs", {"url": self.forward.url})

    def test_sdk_1_over_stdio(self):
        self.client("client_v1.mjs", self.stdio())

    def test_sdk_2_over_http(self):
        # each call is a neuron of its own: what one writes no other reads
        seen = self.client("client_v2.mjs", {"url": self.forward.url})
        self.assertEqual(seen["version"], "2026-07-28")

    def test_sdk_2_over_stdio(self):
        seen = self.client("client_v2.mjs", self.stdio())
        self.assertEqual(seen["version"], "2026-07-28")

    def test_sdk_2_shakes_hands(self):
        seen = self.client("client_v2.mjs", self.stdio(), "legacy")
        self.assertEqual(seen["version"], "2025-11-25")

    # ---- the Inspector ----

    def inspect(self, server, era, *more):
        config = os.path.join(self.home.name, "inspector.json")
        with open(config, "w") as f:
            json.dump({"mcpServers": {"myelin": server}}, f)
        out = self.run_node(
            peers.package("inspector", "clients", "launcher", "build",
                          "index.js"), "--cli", "--config", config,
            "--server", "myelin", "--protocol-era", era, "--format", "json",
            "-q", *more)
        return json.loads(out)

    def inspector(self, server, era):
        listed = self.inspect(server, era, "--method", "tools/list")
        self.assertEqual([t["name"] for t in
                          listed.get("result", listed)["tools"]], self.tools)
        result = self.inspect(server, era, "--method", "tools/call",
                              "--tool-name", "bash", "--tool-arg",
                              "command=echo $((6*7))")
        self.assertEqual(result.get("result", result)["content"][0]["text"],
                         "42\n")

    def test_inspector_over_http(self):
        for era in ("legacy", "modern"):
            self.inspector({"type": "http", "url": self.forward.url}, era)

    def test_inspector_over_stdio(self):
        for era in ("legacy", "modern"):
            self.inspector({"type": "stdio", "command": CTL,
                            "args": ["mcp"],
                            "env": {"MYELIN_SOCKET": self.i.api}}, era)

    # ---- the harness ----

    def scenario(self, version, name):
        out = re.sub(r"\x1b\[[0-9;]*m", "", self.run_node(
            peers.package("conformance", "dist", "index.js"), "server",
            "--url", self.forward.url, "--spec-version", version,
            "--scenario", name, "--expected-failures",
            os.path.join(peers.SOURCE, "baseline.yml")))
        m = re.search(r"^Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings",
                      out, re.M)
        self.assertIsNotNone(m, out)
        self.assertEqual(m.group(4), "0", out)
        return [int(n) for n in m.groups()]

    def test_conformance(self):
        scenarios = checks = expected = 0
        begin = time.monotonic()
        for version, names in SCENARIOS.items():
            for name in names:
                passed, _, failed, _ = self.scenario(version, name)
                scenarios += 1
                checks += passed
                expected += failed
        print("detail %d scenarios, %d checks, %d of the baseline, %.0f s" % (
            scenarios, checks, expected, time.monotonic() - begin))
        self.assertEqual(scenarios, 10)
        self.assertGreaterEqual(checks, 58)

    def test_every_line_of_the_baseline_has_a_reason(self):
        with open(os.path.join(peers.SOURCE, "baseline.yml")) as f:
            lines = [l.strip() for l in f]
        for before, line in zip(lines, lines[1:]):
            if line.startswith("- "):
                self.assertRegex(before, r"^# (needs the fixture tool \w+|"
                                 r"(prompts|resources) are not offered)$")


class Waiting(unittest.TestCase):
    """The official clients and a call that waits for a person."""

    @classmethod
    def setUpClass(cls):
        why = peers.install()
        if why is not None:
            raise unittest.SkipTest(why)
        cls.s = Split("wait 2s\n")
        cls.forward = peers.Forward(cls.s.i.api)
        cls.env = dict(os.environ, HOME=cls.s.i.dir,
                       MYELIN_SOCKET=cls.s.i.api, NO_COLOR="1")

    @classmethod
    def tearDownClass(cls):
        cls.forward.close()
        cls.s.stop()

    def start(self, name, where, *more):
        p = subprocess.Popen(
            [peers.node(), peers.script(name), json.dumps(where), ASKS] +
            list(more), env=self.env, cwd=peers.NPM, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        return p

    def allow(self, seconds, p=None):
        """Once there is one, and after that time: its id."""
        try:
            a = wait_for(self.s.list, 90)[0]
        except AssertionError as e:
            if p is None:
                raise
            p.kill()
            raise AssertionError("%s: %s" % (e, p.communicate()))
        time.sleep(seconds)
        self.assertEqual([x["approval"] for x in self.s.list()],
                         [a["approval"]])
        self.assertEqual(self.s.decide(a["approval"])[0], 200)
        return a

    def ended(self, p):
        """The last line of what it printed."""
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0, out[-2000:] + err[-2000:])
        self.assertEqual(self.s.list(), [])
        return json.loads(out.splitlines()[-1])

    def by_itself(self, where):
        """The modern era's client comes back without being told to."""
        p = self.start("wait_v2.mjs", where)
        a = self.allow(6, p)
        seen = self.ended(p)
        self.assertEqual(seen["version"], "2026-07-28")
        self.assertEqual(seen["result"]["content"][0]["text"], "ran\n")
        self.assertEqual(seen["result"]["structuredContent"]["call"],
                         a["call"])
        self.assertTrue(any("waiting for approval " + a["approval"] in m
                            for m in seen["said"]), seen)

    def told(self, name, where, *more):
        """The handshake era's gets a result that it takes, and calls again."""
        p = self.start(name, where, *more)
        first = json.loads(p.stdout.readline())
        self.assertTrue(first["isError"])
        a = self.allow(0, p)
        self.assertEqual(first["structuredContent"]["approval"],
                         a["approval"])
        p.stdin.write("\n")
        p.stdin.flush()
        seen = self.ended(p)
        self.assertEqual(seen["result"]["content"][0]["text"], "ran\n")
        self.assertEqual(seen["result"]["structuredContent"]["call"],
                         a["call"])

    def test_sdk_2(self):
        self.by_itself({"url": self.forward.url})

    def test_sdk_2_over_stdio(self):
        self.by_itself({"command": CTL, "args": ["mcp"]})

    def test_sdk_2_shakes_hands(self):
        self.told("wait_v2.mjs", {"url": self.forward.url}, "legacy")

    def test_tasks_fit_their_schemas(self):
        mcp = Mcp(self.s.i)

        def task(method, ident):
            return mcp.modern("tasks/" + method, {"taskId": ident},
                              extra=tasks_meta())[2][-1]["result"]

        def begin():
            return mcp.modern("tools/call", {
                "name": "bash", "arguments": {"command": ASKS}},
                extra=tasks_meta())[2][-1]["result"]

        first, second = begin(), begin()
        seen = [["CreateTaskResult", first],
                ["GetTaskResult", task("get", first["taskId"])],
                ["CancelTaskResult", task("cancel", second["taskId"])],
                ["UpdateTaskResult", task("update", first["taskId"])]]
        wait_for(lambda: len(self.s.list()) == 1, 60)
        self.allow(0)
        for ident, status in ((first["taskId"], "completed"),
                              (second["taskId"], "cancelled")):
            wait_for(lambda: task("get", ident)["status"] == status, 60)
            seen.append(["GetTaskResult", task("get", ident)])
        out = subprocess.run(
            [peers.node(), peers.script("task_schema.mjs"),
             json.dumps(seen)], env=self.env, cwd=peers.NPM, timeout=120,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True).stdout
        self.assertEqual(out, "good\n")

    def test_sdk_1(self):
        self.told("wait_v1.mjs", {"url": self.forward.url})

    def test_sdk_1_over_stdio(self):
        self.told("wait_v1.mjs", {"command": CTL, "args": ["mcp"]})


if __name__ == "__main__":
    unittest.main()
