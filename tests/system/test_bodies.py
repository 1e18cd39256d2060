"""How a body of neuron-tool is started, and what becomes of its result: with
a probe in neuron-tool's place that tells what it finds."""
import http.client
import json
import os
import shutil
import tempfile
import time
import unittest

from harness import BUILD, CONFIG, Instance, Workspace, rss_kib, wait_for
from takeover import make_tree

PROBE = os.path.join(BUILD, "tests", "system", "body_probe")


class Bodies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp(prefix="t-",
                                      dir=os.path.join(BUILD, "tests"))
        os.chmod(cls.parent, 0o755)
        try:
            tree = make_tree(cls.parent, ())
            shutil.copy(PROBE, os.path.join(tree, "neurond", "neuron-tool"))
            cls.i = Instance(config=CONFIG, build=tree)
        except BaseException:
            shutil.rmtree(cls.parent)
            raise

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        shutil.rmtree(cls.parent)

    def read(self, path, **more):
        return self.i.call("read", {"path": path}, **more)

    def test_how_it_is_started(self):
        r = self.read("a", stdin={"text": "input"})
        self.assertEqual(r["state"], "completed", r)
        self.assertEqual((r["exit_code"], r["stdout"], r["stderr"]),
                         (0, "input", ""))
        said = r["result"]
        self.assertEqual(said["argv"],
                         ["neuron-tool", "read", "/home/agent", ""])
        self.assertEqual(said["cwd"], "/home/agent")
        self.assertEqual(said["args"], {"path": "a"})
        self.assertEqual(said["fds"], [0, 1, 2, 3])
        self.assertEqual(said["can_write"], 0)
        self.assertEqual(said["exe"], "/memfd:neuron-tool (deleted)")
        self.assertEqual((said["NoNewPrivs"], said["Seccomp"]), ("1", "2"))
        self.assertEqual(int(said["CapEff"], 16), 0)
        # the neuron's filter, and not a call's, which takes openat2 away
        if "Seccomp_filters" in said:
            self.assertEqual(said["Seccomp_filters"], "1")
        r = self.i.call("exec", {"argv": ["/bin/grep", "Seccomp_filters",
                                          "/proc/self/status"]})
        self.assertIn(r["stdout"].split()[1:], ([], ["2"]))

    def test_workspace_and_cwd(self):
        w = Workspace()
        try:
            os.mkdir(os.path.join(w.path, "d"))
            w.give()
            said = self.read("a", cwd="d", **w.fields())["result"]
        finally:
            w.close()
        self.assertEqual(said["argv"][2:], ["/home/agent", w.path])
        self.assertEqual(said["cwd"], w.path + "/d")

    def test_programs_have_three_descriptors(self):
        """Neither the block nor neuron-tool is there for a program."""
        r = self.i.bash("ls /proc/self/fd; readlink /proc/self/fd/3")
        self.assertEqual(r["stdout"].split()[:3], ["0", "1", "2"])
        self.assertNotIn("memfd", r["stdout"])

    def test_the_result_is_in_the_record_alone(self):
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "read", "args": {"path": "refuse"}, "wait_ms": 50000})
        self.assertEqual(status, 200)
        self.assertEqual((body["state"], body["exit_code"]),
                         ("completed", 1))
        error = {"code": "not_found", "message": "no such \x1b[2Jfile"}
        self.assertEqual(body["result"], {"error": error})
        self.assertEqual(body["stderr"], "no such \x1b[2Jfile\n")
        self.assertEqual(body["bytes"], {"stdout": 0,
                                         "stderr": len(body["stderr"])})
        # asked again it is the same, and so is what the events say; its
        # transcript may have been kept since
        again = self.i.get("/v1/calls/" + body["call"])[1]
        self.assertIn(again.pop("transcript"), (body["transcript"], True))
        del body["transcript"]
        self.assertEqual(again, body)
        events = list(self.i.events("/v1/calls/%s/events" % body["call"]))
        out = [d for _, e, d in events if e == "call.output"]
        self.assertEqual([(d["stream"], d["data"]) for d in out],
                         [("stderr", body["stderr"])])
        self.assertEqual(events[-1][1], "call.finished")
        self.assertEqual(events[-1][2]["result"], {"error": error})

    def test_a_result_over_the_bound(self):
        r = self.read("much")
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0))
        self.assertIsNone(r["result"])
        self.assertEqual(r["error"]["code"], "result_too_large")
        self.assertIn("at most 8388608", r["error"]["message"])
        self.assertEqual(r["bytes"]["stderr"], 0)

    def test_results_that_are_none(self):
        for path, why in (("garbage", "not a JSON object"),
                          ("silent", "gave no result")):
            r = self.read(path)
            self.assertIsNone(r["result"])
            self.assertEqual(r["error"]["code"], "result_invalid")
            self.assertIn(why, r["error"]["message"])

    def test_an_end_in_the_middle(self):
        r = self.read("die")
        self.assertEqual((r["state"], r["reason"], r["signal"]),
                         ("failed", "signalled", "KILL"))
        self.assertIsNone(r["result"])
        r = self.read("sleep", timeout_ms=4000)
        self.assertEqual((r["state"], r["reason"], r["stdout"]),
                         ("failed", "timed_out", "begun\n"))
        self.assertIsNone(r["result"])

    def test_results_share_the_bound_of_all_output(self):
        pid = self.i.pid("apid")
        before = rss_kib(pid)
        for _ in range(12):
            self.assertIsNone(self.read("much")["result"])
        self.assertLess(rss_kib(pid) - before, 32 * 1024)

    def test_get_streams_with_back_pressure(self):
        """What the client does not read, the program can not write."""
        s = self.i.session()
        n = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        pid = self.i.pid("apid")
        before = rss_kib(pid)
        c = self.i.connection()
        c.request("GET", "/v1/neurons/%s/files/flood" % n)
        r = c.getresponse()
        self.assertEqual(r.status, 200)
        self.assertEqual(r.getheader("Content-Disposition"),
                         "attachment; filename=\"flood\"; "
                         "filename*=UTF-8''flood")
        self.assertEqual(r.getheader("X-Content-Type-Options"), "nosniff")
        time.sleep(0.5)
        self.assertLess(rss_kib(pid) - before, 8 * 1024)
        total = 0
        while True:
            data = r.read(1 << 20)
            if not data:
                break
            self.assertEqual(data.strip(b"a"), b"")
            total += len(data)
        self.assertEqual(total, 100 << 20)
        # the next request on the same connection is in order
        c.request("GET", "/v1/neurons/%s/files/refuse" % n)
        r = c.getresponse()
        self.assertEqual(r.status, 404)
        self.assertIn("no such ?[2Jfile", json.load(r)["error"]["message"])
        c.close()
        # one who leaves in the middle takes the call along
        c = self.i.connection()
        c.request("GET", "/v1/neurons/%s/files/sleep" % n)
        r = c.getresponse()
        self.assertEqual(r.read(6), b"begun\n")
        c.close()
        r.close()
        wait_for(lambda: self.i.get("/v1/calls")[1]["calls"][0]["state"] ==
                 "cancelled", 60)
        # and one that fails after its first byte has no clean end
        c = self.i.connection()
        c.request("GET", "/v1/neurons/%s/files/sleep?timeout_ms=4000" % n)
        r = c.getresponse()
        self.assertEqual(r.status, 200)
        with self.assertRaises(http.client.IncompleteRead):
            r.read()
        c.close()
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.assertEqual(self.i.get("/v1/neurons/%s/files/a" % n)[0], 404)

    def test_put_is_a_call_with_the_body_as_input(self):
        s = self.i.session()
        n = self.i.get("/v1/sessions/" + s)[1]["neuron"]
        for path, args in (("a", {"path": "a"}),
                           ("b%20%2f%C3%A4?parents=1&expect=absent",
                            {"path": "b /\u00e4", "parents": True,
                             "expect": "absent"}),
                           ("/etc/x", {"path": "/etc/x"}),
                           ("%ff", {"path_base64": "/w=="})):
            status, body = self.i.request(
                "PUT", "/v1/neurons/%s/files/%s" % (n, path), b"\0\xff")
            self.assertEqual(status, 200, body)
            self.assertEqual(body["args"], args)
            self.assertEqual(self.i.get("/v1/calls/" + body["call"])[1]
                             ["bytes"]["stdout"], 2)
        for path in ("", "a%", "a%0", "a%00b", "a%zz", "a" * 4096,
                     "a?expect=" + 65 * "a", "a?parents=2", "a?x=1",
                     "a?timeout_ms=0"):
            status, body = self.i.request(
                "PUT", "/v1/neurons/%s/files/%s" % (n, path), b"")
            self.assertEqual(status, 400, (path, body))
        status, body = self.i.request(
            "GET", "/v1/neurons/%s/files/a?format=zip" % n)
        self.assertEqual(status, 400, body)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_a_body_is_as_confined_as_a_program(self):
        """The layers of the record are those of the neuron."""
        a = self.read("a")["layers"]
        b = self.i.call("exec", {"argv": ["/bin/true"]})["layers"]
        self.assertEqual(a, b)
        self.assertIn("seccomp", a)


class Missing(unittest.TestCase):
    def test_without_neuron_tool_nothing_starts(self):
        parent = tempfile.mkdtemp(prefix="t-",
                                  dir=os.path.join(BUILD, "tests"))
        os.chmod(parent, 0o755)
        try:
            tree = make_tree(parent, ())
            os.unlink(os.path.join(tree, "neurond", "neuron-tool"))
            with self.assertRaisesRegex(AssertionError, "neuron-tool"):
                Instance(config=CONFIG, build=tree)
        finally:
            shutil.rmtree(parent)


if __name__ == "__main__":
    unittest.main()
