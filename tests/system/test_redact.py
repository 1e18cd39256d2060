"""Secrets in what programs print: gone from results, events, logs and audit.

Every sample is put together here at run time, so that no scanner takes this
file for a leak.
"""
import base64
import json
import os
import random
import signal
import subprocess
import tempfile
import unittest
import urllib.parse

from harness import CONFIG, CTL, Instance, wait_for

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def some(n, letters=LETTERS, seed=[1]):
    seed[0] += 1
    r = random.Random(seed[0])
    return "".join(r.choice(letters) for _ in range(n - 1)) + "7"


def key():
    return "sk-" + "ant-api03-" + some(93) + "AA"


KINDS = {
    "anthropic": key,
    "openai": lambda: "sk-" + "proj-" + some(58) + "T3Blbk" + "FJ" + some(58),
    "github": lambda: "gh" + "p_" + some(36),
    "aws": lambda: "AK" + "IA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "google": lambda: "AI" + "za" + some(35),
    "slack": lambda: "xo" + "xb-" + some(12, "0123456789") + "-" + some(24),
    "jwt": lambda: "ey" + "J" + some(20) + ".ey" + "J" + some(40) + "." +
    some(43),
    "private-key": lambda: "-----BEGIN " + "RSA PRIVATE KEY-----\n" +
    some(64) + "\n" + some(64) + "\n-----END RSA PRIVATE " + "KEY-----",
}


def text_of(events, stream):
    return "".join(d["data"] for _, e, d in events
                   if e == "call.output" and d["stream"] == stream)


