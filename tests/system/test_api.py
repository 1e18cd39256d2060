"""The API end to end: sessions, budgets, cancel, stdin, bad requests."""
import json
import os
import subprocess
import threading
import unittest

from harness import (BUILD, CONFIG, NAMES, Instance, output_of, parse_events,
                     stdout_of, wait_for)


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def test_health(self):
        for operator in (False, True):
            status, body = self.i.get("/healthz", operator=operator)
            self.assertEqual((status, body["status"]), (200, "ok"))

    def test_whoami(self):
        status, body = self.i.get("/v1/whoami")
        self.assertEqual((status, body["who"], body["preset"]),
                         (200, "uid:0", "standard"))

    def test_tools(self):
        tools = {t["name"]: t for t in self.i.get("/v1/tools")[1]["tools"]}
        effects = {
            "mutate-irreversible": {"exec", "bash", "python"},
            "mutate-reversible": {"write", "edit", "memory_store",
                                  "memory_delete"},
            "read": {"read", "ls", "grep", "find", "memory_recall",
                     "memory_list", "fetch", "request_egress"}}
        self.assertEqual(set(tools), set().union(*effects.values()))
        for effect, names in effects.items():
            for name in names:
                t = tools[name]
                self.assertEqual(t["effect"], effect, name)
                self.assertEqual(t["input_schema"]["type"], "object")
                if effect == "mutate-irreversible":
                    self.assertIsNone(t["output_schema"])
                else:
                    self.assertEqual(t["output_schema"]["type"], "object")

    def test_limits_match_the_command_line(self):
        body = self.i.get("/v1/limits")[1]["limits"]
        r = self.i.ctl("limits", "--json")
        self.assertEqual(json.loads(r.stdout)["limits"], body)
        rows = {l["keyword"]: l["value"] for l in body}
        self.assertEqual(rows["memory"], 1 << 30)
        self.assertEqual(rows["hourly"], 10000000)

    def test_python(self):
        r = self.i.call("python", {"code": "print(6*7)"})
        self.assertEqual((r["state"], r["stdout"]), ("completed", "42\n"))

    def test_exec_has_no_shell(self):
        r = self.i.call("exec", {"argv": ["echo", "$HOME; id", "*"]})
        self.assertEqual(r["stdout"], "$HOME; id *\n")

    def test_bash_text_that_looks_like_an_option(self):
        r = self.i.bash("--version")
        self.assertEqual(r["exit_code"], 127, r)

    def test_heredoc(self):
        r = self.i.bash("cat << 'EOF' > t.txt\nhello $HOME\nEOF\nwc -c t.txt")
        self.assertEqual(r["stdout"], "12 t.txt\n")

    def test_binary_output(self):
        r = self.i.bash("printf 'a\\377\\376b\\n'; exit 3")
        self.assertEqual(r["exit_code"], 3)
        self.assertEqual(r["encoding"]["stdout"], "base64")
        self.assertEqual(stdout_of(r), b"a\xff\xfeb\n")
        self.assertEqual(self.i.bash("echo next")["stdout"], "next\n")

    def test_signals_are_told(self):
        r = self.i.bash("kill -9 $$")
        self.assertEqual((r["state"], r["reason"], r["signal"]),
                         ("failed", "signalled", "KILL"))
        r = self.i.bash("kill -SEGV $$")
        self.assertEqual((r["reason"], r["signal"]), ("signalled", "SEGV"))

    def test_a_failing_program_is_not_a_denial(self):
        r = self.i.bash("false")
        self.assertEqual((r["state"], r["reason"], r["exit_code"],
                          r["denials"]), ("completed", None, 1, []))
        r = self.i.bash("cat /root/x")
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 1))
        self.assertIn("/root/x", r["stderr"])

    def test_timeout_keeps_output(self):
        r = self.i.call("python", {"code": "print('one'); import time;"
                                   "time.sleep(60)"}, timeout_ms=5000)
        self.assertEqual((r["state"], r["reason"], r["stdout"]),
                         ("failed", "timed_out", "one\n"))

    def test_leftover_processes_are_counted(self):
        r = self.i.bash("sleep 300 & sleep 301 & echo done")
        self.assertEqual((r["state"], r["stdout"], r["leftover_processes"]),
                         ("completed", "done\n", 2))

    def test_times_and_layers(self):
        r = self.i.bash("true")
        for step in ("judge_us", "neuron_us", "start_us", "run_us",
                     "total_us"):
            self.assertGreaterEqual(r["times"][step], 0)
        self.assertGreater(r["times"]["total_us"], 0)
        self.assertIn("seccomp", " ".join(r["layers"]))
        self.assertEqual((r["verdict"], r["effect"], r["class"]),
                         ("allow", "mutate-irreversible", "read"))

    def test_invalid_arguments(self):
        for tool, args, words in (
                ("bash", {}, "command"),
                ("bash", {"command": 7}, "command"),
                ("bash", {"command": "x", "other": 1}, "other"),
                ("exec", {"argv": []}, "argv"),
                ("exec", {"argv": ["a", 1]}, "argv"),
                ("exec", {"argv": "ls"}, "argv"),
                ("python", {"code": None}, "code")):
            r = self.i.call(tool, args)
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "invalid_arguments"), r)
            self.assertIn(words, r["error"]["message"])

    def test_a_directory_that_is_a_trick(self):
        for cwd in ("/proc/self/fd/7", "/proc/self/cwd", "../..",
                    "/home/agent/../.."):
            r = self.i.bash("pwd", cwd=cwd)
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "invalid_arguments"), (cwd, r))

    def test_environment_that_is_a_trick(self):
        for name in ("LD_PRELOAD", "BASH_ENV", "MY_TOKEN", "AWS_REGION",
                     "MYELIN_CALL", "A=B", "", "SSH_AUTH_SOCK"):
            r = self.i.bash("env", env={name: "x"})
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "invalid_arguments"), (name, r))
        r = self.i.bash("env", env={"X": "sk-ant-api03-" + "a" * 95})
        self.assertEqual(r["reason"], "invalid_arguments")

    def test_unknown_tool(self):
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "nosuch", "args": {}})
        self.assertIn(status, (403, 404), body)
        self.assertIn("nosuch", body["error"]["message"])

    def test_bad_requests(self):
        for body, words in (
                (b"{", "JSON|json"),
                (b'{"tool":"bash","tool":"exec","args":{}}', "twice"),
                (b'{"tool":"bash","args":{},"nosuch":1}', "nosuch"),
                (b'{"args":{}}', "tool"),
                (b"[" * 5000, "JSON|32 levels"),
                (b'{"tool":"bash","args":{},"timeout_ms":10}', "1000"),
                (b'{"tool":"bash","args":{},"timeout_ms":3600001}', "3600000"),
                (b'{"tool":"bash","args":{},"wait_ms":60000000}', "50000"),
                (b'{"tool":"bash","args":{},"stdin":5}', "stdin")):
            status, answer = self.i.request(
                "POST", "/v1/calls", body,
                headers={"Content-Type": "application/json"})
            self.assertEqual(status, 400, (body, answer))
            self.assertRegex(answer["error"]["message"], words)
            self.assertTrue(answer["error"]["request_id"])
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def test_unknown_routes_and_ids(self):
        for path in ("/", "/v1/nosuch", "/v1/calls/c-nope",
                     "/v1/calls/c-00000000000000000000",
                     "/v1/sessions/s-00000000000000000000",
                     "/v1/calls/../../etc/passwd"):
            status, body = self.i.get(path)
            self.assertIn(status, (400, 404), path)
        status, body = self.i.request("DELETE", "/v1/whoami")
        self.assertEqual(status, 405)

    def test_operator_routes_are_not_on_the_agent_socket(self):
        for path in ("/v1/status", "/v1/audit", "/v1/approvals"):
            self.assertEqual(self.i.get(path)[0], 404, path)
        status, _ = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "id"}}, operator=True)
        self.assertIn(status, (404, 405))

    def test_cancel(self):
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "trap '' TERM; sleep 100"}})
        self.assertEqual(status, 202)
        path = "/v1/calls/" + call["call"]
        wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
        status, body = self.i.request("POST", path + "/cancel", {})
        self.assertIn(status, (200, 202), body)
        r = wait_for(lambda: self.i.get(path)[1]["state"] != "running" and
                     self.i.get(path)[1], 60)
        self.assertEqual((r["state"], r["reason"]), ("cancelled", None), r)

    def test_a_session_outlives_the_kill_of_its_calls(self):
        """Each of its leaves is as good as new afterwards."""
        s = self.i.session()
        for n in range(6):
            status, call = self.i.request(
                "POST", "/v1/sessions/%s/calls" % s,
                {"tool": "exec", "args": {"argv": ["sleep", "100"]}})
            path = "/v1/calls/" + call["call"]
            wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
            self.i.request("POST", path + "/cancel")
            wait_for(lambda: self.i.get(path)[1]["state"] == "cancelled", 60)
            r = self.i.bash("sleep 100 & echo here", session=s)
            self.assertEqual((r["state"], r["stdout"],
                              r["leftover_processes"]),
                             ("completed", "here\n", 1), r)
        r = self.i.bash("echo here", session=s)
        self.assertEqual(r["stdout"], "here\n", r)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_stdin_inline(self):
        for stdin in ("text", {"text": "text"}, {"base64": "dGV4dA=="}):
            r = self.i.call("exec", {"argv": ["cat"]}, stdin=stdin)
            self.assertEqual(r["stdout"], "text")

    def test_stdin_is_closed_without_one(self):
        r = self.i.call("python", {"code": "import sys;"
                                   "print(repr(sys.stdin.read()))"})
        self.assertEqual(r["stdout"], "''\n")

    def test_stdin_streamed(self):
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["cat"]},
            "stdin": {"stream": True}})
        self.assertEqual(status, 202, call)
        path = "/v1/calls/" + call["call"]
        for k, piece in enumerate((b"one ", b"two ", b"three")):
            status, body = self.i.request(
                "POST", path + "/stdin" + ("?eof=1" if k == 2 else ""),
                piece, headers={"Content-Type": "application/octet-stream"})
            self.assertEqual(status, 200, body)
        r = wait_for(lambda: self.i.get(path)[1]["state"] == "completed" and
                     self.i.get(path)[1], 60)
        self.assertEqual(r["stdout"], "one two three")

    def test_a_session(self):
        s = self.i.session()
        status, body = self.i.get("/v1/sessions/" + s)
        self.assertEqual((status, body["state"]), (200, "live"))
        self.i.bash("echo kept > f", session=s)
        self.assertEqual(self.i.bash("cat f", session=s)["stdout"], "kept\n")
        self.assertEqual(self.i.bash("cd /tmp; X=1", session=s)["exit_code"],
                         0)
        self.assertEqual(self.i.bash("pwd; echo $X", session=s)["stdout"],
                         "/home/agent\n\n")
        self.assertIn(self.i.request("DELETE", "/v1/sessions/" + s)[0],
                      (200, 204))
        status, body = self.i.request("POST", "/v1/sessions/%s/calls" % s, {
            "tool": "bash", "args": {"command": "true"}})
        self.assertIn(status, (404, 409), body)

    def test_ending_a_session_kills_what_it_runs(self):
        s = self.i.session()
        status, call = self.i.request("POST", "/v1/sessions/%s/calls" % s, {
            "tool": "bash", "args": {"command": "sleep 100"}})
        path = "/v1/calls/" + call["call"]
        wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
        self.i.request("DELETE", "/v1/sessions/" + s)
        r = wait_for(lambda: self.i.get(path)[1]["state"] == "failed" and
                     self.i.get(path)[1], 60)
        self.assertEqual(r["reason"], "session_ended")

    def test_session_events(self):
        s = self.i.session()
        got = []

        c = self.i.connection()
        c.request("GET", "/v1/sessions/%s/events" % s,
                  headers={"Accept": "text/event-stream"})
        stream = c.getresponse()
        self.addCleanup(c.close)
        self.assertEqual(stream.status, 200)

        def follow():
            for e in parse_events(stream):
                got.append(e)
                if [x[1] for x in got].count("call.finished") == 2:
                    return
        t = threading.Thread(target=follow)
        t.start()
        a = self.i.bash("echo a", session=s)["call"]
        b = self.i.bash("echo b", session=s)["call"]
        t.join(60)
        self.assertFalse(t.is_alive())
        out = {c: b"".join(output_of(d) for _, e, d in got
                           if e == "call.output" and d["call"] == c)
               for c in (a, b)}
        self.assertEqual(out, {a: b"a\n", b: b"b\n"})

    def test_one_event_stream(self):
        names = [e[1] for e in self.i.events("/v1/calls", {
            "tool": "bash", "args": {"command": "seq 3"}})]
        self.assertEqual(names.count("call.finished"), 1)
        self.assertEqual(names[-1], "call.finished")
        self.assertIn("call.judged", names)
        self.assertIn("call.started", names)
        self.assertLess(names.index("call.started"),
                        names.index("call.output"))

    def test_lists_page(self):
        for _ in range(5):
            self.i.bash("true")
        seen, cursor = [], None
        for _ in range(200):
            page = self.i.get("/v1/calls?limit=2" + (
                "&cursor=%s" % cursor if cursor else ""))[1]
            seen += [c["call"] for c in page["calls"]]
            cursor = page["next"]
            if not cursor:
                break
        self.assertEqual(len(seen), len(set(seen)))
        self.assertGreaterEqual(len(seen), 5)

    def test_status(self):
        s = self.i.status()
        for p in s["processes"]:
            self.assertEqual(p["state"], "up", p)
            self.assertTrue(os.path.exists("/proc/%d" % p["pid"]))
        r = self.i.ctl("status", "--json")
        self.assertEqual([p["name"] for p in json.loads(r.stdout)[
            "processes"]], [p["name"] for p in s["processes"]])

    def test_memory_bomb(self):
        # in steps: a single huge request may be refused, not killed; and
        # bounded, as a host without the layer has no more than it has
        r = self.i.call("python", {"code": "x = []\nfor _ in range(128):"
                                   " x.append(b'x' * (16 << 20))"})
        self.assertEqual((r["state"], r["reason"]), ("failed", "oom_killed"),
                         r)
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")


