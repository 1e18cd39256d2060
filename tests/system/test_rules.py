"""Operators' rules, and what no rule lifts, on calls of a real instance."""
import os
import subprocess
import unittest

from harness import BUILD, CONFIG, MYELIND, Instance, Workspace
from test_reload import reload

RULES = CONFIG + """
allow tool "*"
deny command "git" "push" {
	match "git push -f"; not match "git pull"
}
deny tool "write", "read" path "/home/agent/kept/*", "*.key" {
	match "/home/agent/kept/x"
	match "/home/agent/a.key"
	not match "/home/agent/keptx"
}
deny command "env" "-i"
"""
PUSH = RULES[:RULES.index("deny command")].count("\n") + 1


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(RULES)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def denied(self, r, rule):
        self.assertEqual((r["state"], r["reason"], r["verdict"]),
                         ("failed", "denied_by_policy", "deny"), r)
        self.assertEqual(r["stdout"], "")
        self.assertTrue(r["denials"][0]["rule"].startswith(rule), r)
        self.assertIn("an operator's rule denies it",
                      r["denials"][0]["what"])
        self.assertTrue(r["denials"][0]["next"])

    def test_words_and_wrappers(self):
        rule = 'deny command "git" "push"'
        for command in ("echo ran; git push",
                        "echo ran; git -C /tmp push origin main",
                        "echo ran; bash -c 'git push'",
                        "echo ran; $(echo git) pu\"s\"h",
                        "echo ran; echo git push | sh",
                        "echo ran; false && git push"):
            self.denied(self.i.bash(command), rule)
        self.denied(self.i.call("exec", {
            "argv": ["nice", "git", "push"]}), rule)
        self.denied(self.i.call("python", {
            "code": "import os; os.system('git push')"}), rule)
        for command in ("echo git push", "git --version"):
            self.assertEqual(self.i.bash(command)["state"], "completed")

    def test_an_option_of_a_wrapper(self):
        self.denied(self.i.bash("env -i ls"), 'deny command "env" "-i"')
        self.assertEqual(self.i.bash("env ls")["state"], "completed")

    def test_paths_of_file_tools(self):
        s = self.i.session()
        rule = 'deny tool "write", "read" path'
        for path in ("/home/agent/kept/x", "kept/x", "./a/../kept/x",
                     "a.key"):
            self.denied(self.i.call("write", {"path": path, "content": "x"},
                                    session=s), rule)
        self.denied(self.i.call("read", {
            "path_base64": "a2VwdC94"}, session=s), rule)
        r = self.i.call("write", {"path": "keptx", "content": "x"},
                        session=s)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        neuron = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        status, body = self.i.request(
            "PUT", "/v1/neurons/%s/files//home/agent/kept/x" % neuron, b"x")
        self.assertEqual((status, body["error"]["code"]),
                         (403, "forbidden"), body)

    def test_nothing_lifts_a_hard_deny(self):
        r = self.i.bash("rm -rf /")
        self.assertEqual((r["verdict"], r["class"]), ("deny", "hard:wipe"))


