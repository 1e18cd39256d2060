"""Keys: who makes and ends them, who approves for their owners, what the
configuration says of them, and apid alone with a policyd that is played.
"""
import hashlib
import http.client
import json
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import unittest

from apid_alone import Fake
from approvals import As, ASKS
from harness import BUILD, MYELIND, wait_for
from keys import ID, Tcp, case, free_port
from mcp import MODERN, meta


class Managing(Tcp):
    def test_names_lines_and_rights(self):
        status, body = self.i.request("POST", "/v1/keys", {"name": "nobody"},
                                      operator=True)
        self.assertEqual((status, body["error"]["code"]), (409, "conflict"))
        self.assertIn('principal key "nobody" {', body["error"]["message"])
        key = self.add("ci")
        status, body = self.i.request("POST", "/v1/keys", {"name": "ci"},
                                      operator=True)
        self.assertEqual(status, 409)
        self.assertIn(key["key"], body["error"]["message"])
        for bad in ({}, {"name": 1}, {"name": "A"}, {"name": ""},
                    {"name": "x" * 64}, {"name": "ci", "expires_s": "1"},
                    {"name": "ci", "expires_s": 0},
                    {"name": "ci", "expires_s": -1},
                    {"name": "other", "expires_s": 315360001},
                    {"name": "other", "token": "x"}, []):
            with case(bad):
                self.assertEqual(self.i.request(
                    "POST", "/v1/keys", bad, operator=True)[0], 400)
        self.assertEqual(self.i.request(
            "DELETE", "/v1/keys/k-" + ID, operator=True)[0], 404)
        self.assertEqual(self.i.request(
            "POST", "/v1/keys/k-%s/rotate" % ID, operator=True)[0], 404)
        # agents have no such routes, whoever they are
        self.assertEqual(self.i.get("/v1/keys")[0], 404)
        self.assertEqual(self.ask("GET", "/v1/keys", key["token"])[0], 404)

    def test_the_right_manage(self):
        code = """
import http.client, json, socket, sys
class C(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])
for method, path, body in (("GET", "/v1/keys", None),
                           ("POST", "/v1/keys", '{"name":"ci"}'),
                           ("DELETE", "/v1/keys/" + sys.argv[2], None),
                           ("POST", "/v1/keys/%s/rotate" % sys.argv[2],
                            "{}")):
    c = C("localhost")
    c.request(method, path, body, {"Content-Type": "application/json"})
    r = c.getresponse()
    print(r.status, json.loads(r.read())["error"]["message"])
"""
        key = self.add("ci")
        os.chmod(self.i.operator, 0o666)
        out = subprocess.run(
            ["setpriv", "--reuid", "12345", "--clear-groups", "python3", "-c",
             code, self.i.operator, key["key"]], stdout=subprocess.PIPE,
            timeout=300).stdout.decode().splitlines()
        self.assertEqual(len(out), 4, out)
        for line in out:
            self.assertTrue(line.startswith("403 "), line)
            self.assertIn('"manage"', line)
        self.assertEqual(self.ask("GET", "/v1/whoami", key["token"])[0], 200)

    def test_shown_once_and_kept_as_a_hash(self):
        key = self.add("ci")
        status, listed = self.i.get("/v1/keys", operator=True)
        row = [k for k in listed["keys"] if k["key"] == key["key"]][0]
        self.assertEqual(
            (row["name"], row["state"], row["principal"], row["expires"],
             row["last_used"]), ("ci", "active", "key:ci", None, None))
        self.assertNotIn("token", row)
        self.ask("GET", "/v1/whoami", key["token"])
        status, listed = self.i.get("/v1/keys", operator=True)
        row = [k for k in listed["keys"] if k["key"] == key["key"]][0]
        self.assertIsNotNone(row["last_used"])
        copy = os.path.join(self.i.dir, "copy")
        # as it is at one moment
        policyd = self.i.pid("policyd")
        os.kill(policyd, signal.SIGSTOP)
        try:
            shutil.copytree(os.path.join(self.i.state, "policy"), copy)
        finally:
            os.kill(policyd, signal.SIGCONT)
        db = sqlite3.connect(os.path.join(copy, "state.db"))
        rows = db.execute("SELECT hash FROM keys WHERE id = ?",
                          (key["key"],)).fetchall()
        db.close()
        self.assertEqual(rows, [(hashlib.sha256(
            key["token"].encode()).digest(),)])
        shutil.rmtree(copy)
        added = [r for r in self.audit("key.added")
                 if r["key"] == key["key"]]
        self.assertEqual(len(added), 1)
        self.assertEqual(added[0]["operator"], "uid:0")

    def test_rotating(self):
        key = self.add("ci")
        session = self.ask("POST", "/v1/sessions", key["token"], {})[1]
        status, new = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {"overlap_s": 5},
            operator=True)
        self.assertEqual(status, 201, new)
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + new["key"],
                        operator=True)
        self.assertNotEqual(new["key"], key["key"])
        status, body = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {}, operator=True)
        self.assertEqual(status, 409, body)
        self.assertIn(new["key"], body["error"]["message"])
        # both, and then the new one alone; it is the same principal
        for token in (key["token"], new["token"]):
            self.assertEqual(self.ask(
                "GET", "/v1/sessions/" + session["session"], token)[0], 200)
        wait_for(lambda: self.ask("GET", "/v1/whoami",
                                  key["token"])[0] == 401, 60)
        self.assertEqual(self.ask(
            "GET", "/v1/sessions/" + session["session"], new["token"])[1]
            ["state"], "live")
        status, body = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {}, operator=True)
        self.assertEqual(status, 409, body)
        # at once
        status, third = self.i.request(
            "POST", "/v1/keys/%s/rotate" % new["key"], operator=True)
        self.assertEqual(status, 201, third)
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + third["key"],
                        operator=True)
        self.assertEqual(self.ask("GET", "/v1/whoami", new["token"])[0], 401)
        self.assertEqual(self.ask(
            "GET", "/v1/sessions/" + session["session"], third["token"])[0],
            200)
        rotated = self.audit("key.rotated")
        self.assertIn((third["key"], new["key"]),
                      [(r["key"], r["replaces"]) for r in rotated])

    def test_command_line(self):
        out = self.i.ctl("keys", "add", "ci", "--expires", "1h")
        token = out.stdout.decode().strip()
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertRegex(token, "^myelin_[0-9A-Za-z]{49}$")
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 200)
        out = self.i.ctl("keys").stdout.decode()
        self.assertIn("ci", out)
        self.assertNotIn(token, out)
        out = self.i.ctl("keys", "rotate", "ci", "--json")
        again = json.loads(out.stdout)
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 401)
        self.assertEqual(self.ask("GET", "/v1/whoami",
                                  again["token"])[0], 200)
        out = self.i.ctl("keys", "revoke", "ci")
        self.assertEqual((out.returncode, out.stdout), (0, b""))
        self.assertEqual(self.ask("GET", "/v1/whoami",
                                  again["token"])[0], 401)
        for args in (("revoke", "ci"), ("add", "nobody"),
                     ("rotate", "k-" + ID)):
            out = self.i.ctl("keys", *args)
            self.assertEqual(out.returncode, 1, args)
            self.assertNotEqual(out.stderr, b"")
        for args in (("add",), ("add", "a/b"), ("x", "y"), ("add", "a", "b")):
            self.assertEqual(self.i.ctl("keys", *args).returncode, 2, args)

    def test_restart_and_reload(self):
        """Keys and numbers of names are kept; a line that goes takes its
        key's use."""
        key = self.add("ci")
        other = self.add("other")
        call = self.ask("POST", "/v1/calls", key["token"], {
            "tool": "bash", "args": {"command": "true"},
            "wait_ms": 50000})[1]
        os.kill(self.i.pid("policyd"), 9)

        def again():
            try:
                return self.ask("GET", "/v1/whoami", key["token"])[0] == 200
            except (OSError, http.client.HTTPException):
                return False    # a connection of before
        wait_for(again, 60)
        self.i.wait_up()
        self.assertIn(call["call"], [c["call"] for c in self.ask(
            "GET", "/v1/calls", key["token"])[1]["calls"]])
        self.assertNotIn(call["call"], [c["call"] for c in self.ask(
            "GET", "/v1/calls", other["token"])[1]["calls"]])
        with open(self.i.conf) as f:
            text = f.read()
        self.i.configure(text.replace('principal key "other"',
                                      'principal key "another"'))
        self.i.process.send_signal(1)
        got = wait_for(lambda: (lambda a: a[0] == 403 and a)(self.ask(
            "GET", "/v1/whoami", other["token"])), 60)
        self.assertIn("you are key:other", got[1]["error"]["message"])
        wait_for(lambda: "no_line" in {
            r["why"] for r in self.audit("key.refused")}, 60)
        out = self.i.ctl("keys").stdout.decode()
        self.assertIn("other: no principal line", out)
        self.i.configure(text)
        self.i.process.send_signal(1)
        wait_for(lambda: self.ask("GET", "/v1/whoami",
                                  other["token"])[0] == 200, 60)

    def test_workspaces_have_an_owner(self):
        """A key has no uid: what it writes belongs to its line's owner."""
        owned = self.add("owned")["token"]
        root = "/srv/myelin-keys-%d" % os.getpid()
        os.mkdir(root)
        # placeholders in it may go by themselves meanwhile
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        nobody = pwd.getpwnam("nobody")
        os.chown(root, nobody.pw_uid, nobody.pw_gid)
        status, result, _ = self.ask("POST", "/v1/calls", owned, {
            "tool": "bash", "args": {"command": "echo x > f"},
            "workspace": root, "wait_ms": 50000})
        self.assertEqual((status, result.get("exit_code")), (200, 0), result)
        st = os.stat(os.path.join(root, "f"))
        self.assertEqual((st.st_uid, st.st_gid),
                         (nobody.pw_uid, nobody.pw_gid))
        status, body, _ = self.ask("POST", "/v1/calls", self.add("ci")[
            "token"], {"tool": "bash", "args": {"command": "true"},
                       "workspace": root})
        self.assertEqual(status, 403, body)
        status, body, _ = self.ask("POST", "/v1/calls", owned, {
            "tool": "bash", "args": {"command": "true"}, "workspace": root,
            "owner": {"uid": 12345, "gid": 12345}})
        self.assertEqual(status, 403, body)