class Redact(unittest.TestCase):
    def setUp(self):
        self.i = Instance(CONFIG)
        self.addCleanup(self.i.stop)

    def run_python(self, text, **more):
        return self.i.call("python", {"code": text}, **more)

    def test_kinds_in_results_and_events(self):
        secrets = {kind: make() for kind, make in KINDS.items()}
        code = "import sys\nfor s in %r:\n print(s)\n" \
            " print('err', s, file=sys.stderr)\n" % list(secrets.values())
        r = self.run_python(code)
        want = "".join("[redacted:%s]\n" % k for k in secrets)
        self.assertEqual(r["stdout"], want)
        self.assertEqual(r["redacted"], {"stdout": len(secrets),
                                         "stderr": len(secrets)})
        # the program's own bytes, whatever became of them
        self.assertEqual(r["bytes"]["stdout"],
                         sum(len(s) + 1 for s in secrets.values()))
        events = list(self.i.events("/v1/calls/%s/events" % r["call"]))
        self.assertEqual(text_of(events, "stdout"), want)
        for s in secrets.values():
            self.assertNotIn(s, json.dumps(events))
            self.assertNotIn(s, r["stderr"])

    def test_two_writes(self):
        for cut in (1, 3, 8, 40):
            k = key()
            r = self.run_python(
                "import os, time\nos.write(1, %r)\ntime.sleep(0.1)\n"
                "os.write(1, %r)\n" % (("x " + k[:cut]).encode(),
                                       (k[cut:] + " y").encode()))
            self.assertNotIn(k[cut:], r["stdout"])
            self.assertTrue(r["stdout"].endswith("[redacted:anthropic] y"),
                            r["stdout"])
            if cut >= 8:
                self.assertEqual(r["stdout"], "x [redacted:anthropic] y")

    def test_prompt_does_not_wait(self):
        """What can't be a part of a secret is there at once."""
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "python", "args": {"code":
                "import os, time\nos.write(1, b'Password: ')\n"
                "time.sleep(300)\n"}})
        self.assertEqual(status, 202)
        for _, event, data in self.i.events("/v1/calls/%s/events" %
                                            body["call"]):
            if event == "call.output":
                self.assertEqual(data["data"], "Password: ")
                break
        status, now = self.i.get("/v1/calls/" + body["call"])
        self.assertEqual(now["state"], "running")
        # a beginning that idles goes out, though not for ever
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "python", "args": {"code":
                "import os, time\nos.write(1, b'about s')\n"
                "time.sleep(300)\n"}})
        got = ""
        for _, event, data in self.i.events("/v1/calls/%s/events" %
                                            body["call"]):
            if event == "call.output":
                got += data["data"]
                if got == "about s":
                    break
        self.assertEqual(got, "about s")
        self.assertEqual(self.i.get("/v1/calls/" + body["call"])[1]["state"],
                         "running")

    def test_source_text_is_left_alone(self):
        text = """class Login {
  password: string;
  constructor(private token: Token, secret = process.env.SECRET) {}
  check(password) { return hash(password) === this.password; }
}
commit 3f786850e387550fdab836ed7e6dc881de23001b
id 123e4567-e89b-12d3-a456-426614174000
"""
        r = self.run_python("print(%r, end='')" % text)
        self.assertEqual(r["stdout"], text)
        self.assertEqual(r["redacted"], {"stdout": 0, "stderr": 0})

    def test_arguments_and_errors(self):
        """What a refusal repeats of a request holds no secret either."""
        k = KINDS["github"]()
        for tool, args in (("exec", {"argv": [k]}),
                           ("bash", {"command": 1, k: 2}),
                           ("exec", {"argv": ["/no/" + k]})):
            status, body = self.i.request("POST", "/v1/calls", {
                "tool": tool, "args": args, "wait_ms": 50000})
            self.assertNotIn(k, json.dumps(body))
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true"}, k: 1})
        self.assertEqual(status, 400)
        self.assertNotIn(k, json.dumps(body))
        self.assertNotIn(k, self.i.log())
        status, page = self.i.get("/v1/audit?limit=500", operator=True)
        self.assertNotIn(k, json.dumps(page))

    def test_log_wiring(self):
        """The real log, as verbose as it gets: no key, whole or cut."""
        k = KINDS["github"]()
        self.i.process.terminate()
        self.i.process.wait(timeout=60)
        self.i.start(args=("-v",))
        self.i.request("GET", "/v1/" + k)
        self.i.bash("echo " + k)
        self.i.request("POST", "/v1/calls", {"tool": k, "args": {}})
        # a process that has no scanner says what it was given, too
        self.i.configure(CONFIG + 'principal user "%s" { preset standard }\n'
                         % k)
        self.i.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "***" in self.i.log(), 60)
        self.assertNotIn(k, self.i.log())
        self.assertNotIn(k[4:], self.i.log())

    def test_strip(self):
        code = ("import sys\n"
                "sys.stdout.write('\\x1b[31mred\\x1b[0m\\n')\n"
                "for n in range(101): sys.stdout.write('\\r%d%%' % n)\n"
                "sys.stdout.write('\\n\\x1b]0;title\\x07end\\r\\n')\n")
        r = self.run_python(code, strip=True)
        self.assertEqual(r["stdout"], "red\n100%\nend\n")
        plain = self.run_python(code)
        self.assertIn("\x1b[31m", plain["stdout"])
        self.assertEqual(plain["bytes"], r["bytes"])
        # a key whose letters are coloured is one all the same
        k = KINDS["github"]()
        r = self.run_python("print(%r)" % "".join(
            "\x1b[1m%s\x1b[0m" % c for c in k), strip=True)
        self.assertEqual(r["stdout"], "[redacted:github]\n")
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true"}, "strip": 1})
        self.assertEqual(status, 400)

    def test_strip_of_a_long_line(self):
        r = self.run_python("import os\nb = b'x\\r' * (512 * 1024)\n"
                            "while b: b = b[os.write(1, b):]\n",
                            strip=True)
        self.assertEqual(r["stdout"], "x")
        self.assertEqual(r["bytes"]["stdout"], 1024 * 1024)
        self.assertLess(r["duration_ms"], 45000)

    def test_partial_output_at_a_timeout(self):
        r = self.run_python("import time\nprint('so far', flush=True)\n"
                            "time.sleep(300)\n", timeout_ms=5000)
        self.assertEqual(r["reason"], "timed_out")
        self.assertEqual(r["stdout"], "so far\n")


