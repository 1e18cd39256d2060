"""SIGHUP: another configuration, for all processes or for none."""
import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import unittest

from harness import (BUILD, CONFIG, HELPERS, NAMES, Instance, wait_for)

ALICE = 12345


def reload(i, config=None, result="ok", seconds=90):
    """Reloads and waits for the result: status's own words about it."""
    before = i.status()["reload"]
    if config is not None:
        i.configure(config)
    i.process.send_signal(signal.SIGHUP)

    def over():
        now = i.status()["reload"]
        return now if now["when"] != before["when"] else None
    now = wait_for(over, seconds)
    assert now["result"] == result, (now, i.log()[-2000:])
    if result == "ok":
        assert now["generation"] > before["generation"], (before, now)
        assert now["error"] is None, now
    else:
        assert now["generation"] == before["generation"], (before, now)
    return now


def audit(i, event):
    """Records of one kind, oldest first."""
    found, after = [], 0
    while after is not None:
        status, body = i.get("/v1/audit?after=%d&limit=500" % after,
                             operator=True)
        assert status == 200, body
        found += [json.loads(line) for line in body["lines"]]
        after = body["next"]
    return [r for r in found if r["event"] == event]


class Audited(unittest.TestCase):
    def test_files_of_a_configuration(self):
        """Which bytes of which files are in force is in the audit log."""
        with Instance() as i:
            def files(text):
                return [{"file": i.conf, "sha256": hashlib.sha256(
                    text.encode()).hexdigest()}]
            started = audit(i, "service.started")[-1]
            self.assertEqual(started["files"], files(CONFIG))
            self.assertEqual(started["files_more"], 0)
            more = os.path.join(i.dir, "more.conf")
            with open(more, "w") as f:
                f.write("hourly 5000\n")
            os.chmod(more, 0o600)
            text = CONFIG.replace("hourly 10000000",
                                  'include "more.conf"')
            reload(i, text)
            record = audit(i, "config.reloaded")[-1]
            self.assertEqual(record["files"], files(text) + [{
                "file": more, "sha256": hashlib.sha256(
                    b"hourly 5000\n").hexdigest()}])


