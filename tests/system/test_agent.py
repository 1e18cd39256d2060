"""contrib/examples/agent.py does a real small task, by what a scripted model
says: the script reads what came of each step and decides by it."""
import http.server
import json
import os
import subprocess
import sys
import threading
import unittest

from harness import TOP, Instance, Workspace

AGENT = os.path.join(TOP, "contrib", "examples", "agent.py")


def tool_call(ident, name, arguments):
    return {"role": "assistant", "content": None, "tool_calls": [{
        "id": ident, "type": "function", "function": {
            "name": name, "arguments": arguments if isinstance(
                arguments, str) else json.dumps(arguments)}}]}


def words(text):
    return {"role": "assistant", "content": text}


class Model(http.server.ThreadingHTTPServer):
    """An endpoint on the loopback that answers by a function."""

    def __init__(self, script):
        self.script = script
        self.seen = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/v1" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(
            self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers["Authorization"],
                                 body))
        message = self.server.script(body["messages"], body["tools"])
        text = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def fix_the_test(messages, _):
    """Runs the test, reads the program, mends it, runs the test again."""
    last = messages[-1]
    if last["role"] == "user":
        return tool_call("1", "bash", {"command": "python3 test.py"})
    text, ident = last["content"], last["tool_call_id"]
    if ident == "1":
        assert "AssertionError" in text and "[exit status 1]" in text, text
        return tool_call("2", "bash", {"command": "cat add.py"})
    if ident == "2":
        assert "a - b" in text, text
        return tool_call("3", "python", {"code":
                                         "p = 'add.py'; s = open(p).read()\n"
                                         "open(p, 'w').write(s.replace("
                                         "'a - b', 'a + b  # mended'))"})
    if ident == "3":
        return tool_call("4", "bash", {"command": "python3 test.py && "
                                       "echo all is well"})
    assert text == "all is well\n", text
    return words("It subtracted; now it adds.")


def never_ends(messages, _):
    return tool_call(str(len(messages)), "bash", {"command": "true"})


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra="preset \"few\" { cap mutate-irreversible; "
                         "calls-session 3 }\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def run_agent(self, script, *args, key="sk-test"):
        with Model(script) as model:
            p = subprocess.run(
                [sys.executable, AGENT, "-s", self.i.api, "--url", model.url,
                 "--model", "scripted"] + list(args),
                env=dict(os.environ, OPENAI_API_KEY=key),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=60)
            self.assertFalse([
                s for s in self.i.get("/v1/sessions")[1]["sessions"]
                if s["state"] == "live"])
            return p.returncode, p.stdout.decode(), p.stderr.decode(), \
                model.seen

    def test_a_real_task(self):
        w = Workspace()
        try:
            w.write("add.py", "def add(a, b):\n    return a - b\n")
            w.write("test.py", "from add import add\nassert add(2, 3) == 5\n")
            status, out, err, seen = self.run_agent(
                fix_the_test, "-w", w.path, "make the test pass")
            self.assertEqual((status, out), (
                0, "It subtracted; now it adds.\n"), err)
            with open(os.path.join(w.path, "add.py")) as f:
                self.assertIn("a + b", f.read())
            self.assertEqual(os.stat(os.path.join(w.path, "add.py")).st_uid,
                             w.uid)
        finally:
            w.close()
        path, key, body = seen[0]
        self.assertEqual((path, key), ("/v1/chat/completions",
                                       "Bearer sk-test"))
        names = [t["function"]["name"] for t in body["tools"]]
        self.assertIn("bash", names)
        self.assertEqual(len(seen), 5)

    def test_the_key_stays_outside(self):
        def look(messages, _):
            if messages[-1]["role"] == "user":
                return tool_call("1", "bash", {
                    "command": "env; cat /proc/*/environ | tr '\\0' '\\n'"})
            assert "sk-secret" not in messages[-1]["content"]
            return words("nothing")
        status, out, err, _ = self.run_agent(look, "look", key="sk-secret")
        self.assertEqual((status, out), (0, "nothing\n"), err)

    def test_the_sessions_budget_ends_it(self):
        status, out, err, seen = self.run_agent(
            never_ends, "--preset", "few", "go on")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("used up", err)
        self.assertEqual(len(seen), 4)
        status, _, err, seen = self.run_agent(never_ends, "--calls", "1",
                                              "go on")
        self.assertEqual((status, len(seen)), (1, 2), err)

    def test_mistakes_go_back_to_the_model(self):
        rows = iter(((("bash", "{"), "not JSON"),
                     (("bash", "[]"), "not an object"),
                     (("nothing", {}), "Unknown tool"),
                     (("n\u00e4me", {}), "error"),
                     (("bash", {"comand": "x"}), "invalid_arguments"),
                     (("bash", {"command": "exit 7"}), "[exit status 7]")))
        wanted = []

        def wrong(messages, _):
            if wanted:
                assert wanted[-1] in messages[-1]["content"], messages[-1]
            row = next(rows, None)
            if row is None:
                return words("done")
            wanted.append(row[1])
            return tool_call("x", *row[0])
        status, out, err, seen = self.run_agent(wrong, "-q", "try")
        self.assertEqual((status, out, err), (0, "done\n", ""))
        self.assertEqual(len(seen), 7)

    def test_no_service_and_no_model(self):
        for args in (["-s", "/nothing"], ["--url", "http://127.0.0.1:1"],
                     ["--preset", "nothing-like-it"],
                     ["--url", "file:///etc"]):
            status, out, err, _ = self.run_agent(never_ends, *args, "x")
            self.assertEqual((status, out), (1, ""), args)
            self.assertTrue(err.startswith("agent: "), err)


if __name__ == "__main__":
    unittest.main()
