"""What went wrong in other systems that do this job, tried on a real service:
the rows that no other file here has by name.  Rows of files and searches are
in test_tools, those of commands in test_judge."""
import http.client
import json
import socket
import threading
import time
import unittest

import footprint
from harness import Instance, parse_events, rss_kib, stdout_of, wait_for

QUICK = 100		# seconds: no wait of 300 s that a row could end in


def processes_with(i, text):
    """Of this instance: other tests have programs of that name as well."""
    found = []
    for pid in footprint.ours(i):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                if text in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def quick(self, command, **more):
        start = time.monotonic()
        r = self.i.bash(command, **more)
        self.assertLess(time.monotonic() - start, QUICK)
        return r

    def test_o1_a_byte_that_is_no_text(self):
        r = self.i.bash("printf 'a\\377\\376b\\n'; exit 3")
        self.assertEqual((r["exit_code"], stdout_of(r)),
                         (3, b"a\xff\xfeb\n"))
        self.assertEqual(r["encoding"]["stdout"], "base64")
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def test_o2_a_silent_child_holds_the_pipe(self):
        for command in ("sleep 301 & echo done",
                        "(sleep 301 </dev/null >/dev/null &) ; echo done"):
            r = self.quick(command)
            self.assertEqual((r["exit_code"], r["stdout"]), (0, "done\n"))
            # what became of the sleeper is said, and is true
            self.assertGreaterEqual(r["leftover_processes"], 1)
            self.assertEqual(processes_with(self.i, b"sleep\x00301"), [])

    def test_o3_the_whole_tree_ends(self):
        # the control: one that runs is found
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "sleep 604"}})
        self.assertEqual(status, 202, call)
        wait_for(lambda: processes_with(self.i, b"sleep\x0060"), 60)
        self.i.request("POST", "/v1/calls/%s/cancel" % call["call"])
        r = self.i.get("/v1/calls/%s?wait_ms=50000" % call["call"])[1]
        self.assertEqual(r["state"], "cancelled")
        r = self.i.bash("bash -c 'sleep 602 & sleep 603'", timeout_ms=2000)
        self.assertEqual((r["state"], r["reason"]), ("failed", "timed_out"))
        self.assertEqual(processes_with(self.i, b"sleep\x0060"), [])

    def test_o4_stdin_is_at_its_end(self):
        r = self.quick("cat; echo rc=$?")
        self.assertEqual(r["stdout"], "rc=0\n")
        r = self.i.call("python", {
            "code": "print(repr(__import__('sys').stdin.read()))"})
        self.assertEqual(r["stdout"], "''\n")

    def test_o5_output_before_the_end_of_time(self):
        r = self.i.call("python", {
            "code": "print('one'); import time; time.sleep(60)"},
            timeout_ms=5000)
        self.assertEqual((r["reason"], r["stdout"]), ("timed_out", "one\n"))

    def test_o6_a_signal_is_no_success(self):
        r = self.i.bash("kill -9 $$")
        self.assertEqual((r["state"], r["reason"], r["signal"],
                          r["exit_code"]),
                         ("failed", "signalled", "KILL", None))
        r = self.i.bash("sh -c 'kill -SEGV $$'; exit $?")
        self.assertEqual(r["exit_code"], 139)

    def test_o7_no_such_command(self):
        r = self.i.bash("nosuchcmd_xyz --help")
        self.assertEqual(r["exit_code"], 127)
        self.assertIn("nosuchcmd_xyz", r["stderr"])

    def test_o8_a_here_document(self):
        r = self.quick("cat << 'EOF' > t.txt\nhello $HOME\nEOF\ncat t.txt")
        self.assertEqual(r["stdout"], "hello $HOME\n")

    def test_o19_streams_end_properly(self):
        c = http.client.HTTPConnection("l", timeout=30)
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.settimeout(30)
        c.sock.connect(self.i.api)
        c.request("POST", "/v1/calls", json.dumps(
            {"tool": "bash", "args": {"command": "seq 3"}}),
            {"Content-Type": "application/json",
             "Accept": "text/event-stream"})
        body = c.getresponse().read()	# IncompleteRead, if it does not
        c.close()
        self.assertEqual(body.count(b"event: call.finished"), 1)

    def test_o20_a_reader_that_stalls(self):
        c = http.client.HTTPConnection("l", timeout=240)
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.settimeout(240)
        c.sock.connect(self.i.api)
        before = rss_kib(self.i.pid("apid"))
        c.request("POST", "/v1/calls", json.dumps(
            {"tool": "bash", "timeout_ms": 300000, "args": {
                "command": "head -c 300000000 /dev/zero | tr '\\0' a"}}),
            {"Content-Type": "application/json",
             "Accept": "text/event-stream"})
        r = c.getresponse()
        self.assertEqual(self.i.bash("echo hi")["stdout"], "hi\n")
        wait_for(lambda: all(
            x["state"] not in ("running", "queued") for x in
            self.i.get("/v1/calls")[1]["calls"]), 240)
        self.assertLess(rss_kib(self.i.pid("apid")) - before, 64 << 10)
        names = [e for _, e, _ in parse_events(r)]
        c.close()
        self.assertIn("call.gap", names)
        self.assertEqual(names[-1], "call.finished")

    def test_o21_calls_of_one_session_do_not_mix(self):
        s = self.i.session()
        results, errors = {}, []

        def one(letter):
            try:
                results[letter] = self.i.bash(
                    "mkdir -p %s && cd %s; for i in $(seq 500); do echo %s; "
                    "done; pwd >&2" % ((letter,) * 3), session=s)
            except Exception as e:	# told by the test, not by a thread
                errors.append(e)
        letters = "ABCD"
        threads = [threading.Thread(target=one, args=(l,)) for l in letters]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        self.assertEqual(errors, [])
        for l in letters:
            self.assertEqual((results[l]["exit_code"], results[l]["stdout"],
                              results[l]["stderr"]),
                             (0, (l + "\n") * 500, "/home/agent/%s\n" % l))
        self.assertEqual(self.i.bash("pwd", session=s)["stdout"],
                         "/home/agent\n")
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_o25_tmp_runs_programs_and_holds_what_it_says(self):
        tmp = self.i.bash("echo ${TMPDIR:-/tmp}")["stdout"].strip()
        r = self.i.bash(
            "dd if=/dev/zero of=TMP/x bs=1M count=600 2>/dev/null "
            "&& cp /bin/true TMP/t && TMP/t; echo $?; "
            "rm TMP/x; python3 -c 'import multiprocessing as m; "
            "m.Lock()' && echo shm".replace("TMP", tmp))
        self.assertEqual((r["exit_code"], r["stdout"]), (0, "0\nshm\n"), r)


if __name__ == "__main__":
    unittest.main()