class Reload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def setUp(self):
        if self.i.status()["reload"]["result"] != "none":
            reload(self.i, CONFIG)
        self.pids = {n: p["pid"] for n, p in self.i.processes().items()}

    def tearDown(self):
        for s in self.i.get("/v1/sessions", True)[1]["sessions"]:
            if s["state"] == "live":
                self.i.request("DELETE", "/v1/sessions/" + s["session"],
                               operator=True)
        self.assertEqual(
            self.pids, {n: p["pid"] for n, p in self.i.processes().items()})

    def as_(self, uid, method, path, body=None):
        c = self.i.connection()
        os.seteuid(uid)
        try:
            c.connect()
        finally:
            os.seteuid(0)
        c.request(method, path, None if body is None else json.dumps(body),
                  {} if body is None else
                  {"Content-Type": "application/json"})
        r = c.getresponse()
        data = json.loads(r.read())
        c.close()
        return r.status, data

    def limit(self, keyword, operator=False):
        limits = self.i.get("/v1/limits", operator=operator)[1]["limits"]
        return [l["value"] for l in limits if l["keyword"] == keyword][0]

    # ---- what takes effect ----

    def test_limits(self):
        reload(self.i, CONFIG + "timeout 1500ms\nbash-text 300\nbody 5K\n")
        self.assertEqual(self.limit("timeout"), 1500)
        self.assertEqual(self.limit("timeout", operator=True), 1500)
        r = self.i.bash("sleep 20")
        self.assertEqual((r["state"], r["reason"]), ("failed", "timed_out"))
        # judged and apid have theirs too
        r = self.i.bash("#" * 400)
        self.assertEqual(r["reason"], "invalid_arguments")
        self.assertIn("bash-text", r["error"]["message"])
        self.assertEqual(self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "#" * 6000}})[0], 413)

    def test_a_principal_comes_and_goes(self):
        line = "principal user %d { preset standard }\n" % ALICE
        ask = {"tool": "exec", "args": {"argv": ["id", "-u"]},
               "wait_ms": 50000}
        self.assertEqual(self.as_(ALICE, "GET", "/v1/whoami")[0], 403)
        reload(self.i, line + CONFIG)
        status, who = self.as_(ALICE, "GET", "/v1/whoami")
        self.assertEqual((status, who["principal"]["line"]), (200, 1))
        status, r = self.as_(ALICE, "POST", "/v1/calls", ask)
        self.assertEqual((status, r["state"]), (200, "completed"), r)
        status, s = self.as_(ALICE, "POST", "/v1/sessions", {})
        self.assertEqual(status, 201, s)
        path = "/v1/sessions/%s" % s["session"]
        status, c = self.as_(ALICE, "POST", path + "/calls", {
            "tool": "bash", "args": {"command": "sleep 300"}})
        self.assertEqual(status, 202, c)
        reload(self.i, CONFIG)
        # whoever is no principal any more asks for nothing
        self.assertEqual(self.as_(ALICE, "GET", "/v1/whoami")[0], 403)
        self.assertEqual(self.as_(ALICE, "POST", "/v1/calls", ask)[0], 403)
        # what runs is untouched, until an operator ends it
        def call():
            return self.i.get("/v1/calls/" + c["call"], operator=True)[1]
        wait_for(lambda: call()["state"] == "running", 60)
        self.assertEqual(self.i.ctl("sessions", "end", "-o",
                                    s["session"]).returncode, 0)
        wait_for(lambda: call().get("reason") == "session_ended", 60)

    def test_a_preset_of_the_principal(self):
        reload(self.i, CONFIG)
        session = self.i.session()
        status, c = self.i.request(
            "POST", "/v1/sessions/%s/calls" % session,
            {"tool": "bash", "args": {"command": "sleep 3; echo done"}})
        self.assertEqual(status, 202)
        wait_for(lambda: self.i.get("/v1/calls/" + c["call"])[1]["state"] ==
                 "running", 60)
        reload(self.i, CONFIG.replace("preset standard", "preset narrow") +
               "preset narrow { cap read; allow tool python }\n")
        tools = self.i.get("/v1/tools")[1]["tools"]
        self.assertEqual([t["name"] for t in tools if t["effect"] != "read"],
                         ["python"])
        for path in ("/v1/calls", "/v1/sessions/%s/calls" % session):
            status, body = self.i.request("POST", path, {
                "tool": "exec", "args": {"argv": ["true"]}})
            self.assertEqual((status, body["error"]["code"]),
                             (403, "forbidden"))
            self.assertIn("narrow", body["error"]["message"])
        r = self.i.request("GET", "/v1/calls/%s?wait_ms=50000" % c["call"])[1]
        self.assertEqual((r["state"], r["stdout"]), ("completed", "done\n"))

    def test_a_neuron_keeps_its_limits(self):
        profile = CONFIG.replace("workspace", "profile small; workspace")
        reload(self.i, profile + "profile small { running-calls 2; "
               "nofile 100; timeout 1s; output-killed 1M }\n")
        old = self.i.session()
        reload(self.i, profile + "profile small { running-calls 3; "
               "nofile 200; timeout 20s }\n")
        new = self.i.session()

        def at_once(session):
            """The calls that may run at the same time."""
            for _ in range(20):
                begin = time.monotonic()
                for n in range(5):
                    status, body = self.i.request(
                        "POST", "/v1/sessions/%s/calls" % session, {
                            "tool": "bash", "args": {"command": "sleep 30"},
                            "timeout_ms": 1000})
                    if status == 429:
                        break
                    self.assertEqual(status, 202, body)
                took = time.monotonic() - begin
                wait_for(lambda: self.i.status()["calls"]["running"] == 0, 60)
                # else the first was over before the last was asked for
                if took < 1:
                    self.assertIn("running-calls", body["error"]["message"])
                    return n

        for session, calls, files, end in ((old, 2, "100\n", "timed_out"),
                                           (new, 3, "200\n", None)):
            r = self.i.bash("ulimit -n", session=session)
            self.assertEqual(r["stdout"], files)
            r = self.i.bash("sleep 1.5", session=session)
            self.assertEqual(r["reason"], end)
            self.assertEqual(at_once(session), calls)
        # even a profile that is gone
        reload(self.i, CONFIG)
        r = self.i.bash("ulimit -n", session=old)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "100\n"))
        self.assertEqual(self.i.bash("ulimit -n")["stdout"], "1024\n")

    def test_neurons_can_be_fewer(self):
        # those of the tests before may not be gone yet
        wait_for(lambda: self.i.status()["neurons"]["live"] == 0, 60)
        reload(self.i, CONFIG + "neurons 2\nneuron-wait 0s\n")
        sessions = [self.i.session() for _ in range(2)]
        status, body = self.i.request("POST", "/v1/sessions", {})
        self.assertEqual(status, 429)
        self.assertIn("neurons is 2", body["error"]["message"])
        reload(self.i, CONFIG + "neurons 32\n")
        sessions.append(self.i.session())
        for s in sessions:
            self.i.request("DELETE", "/v1/sessions/" + s)
        r = reload(self.i, CONFIG + "neurons 33\n", "refused")
        self.assertRegex(r["error"], r"myelin\.conf:\d+: neurons is more than "
                         "at the start")

    def test_operators(self):
        reload(self.i, CONFIG.replace("may approve, audit, manage",
                                      "may audit"))
        status, body = self.i.request("POST", "/v1/drain", operator=True)
        self.assertEqual(status, 403)
        self.assertIn('"manage"', body["error"]["message"])
        reload(self.i, CONFIG)
        self.assertEqual(self.i.get("/v1/audit", operator=True)[0], 200)

    # ---- what is refused ----

    def refused(self, config, pattern):
        commits = len(audit(self.i, "config.reloaded"))
        r = reload(self.i, config, "refused")
        self.assertRegex(r["error"], pattern)
        self.assertIn(r["error"], self.i.log())
        self.assertIn(r["error"], self.i.ctl("status").stdout.decode())
        last = audit(self.i, "config.refused")[-1]
        self.assertEqual((last["generation"], last["why"]),
                         (r["generation"], r["error"]))
        self.assertEqual(len(audit(self.i, "config.reloaded")), commits)
        self.assertEqual(self.i.bash("echo still")["stdout"], "still\n")

    def test_syntax(self):
        self.refused(CONFIG + "\n\nmemory 2G extra\n",
                     r"myelin\.conf:8: ")
        self.assertEqual(self.limit("memory"), 1 << 30)

    def test_a_reference_that_is_not_there(self):
        self.refused(CONFIG + "principal user %d { preset nosuch }\n" % ALICE,
                     r"myelin\.conf:\d+: .*no preset \"nosuch\"")
        self.assertEqual(self.as_(ALICE, "GET", "/v1/whoami")[0], 403)

    def test_an_included_file_of_a_wrong_mode(self):
        path = os.path.join(self.i.dir, "more.conf")
        with open(path, "w") as f:
            f.write("memory 2G\n")
        os.chmod(path, 0o666)
        self.refused(CONFIG + "include \"%s\"\n" % path,
                     r"myelin\.conf:6: include .*mode 0666")
        os.chmod(path, 0o644)
        reload(self.i)
        self.assertEqual(self.limit("memory"), 2 << 30)

    def test_what_a_start_alone_changes(self):
        self.refused(CONFIG + "state \"%s/other\"\n" % self.i.dir,
                     r"myelin\.conf:6: state is another now: the service must "
                     "be started again")
        self.assertFalse(os.path.exists(self.i.dir + "/other"))

    # ---- records ----

    def test_records(self):
        before = audit(self.i, "config.reloaded")
        generation = reload(self.i, CONFIG)["generation"]
        after = audit(self.i, "config.reloaded")
        self.assertEqual(len(after), len(before) + 1)
        self.assertEqual(after[-1]["generation"], generation)
        self.assertEqual(self.i.ctl("audit", "verify").returncode, 0)