class Budgets(unittest.TestCase):
    def test_calls_of_a_session(self):
        with Instance(CONFIG.replace("calls-session 10000000",
                                     "calls-session 3")) as i:
            s = i.session()
            for _ in range(3):
                i.bash("true", session=s)
            status, body = i.request("POST", "/v1/sessions/%s/calls" % s, {
                "tool": "bash", "args": {"command": "true"}})
            self.assertEqual((status, body["error"]["code"]),
                             (429, "budget_exhausted"))
            self.assertIn("3", body["error"]["message"])
            i.bash("true", session=i.session())

    def test_hourly(self):
        with Instance(CONFIG.replace("hourly 10000000", "hourly 4")) as i:
            for _ in range(3):
                i.bash("true")
            i.session()
            for path, body in (("/v1/sessions", {}),
                               ("/v1/calls", {"tool": "bash", "args": {
                                   "command": "true"}})):
                status, answer = i.request("POST", path, body)
                self.assertEqual((status, answer["error"]["code"]),
                                 (429, "budget_exhausted"))
                self.assertIn("4", answer["error"]["message"])

    def test_neurons(self):
        conf = CONFIG + "neurons-principal 2\nneuron-wait 0\n"
        with Instance(conf) as i:
            one, _ = i.session(), i.session()
            status, body = i.request("POST", "/v1/sessions", {})
            self.assertEqual((status, body["error"]["code"]),
                             (429, "too_many"))
            self.assertIn("2", body["error"]["message"])
            i.request("DELETE", "/v1/sessions/" + one)
            wait_for(lambda: i.request("POST", "/v1/sessions", {})[0] == 201,
                     60)

    def test_running_calls_of_a_neuron(self):
        with Instance() as i:
            s = i.session()
            calls = [i.request("POST", "/v1/sessions/%s/calls" % s, {
                "tool": "bash", "args": {"command": "sleep 300"},
                "timeout_ms": 300000})[1]["call"] for _ in range(4)]
            for c in calls:
                wait_for(lambda: i.get("/v1/calls/" + c)[1]["state"] ==
                         "running", 60)
            status, body = i.request("POST", "/v1/sessions/%s/calls" % s, {
                "tool": "bash", "args": {"command": "true"}})
            self.assertEqual(status, 429, body)
            self.assertIn("4", body["error"]["message"])