class Own(unittest.TestCase):
    """Myelin's own is guarded whatever the policy."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG + 'allow tool "*"\n'
                         'allow mark opaque, elevated\n')
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def own(self, r):
        self.assertEqual((r["state"], r["reason"], r["verdict"], r["class"]),
                         ("failed", "denied_by_policy", "deny",
                          "hard:self"), r)
        self.assertIn("self", r["marks"])
        self.assertIn("whatever the policy", r["denials"][0]["what"])

    def test_commands(self):
        for command in ("echo x > %s" % self.i.conf,
                        "rm -f %s" % self.i.operator,
                        "rm -rf %s" % self.i.state,
                        "rm -rf %s" % self.i.dir,
                        "cd %s && rm policy/state.db" % self.i.state,
                        "echo x >> /etc/myelin/myelin.conf",
                        "pkill policyd", "systemctl mask myelin.service",
                        "apt-get remove -y myelin",
                        "curl --unix-socket %s http://x/" % self.i.api):
            self.own(self.i.bash(command))

    def test_file_tools_and_uploads(self):
        s = self.i.session(**self.w.fields())
        for path in (self.i.conf, self.i.state + "/policy/audit.jsonl",
                     "/etc/myelin/myelin.conf", "/run/myelin/api.sock",
                     os.path.relpath(self.i.conf, self.w.path)):
            self.own(self.i.call("read", {"path": path}, session=s))
            self.own(self.i.call("write", {"path": path, "content": "x"},
                                 session=s))
        neuron = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        for path in (self.i.conf, "/etc/myelin/myelin.conf"):
            for method in ("PUT", "GET"):
                status, body = self.i.request(
                    method, "/v1/neurons/%s/files/%s" % (neuron, path),
                    b"x" if method == "PUT" else None)
                self.assertEqual(status, 403, (method, path, body))

    def test_memory_names(self):
        for name in ("../../etc/myelin/myelin.conf",
                     "/var/lib/myelin/policy/state.db"):
            r = self.i.call("memory_store", {"name": name, "content": "x"})
            self.assertIn((r["state"], r["reason"]), (
                ("failed", "invalid_arguments"), ("completed", None)), r)
            self.assertNotEqual(r["exit_code"], 0, r)

    def test_what_is_not_ours(self):
        for command in ("ls /etc/myelin || true", "echo systemctl stop "
                        "myelin", "pgrep myelind || true"):
            self.assertEqual(self.i.bash(command)["state"], "completed")


class Files(unittest.TestCase):
    """A file whose tests fail is not taken, and its line is named."""

    def setUp(self):
        self.i = Instance(start=False)
        self.addCleanup(self.i.stop)

    def check(self, text, *options):
        self.i.configure(CONFIG + text)
        return subprocess.run(
            [MYELIND, "-n", *options, "-f", self.i.conf, "-p", self.i.dir,
             "-L", BUILD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=60, text=True)

    def test_checked(self):
        r = self.check('deny command "git" "push" {\n'
                       '\tmatch "git push"\n\tmatch "git pull"\n}\n')
        line = CONFIG.count("\n") + 3
        self.assertNotEqual(r.returncode, 0)
        self.assertIn('myelin.conf:%d: match "git pull": the rule of line %d '
                      'does not hold for it' % (line, line - 2), r.stdout)
        r = self.check('deny command "rm" { not match "sudo rm x" }\n')
        self.assertIn("holds for it", r.stdout)
        r = self.check('ask tool "write" path "/srv/*" {\n'
                       'match "/home/x" }\n')
        self.assertIn('match "/home/x"', r.stdout)
        self.assertNotEqual(r.returncode, 0)

    def test_normal_form(self):
        r = self.check('ask effect destructive command rm "-r" '
                       '{ match "rm -r .git" }\n', "-n")
        self.assertEqual(r.returncode, 0, r.stdout)
        self.assertIn('ask effect "destructive" command "rm" "-r" {\n'
                      '\tmatch "rm -r .git"\n}\n', r.stdout)

    def test_reload(self):
        with Instance(RULES) as i:
            pid = i.pid("judged")
            said = reload(i, RULES + 'deny command "ls" {\n'
                          '\tnot match "ls -l"\n}\n', "refused")
            self.assertIn("myelin.conf:%d" % (RULES.count("\n") + 2),
                          said["error"])
            self.assertEqual(i.bash("ls")["verdict"], "allow")
            self.assertEqual(i.bash("git push")["verdict"], "deny")
            reload(i, CONFIG + 'deny command "ls"\n')
            self.assertEqual(i.bash("ls")["verdict"], "deny")
            self.assertEqual(i.bash("git push")["verdict"], "allow")
            self.assertEqual(i.pid("judged"), pid)


if __name__ == "__main__":
    unittest.main()