class Approved(Tcp):
    """Who owns a key has asked for what comes with it."""

    extra = "operator user nobody may approve\n"

    def decide(self, uid, approval, digest):
        c = self.i.connection(True)
        with As(uid):
            c.connect()
        try:
            c.request("POST", "/v1/approvals/" + approval, json.dumps(
                {"decision": "allow_once", "digest": digest}),
                {"Content-Type": "application/json"})
            r = c.getresponse()
            return r.status, json.loads(r.read())
        finally:
            c.close()

    def test_not_by_its_owner(self):
        os.chmod(self.i.operator, 0o666)
        nobody = pwd.getpwnam("nobody").pw_uid
        for name, status in (("ci", 200), ("owned", 403)):
            token = self.add(name)["token"]
            code, call, _ = self.ask("POST", "/v1/calls", token, {
                "tool": "bash", "args": {"command": ASKS}, "wait_ms": 0})
            self.assertEqual(code, 202, call)
            approval = wait_for(lambda: self.ask(
                "GET", "/v1/calls/" + call["call"], token)[1].get("approval"),
                60)
            _, shown = self.i.get("/v1/approvals/" + approval, operator=True)
            self.assertEqual(shown["principal"], "key:" + name)
            code, body = self.decide(nobody, approval, shown["digest"])
            self.assertEqual(code, status, body)
            if status == 403:
                self.assertIn("self-approval", body["error"]["message"])
                code, body = self.decide(0, approval, shown["digest"])
                self.assertEqual(code, 200, body)