class Identity(unittest.TestCase):
    CONFIG = """
listen api "%(dir)s/api.sock" mode 0666
principal user 12345 { preset standard }
principal group 23456 { preset readonly }
operator user root may approve, audit, manage
"""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance(start=False)
        cls.i.configure(cls.CONFIG % {"dir": cls.i.dir})
        # who runs the tests is no principal, whom Instance asks as
        cls.i.wait_up = lambda seconds=60: wait_for(cls.up, seconds)
        cls.i.start()

    @classmethod
    def up(cls):
        try:
            return {n for n, p in cls.i.processes().items()
                    if p["state"] == "up"} >= set(NAMES)
        except (OSError, AssertionError):
            return False

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def as_(self, uid, gid, groups, *args):
        script = ("import os,sys;os.setgroups(%r);os.setgid(%d);"
                  "os.setuid(%d);os.execv(sys.argv[1],sys.argv[1:])"
                  % (groups, gid, uid))
        ctl = os.path.join(self.i.dir, "myelinctl")
        if not os.path.exists(ctl):
            subprocess.run(["cp", os.path.join(BUILD, "myelinctl",
                                               "myelinctl"), ctl], check=True)
        return subprocess.run(
            ["python3", "-c", script, ctl, "-s", self.i.api] + list(args),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=60, cwd="/")

    def setUp(self):
        probe = self.as_(12345, 12345, [], "version")
        if probe.returncode != 0:
            self.skipTest("this checkout can't be reached by other users")

    def test_a_user(self):
        r = self.as_(12345, 12345, [], "run", "--", "echo", "hi")
        self.assertEqual((r.returncode, r.stdout), (0, b"hi\n"), r.stderr)

    def test_a_group_with_another_preset(self):
        r = self.as_(999, 999, [23456], "whoami", "--json")
        self.assertEqual(json.loads(r.stdout)["preset"], "readonly")
        r = self.as_(999, 999, [23456], "run", "--", "echo", "hi")
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"readonly", r.stderr)
        r = self.as_(999, 999, [23456], "tools", "--json")
        self.assertEqual({t["effect"] for t in
                          json.loads(r.stdout)["tools"]}, {"read"})

    def test_a_stranger(self):
        r = self.as_(777, 777, [], "run", "--", "id")
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"uid:777", r.stderr)

    def test_root_is_no_principal_here(self):
        status, body = self.i.get("/v1/whoami")
        self.assertEqual((status, body["error"]["code"]), (403, "forbidden"))

    def test_others_things_do_not_exist(self):
        r = self.as_(12345, 12345, [], "call", "bash", '{"command":"true"}')
        call = json.loads(r.stdout)["call"]
        r = self.as_(999, 999, [23456], "call", "show", call)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn(b"of yours", r.stderr)
        r = self.as_(999, 999, [23456], "calls", "--json")
        self.assertEqual(json.loads(r.stdout)["calls"], [])


if __name__ == "__main__":
    unittest.main()