class Load(unittest.TestCase):
    """Reloads under load lose nothing."""

    def test_none_lost(self):
        # Lines move: what is asked under one generation and started under
        # the next must not be taken for somebody else's.
        configs = [CONFIG + "timeout 50s\n",
                   "principal user 1 { preset readonly }\n" * 1 + CONFIG,
                   "principal user 2 { preset strict; profile p }\n"
                   "principal user 3 { preset strict }\nprofile p { }\n" +
                   CONFIG + "memory 2G\n"]
        with Instance(configs[0]) as i:
            results, errors = [], []
            done = threading.Event()

            def ask(n):
                session = i.session() if n % 2 else None
                k = 0
                while not done.is_set() or k < 9:
                    word = "%d-%d" % (n, k)
                    k += 1
                    try:
                        r = i.bash("sleep 0.0%d; echo %s" % (k % 10, word),
                                   session=session)
                        results.append(r["state"])
                        if (r["state"], r["stdout"]) != ("completed",
                                                         word + "\n"):
                            errors.append(r)
                    except Exception as e:
                        errors.append(repr(e))
                if session:
                    i.request("DELETE", "/v1/sessions/" + session)

            long = i.request("POST", "/v1/calls", {
                "tool": "bash", "args": {"command": "echo begin; read x; "
                                         "echo end $x"},
                "timeout_ms": 600000, "stdin": {"stream": True}})[1]["call"]
            threads = [threading.Thread(target=ask, args=(n,))
                       for n in range(12)]
            for t in threads:
                t.start()
            try:
                for n in range(20):
                    reload(i, configs[n % len(configs)])
            finally:
                done.set()
                for t in threads:
                    t.join()
            self.assertEqual(errors, [])
            self.assertGreaterEqual(len(results), 100)
            i.request("POST", "/v1/calls/%s/stdin?eof=1" % long, b"it\n")
            r = i.request("GET", "/v1/calls/%s?wait_ms=50000" % long)[1]
            self.assertEqual((r["state"], r["stdout"]),
                             ("completed", "begin\nend it\n"))
            self.assertEqual(len(audit(i, "config.reloaded")), 20)
            for p in i.processes().values():
                self.assertEqual(p["restarts"], 0, p)