class Played(Tcp):
    """apid alone: what policyd would not say, or not at that time."""

    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.fake = Fake(tcp=cls.port)

    @classmethod
    def tearDownClass(cls):
        cls.fake.stop()

    def test_errors_hide_their_causes(self):
        """Guarantee C9, over TCP: a 500 says no more than its code."""
        status, body, _ = self.ask("POST", "/v1/sessions", "good",
                                   {"preset": "broken"})
        self.assertEqual(status, 500)
        self.assertEqual(set(body["error"]), {"code", "request_id"})
        self.assertEqual(body["error"]["code"], "internal")
        status, answer, _ = self.ask(
            "POST", "/mcp", "good",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params":
             {"_meta": meta()}}, {"MCP-Protocol-Version": MODERN,
                                  "Mcp-Method": "tools/list",
                                  "Myelin-Preset": "broken"})
        self.assertNotIn("secret", json.dumps(answer))

    def test_a_late_answer_is_nobodys(self):
        """One to a request before, on the same connection, lets nobody in."""
        c = self.connect()
        self.muted(*self.ask("GET", "/v1/whoami", "late", conn=c))
        self.muted(*self.ask("GET", "/v1/whoami", "wrong", conn=c))
        self.assertEqual(self.ask("GET", "/v1/tools", "good", conn=c)[0],
                         200)
        c.close()

    def test_policyd_away(self):
        self.fake.command("drop")
        for token in ("good", "wrong", None):
            status, body, headers = self.ask("GET", "/v1/whoami", token)
            self.assertEqual((status, body["error"]["code"]),
                             (503, "unavailable"))
            self.assertEqual(headers["Retry-After"], "1")
        self.fake.command("plumb")
        self.assertEqual(self.ask("GET", "/v1/tools", "good")[0], 200)
        self.muted(*self.ask("GET", "/v1/limits", "wrong"))