class Registered(unittest.TestCase):
    """Values that operators registered."""

    def setUp(self):
        self.i = Instance(CONFIG)
        self.addCleanup(self.i.stop)

    def add(self, name, value):
        return self.i.request("POST", "/v1/secrets",
                              {"name": name, "value": value}, operator=True)

    def listed(self):
        status, body = self.i.get("/v1/secrets", operator=True)
        self.assertEqual(status, 200)
        return body

    def test_forms(self):
        value = "plain words & \"such\"/+~1"
        status, body = self.add("words", value)
        self.assertEqual(status, 201)
        self.assertEqual(body["length"], len(value))
        raw = value.encode()
        forms = [value, json.dumps(value), urllib.parse.quote(value, safe=""),
                 urllib.parse.quote_plus(value),
                 urllib.parse.quote(value, safe="").replace("%2F", "%2f")
                 .replace("%2B", "%2b")]
        for before in (b"", b"a", b"ab"):
            forms.append(base64.b64encode(before + raw).decode())
            forms.append(base64.urlsafe_b64encode(before + raw).decode())
        for form in forms:
            r = self.i.call("python", {"code": "print(%r)" %
                                       ("<" + form + ">")})
            self.assertEqual(r["redacted"]["stdout"], 1, form)
            self.assertIn("[redacted:registered]", r["stdout"])
            self.assertNotIn(form[5:-5], r["stdout"])
        # in two writes, in events, in the record, in errors, in the log
        r = self.i.call("python", {"code":
                                   "import os, time\nos.write(1, %r)\n"
                                   "time.sleep(0.1)\nos.write(1, %r)\n"
                                   % (raw[:12], raw[12:])})
        self.assertEqual(r["stdout"], "[redacted:registered]")
        events = list(self.i.events("/v1/calls/%s/events" % r["call"]))
        self.assertNotIn(value, json.dumps(events))
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true"}, value: 1})
        self.assertNotIn(value, json.dumps(body))
        self.assertNotIn(value, self.i.log())

    def test_never_shown_again(self):
        value = "a value that stays here"
        self.assertEqual(self.add("one", value)[0], 201)
        body = self.listed()
        self.assertEqual([s["name"] for s in body["secrets"]], ["one"])
        self.assertEqual(body["secrets"][0]["length"], len(value))
        self.assertEqual(body["secrets"][0]["kept"], "memory")
        self.assertEqual(body["store"], "no credential store here")
        status = self.i.status()["secrets"]
        self.assertEqual(status, {"count": 1, "needs_reentry": 0,
                                  "store": "no credential store here"})
        audit = json.dumps(self.i.get("/v1/audit?limit=500",
                                      operator=True)[1])
        self.assertIn("secret.added", audit)
        # a name that a denial repeats is in the audit log, less the value
        self.i.request("POST", "/v1/sessions", {
            "workspace": "/srv/" + value})
        self.i.request("POST", "/v1/calls", {"tool": "exec", "args": {
            "argv": [value], value: 1}, "wait_ms": 50000})
        audit = json.dumps(self.i.get("/v1/audit?limit=500",
                                      operator=True)[1])
        for text in (json.dumps(body), audit, self.i.log()):
            self.assertNotIn(value, text)
        for base, _, names in os.walk(self.i.state):
            for name in names:
                with open(os.path.join(base, name), "rb") as f:
                    self.assertNotIn(value.encode(), f.read())

    def test_replaced_and_deleted(self):
        self.add("x", "the first value")
        self.assertEqual(self.add("x", "the second value")[0], 200)
        r = self.i.bash("echo the first value, the second value")
        self.assertEqual(r["stdout"],
                         "the first value, [redacted:registered]\n")
        status, _ = self.i.request("DELETE", "/v1/secrets/x", operator=True)
        self.assertEqual(status, 200)
        self.assertEqual(self.i.bash("echo the second value")["stdout"],
                         "the second value\n")
        status, body = self.i.request("DELETE", "/v1/secrets/x",
                                      operator=True)
        self.assertEqual((status, body["error"]["code"]),
                         (404, "not_found"))

    def test_what_is_refused(self):
        for name, value, word in (("x", "short", "8"), ("", "long enough", ""),
                                  ("a/b", "long enough", "name"),
                                  ("x", "v" * 4097, "4096"),
                                  ("x", "[redacted:registered]", "stands"),
                                  ("x", "**********", "stands"),
                                  ("n" * 64, "long enough", "63")):
            status, body = self.add(name, value)
            self.assertEqual(status, 400, (name, value))
            self.assertIn(word, body["error"]["message"])
            self.assertNotIn(value, body["error"]["message"])
        for body in ({"name": "x"}, {"value": "long enough"},
                     {"name": "x", "value": 12345678},
                     {"name": "x", "value": "long enough", "more": 1}):
            status, _ = self.i.request("POST", "/v1/secrets", body,
                                       operator=True)
            self.assertEqual(status, 400, body)
        self.assertEqual(self.listed()["secrets"], [])
        # it is the operators' alone
        status, _ = self.i.request("POST", "/v1/secrets", {
            "name": "x", "value": "long enough"})
        self.assertEqual(status, 404)

    def test_as_many_as_there_may_be(self):
        for n in range(256):
            self.assertEqual(self.add("s%d" % n, "value number %03d" % n)[0],
                             201)
        status, body = self.add("more", "value number 256")
        self.assertEqual((status, body["error"]["code"]), (409, "conflict"))
        r = self.i.bash("echo value number 000, value number 255, "
                        "value number 256")
        self.assertEqual(r["redacted"]["stdout"], 2)
        self.assertIn("value number 256", r["stdout"])

    def test_an_apid_that_is_started_again_knows_them(self):
        self.add("x", "a value to be known")
        pid = self.i.pid("apid")
        os.kill(pid, 9)
        self.i.wait_up()
        self.assertEqual(self.i.bash("echo a value to be known")["stdout"],
                         "[redacted:registered]\n")

    def test_memory_alone_does_not_outlive_policyd(self):
        self.add("x", "a value to be lost")
        os.kill(self.i.pid("policyd"), 9)
        self.i.wait_up()
        wait_for(lambda: self.i.get("/v1/secrets", operator=True)[0] == 200,
                 60)
        self.assertEqual(self.listed()["secrets"], [])

    def test_myelinctl(self):
        def ctl(*args, value=None):
            return subprocess.run(
                [CTL, "-s", self.i.operator, *args], input=value,
                capture_output=True, text=True)
        p = ctl("secrets", "add", "one", value="from standard input\n")
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))
        self.assertEqual(self.i.bash("echo from standard input")["stdout"],
                         "[redacted:registered]\n")
        p = ctl("secrets", "list")
        self.assertIn("one", p.stdout)
        self.assertIn("no credential store here", p.stdout)
        p = ctl("secrets", "add", "one", "on the command line")
        self.assertEqual(p.returncode, 2)
        p = ctl("secrets", "add", "two", value="short\n")
        self.assertEqual(p.returncode, 1)
        self.assertIn("5 bytes", p.stderr)
        self.assertEqual(ctl("secrets", "delete", "one").returncode, 0)
        self.assertEqual(ctl("secrets", "delete", "one").returncode, 1)
        self.assertEqual(ctl("secrets", "delete", "../x").returncode, 2)