class Killed(unittest.TestCase):
    """A process that dies about the time of a reload."""

    def test_each(self):
        def everything_up():
            try:
                p = i.processes()
            except Exception:
                return None
            return p if all(p.get(n, {}).get("state") == "up"
                            for n in NAMES + HELPERS) else None

        def usable():
            try:
                return i.bash("echo ok", wait=50000)["stdout"] == "ok\n"
            except Exception:
                return False

        def generations():
            """What the log says, reload by reload."""
            return re.findall(r"myelind: reload(?:: generation (\d+) is in "
                              r"force| refused: generation (\d+) stays)",
                              i.log())

        with Instance(CONFIG + "restart-window 1s\n") as i:
            for n, name in enumerate(NAMES * 3):
                before = wait_for(everything_up, 60)
                said = len(generations())
                i.configure(CONFIG + "restart-window 1s\nmemory %dM\n" %
                            (1000 + n))
                i.process.send_signal(signal.SIGHUP)
                time.sleep(0.0007 * (n // len(NAMES)) * 2)
                os.kill(before[name]["pid"], signal.SIGKILL)
                wait_for(lambda: len(generations()) > said, 60)
                wait_for(lambda: i.process.poll() is None and
                         (everything_up() or {name: before[name]})
                         [name]["pid"] != before[name]["pid"], 60)
                wait_for(usable, 60)
                # all processes have the same one, whichever it is
                ok, stays = generations()[-1]
                status = i.status()["reload"]
                self.assertEqual(status["generation"], int(ok or stays))
                self.assertEqual(status["result"], "ok" if ok else "refused")
                for operator in (False, True):
                    memory = [l["value"] for l in
                              i.get("/v1/limits", operator)[1]["limits"]
                              if l["keyword"] == "memory"][0]
                    if ok:
                        self.assertEqual(memory, (1000 + n) << 20)
                    else:
                        self.assertNotEqual(memory, (1000 + n) << 20)
                time.sleep(1.1)		# out of the restart window
            self.assertEqual(i.ctl("audit", "verify").returncode, 0)


class Declarations(unittest.TestCase):
    """Other tools: judged is a new process, the others stay."""

    @classmethod
    def setUpClass(cls):
        cls.tree = tempfile.mkdtemp(prefix="t-",
                                    dir=os.path.join(BUILD, "tests"))
        os.chmod(cls.tree, 0o755)
        for name in ("supervisord/myelind", "apid/apid", "judged/judged",
                     "policyd/policyd", "egressd/egressd", "neurond/neurond",
                     "neurond/maker",
                     "neurond/spawner", "neurond/neuron-tool"):
            path = os.path.join(cls.tree, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(os.path.join(BUILD, name), path)
        shutil.copytree(os.path.join(BUILD, "judged", "tools"),
                        os.path.join(cls.tree, "judged", "tools"))
        for root, dirs, files in os.walk(cls.tree):
            for name in dirs + files:
                os.chmod(os.path.join(root, name), 0o755)
        cls.i = Instance(build=cls.tree)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        shutil.rmtree(cls.tree)

    def tool(self, name):
        return os.path.join(self.tree, "judged", "tools", name + ".json")

    def pids(self):
        return {n: p["pid"] for n, p in self.i.processes().items()}

    def names(self):
        def tools():
            status, body = self.i.get("/v1/tools")
            return body["tools"] if status == 200 else None
        return {t["name"]: t for t in wait_for(tools, 10)}

    def edit(self, name, **members):
        with open(self.tool("exec")) as f:
            text = json.load(f)
        text.update(members, name=name)
        with open(self.tool(name), "w") as f:
            json.dump(text, f)

    def test_other_tools(self):
        i = self.i
        before = i.processes()
        names = sorted(self.names())
        session = i.session()
        self.edit("other", description="Another one.")
        reload(i)
        self.assertEqual(sorted(self.names()), sorted(names + ["other"]))
        self.assertEqual(self.names()["other"]["description"], "Another one.")
        r = i.call("other", {"argv": ["echo", "hi"]}, session=session)
        self.assertEqual(r["stdout"], "hi\n")
        after = i.processes()
        for name in before:
            self.assertEqual(before[name]["pid"] == after[name]["pid"],
                             name != "judged", name)
            self.assertEqual(after[name]["restarts"], 0)
        # the preset that names it stands and falls with it
        reload(i, CONFIG + "preset p { deny tool other }\n")
        self.assertEqual(i.pid("judged"), after["judged"]["pid"])
        os.unlink(self.tool("other"))
        r = reload(i, result="refused")
        self.assertIn('there is no tool "other"', r["error"])
        self.assertIn("other", self.names())
        reload(i, CONFIG)
        self.assertNotIn("other", self.names())

    def test_a_declaration_that_is_wrong(self):
        before = self.pids()
        with open(self.tool("wrong"), "w") as f:
            f.write("{\n\"name\": \"wrong\",\n\"nosuch\": 1\n}\n")
        try:
            r = reload(self.i, CONFIG, "refused")
            self.assertRegex(r["error"], r"tools/wrong\.json:\d+: .*judged")
            self.assertEqual(before, self.pids())
            self.assertNotIn("wrong", self.names())
        finally:
            os.unlink(self.tool("wrong"))
        reload(self.i, CONFIG)


if __name__ == "__main__":
    unittest.main()