class Configured(unittest.TestCase):
    """Guarantee C8: what a network reaches needs authentication."""

    PLAIN = 'listen api "/run/x/api.sock"\nprincipal user root ' \
        '{ preset standard }\n'

    def check(self, line):
        path = os.path.join(BUILD, "tests", "c8-%d.conf" % os.getpid())
        with open(path, "w") as f:
            f.write(self.PLAIN + line + "\n")
        os.chmod(path, 0o600)
        try:
            p = subprocess.run([MYELIND, "-n", "-f", path, "-L", BUILD],
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=300)
        finally:
            os.unlink(path)
        return p.returncode, p.stdout.decode()

    def test_what_is_refused(self):
        needs = 'TCP needs "authentication required"'
        clear = "pass in the clear"
        rows = (
            ('listen api tcp "127.0.0.1" port 8080 { }', needs),
            ('listen api tcp "127.0.0.1" port 8080 { cleartext }', needs),
            ('listen api tcp "0.0.0.0" port 8080 { cleartext }', needs),
            ('listen api tcp "0.0.0.0" port 8080 { authentication required }',
             clear),
            ('listen api tcp "192.0.2.1" port 80 { authentication required }',
             clear),
            ('listen api tcp "::" port 80 { authentication required }', clear),
            ('listen api tcp "2001:db8::1" port 80 '
             '{ authentication required }', clear),
            ('listen api tcp "::ffff:127.0.0.1" port 80 '
             '{ authentication required }', "numeric"),
            ('listen api tcp "localhost" port 80 '
             '{ authentication required }', "numeric"),
            ('listen api tcp "127.0.0.1" port 0 { authentication required }',
             "port"),
            ('listen api tcp "127.0.0.1" port 65536 '
             '{ authentication required }', "port"),
            ('listen operator tcp "127.0.0.1" port 80 '
             '{ authentication required }', "operators are users"),
            ('listen operator "/run/x/op.sock" require token',
             "keys have no rights"),
            ('listen api "127.0.0.1:80"', "tcp"),
            ('principal key "ci" { preset standard; workspace "/srv/*" }',
             "owner NAME"),
            ('principal key "ci" { preset standard; owner any }', "owner any"),
            ('principal key "C I" { preset standard }', "a name is of"),
        )
        for line, words in rows:
            with case(line):
                status, out = self.check(line)
                self.assertNotEqual(status, 0)
                self.assertIn(words, out)

    def test_what_is_taken(self):
        for line in (
                'listen api tcp "127.0.0.1" port 8080 '
                '{ authentication required }',
                'listen api tcp "::1" port 8080 { authentication required; '
                'host "myelin.example.org", "m" }',
                'listen api tcp "0.0.0.0" port 8080 { cleartext\n'
                'authentication required }',
                'principal key "ci" { preset standard; workspace "/srv/*"; '
                'owner "nobody" }'):
            with case(line):
                status, out = self.check(line)
                self.assertEqual(status, 0, out)


if __name__ == "__main__":
    unittest.main()