class Sealed(unittest.TestCase):
    """With a credential store: values survive, sealed."""

    def credential(self, text):
        d = tempfile.mkdtemp(prefix="cred-")
        self.addCleanup(subprocess.run, ["rm", "-rf", d])
        path = os.path.join(d, "myelin-seal")
        with open(path, "wb") as f:
            f.write(text)
        os.chmod(path, 0o600)
        return d

    def start(self, i, directory):
        prefix = ["env", "CREDENTIALS_DIRECTORY=" + directory] if directory \
            else []
        i.start(prefix=prefix)

    def end(self, i):
        i.process.terminate()
        i.process.wait(timeout=60)
        i.process = None

    def test_survives_sealed(self):
        value = "sealed and kept"
        here = self.credential(os.urandom(32))
        i = Instance(CONFIG, start=False)
        self.addCleanup(i.stop)
        self.start(i, here)
        status, body = i.request("POST", "/v1/secrets", {
            "name": "x", "value": value}, operator=True)
        self.assertEqual((status, body["kept"]), (201, "sealed"))
        self.assertEqual(i.status()["secrets"]["store"], "credential store")
        for base, _, names in os.walk(i.state):
            for name in names:
                path = os.path.join(base, name)
                with open(path, "rb") as f:
                    self.assertNotIn(value.encode(), f.read(), path)
                if name.startswith("state.db"):
                    self.assertEqual(os.stat(path).st_mode & 0o077, 0)
        # policyd alone, then the whole service
        os.kill(i.pid("policyd"), 9)
        i.wait_up()
        self.assertEqual(i.bash("echo " + value)["stdout"],
                         "[redacted:registered]\n")
        self.end(i)
        self.start(i, here)
        self.assertEqual(i.bash("echo " + value)["stdout"],
                         "[redacted:registered]\n")
        # another host's key: kept, and shown to need re-entry
        self.end(i)
        self.start(i, self.credential(os.urandom(32)))
        status, body = i.get("/v1/secrets", operator=True)
        self.assertEqual((body["secrets"][0]["name"],
                          body["secrets"][0]["state"]),
                         ("x", "needs re-entry"))
        self.assertEqual(i.status()["secrets"]["needs_reentry"], 1)
        # no key at all, then the first again: nothing was lost
        self.end(i)
        self.start(i, None)
        status, body = i.get("/v1/secrets", operator=True)
        self.assertEqual(body["secrets"][0]["state"], "needs re-entry")
        self.assertEqual(body["store"], "no credential store here")
        self.end(i)
        self.start(i, here)
        self.assertEqual(i.bash("echo " + value)["stdout"],
                         "[redacted:registered]\n")

    def test_a_key_that_is_too_short_is_none(self):
        i = Instance(CONFIG, start=False)
        self.addCleanup(i.stop)
        self.start(i, self.credential(b"short"))
        self.assertEqual(i.status()["secrets"]["store"],
                         "no credential store here")
        self.assertIn("myelin-seal has 5 bytes", i.log())


if __name__ == "__main__":
    unittest.main()
