"""Output arrives as it was written: whoever reads, from wherever they resume.

Random bytes in random pieces, some of them text, from a program; the events,
read at once or taken up again at random places, and the result must put
together the same bytes.  The seed is fixed; MYELIN_SEED tries another one.
"""
import base64
import os
import random
import unittest

from harness import CONFIG, Instance

SEED = int(os.environ.get("MYELIN_SEED", "4"))
ROUNDS = 12
WRITER = """
import os, random, time
r = random.Random(%d)
for n in range(%d):
    kind = r.randrange(4)
    size = r.choice((1, 2, 3, 50, 700, 5000, 70000))
    if kind == 0:
        data = r.randbytes(size)
    elif kind == 1:
        data = "".join(chr(r.choice((0x41, 0xe4, 0x20ac, 0x1f600)))
                       for _ in range(size // 3 + 1)).encode()
        # cut in the middle of a character
        data = data[:r.randrange(1, len(data) + 1)]
    elif kind == 2:
        data = b"line %%d\\r\\n" %% n * (size // 8 + 1)
    else:
        data = bytes(r.choice(b"\\x00\\x1b\\xff[;m") for _ in range(size))
    fd = r.choice((1, 1, 2))
    while data:
        data = data[os.write(fd, data[:r.randrange(1, 9000)]):]
    if r.randrange(5) == 0:
        time.sleep(r.random() / 20)
"""


def written(seed, pieces):
    """The same bytes, without a program."""
    out = {1: b"", 2: b""}

    class Os:
        @staticmethod
        def write(fd, data):
            out[fd] += data
            return len(data)

    class Time:
        @staticmethod
        def sleep(_):
            pass
    text = WRITER % (seed, pieces)
    exec(text.replace("import os, random, time", "import random"),
         {"os": Os, "time": Time})
    return out


def decode(data):
    if data["encoding"] == "base64":
        return base64.b64decode(data["data"], validate=True)
    return data["data"].encode()


def field(result, stream):
    text = result[stream]
    if result["encoding"][stream] == "base64":
        return base64.b64decode(text, validate=True)
    return text.encode()


class Property(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def collect(self, events, streams):
        """Puts events in their place; seq says where that is."""
        for eid, event, data in events:
            self.assertNotEqual(event, "call.gap")
            if event != "call.output":
                continue
            got = streams[data["stream"]]
            piece = decode(data)
            at = data["seq"]
            self.assertLessEqual(at, len(got))
            # what comes again after a resume is the same
            again = got[at:at + len(piece)]
            self.assertEqual(piece[:len(again)], again)
            streams[data["stream"]] = got[:at] + piece if \
                at + len(piece) > len(got) else got

    def one(self, n):
        r = random.Random(SEED * 1000 + n)
        pieces = r.randrange(3, 12)
        want = written(SEED * 1000 + n, pieces)
        code = WRITER % (SEED * 1000 + n, pieces)
        result = self.i.call("python", {"code": code})
        self.assertEqual(result["state"], "completed", result)
        self.assertEqual(result["redacted"], {"stdout": 0, "stderr": 0})
        self.assertEqual(result["bytes"], {"stdout": len(want[1]),
                                           "stderr": len(want[2])})
        self.assertEqual(field(result, "stdout"), want[1])
        self.assertEqual(field(result, "stderr"), want[2])
        events = "/v1/calls/%s/events" % result["call"]
        for _ in range(3):
            streams = {"stdout": b"", "stderr": b""}
            last = 0
            # leaves after some events, comes back with the last one's id
            while True:
                part = []
                limit = r.randrange(1, 6)
                finished = False
                for eid, event, data in self.i.events(events, headers={
                        "Last-Event-ID": str(last)} if last else None):
                    part.append((eid, event, data))
                    last = eid or last
                    if event == "call.finished":
                        finished = True
                        break
                    if len(part) == limit:
                        break
                self.collect(part, streams)
                if finished:
                    break
            self.assertEqual(streams["stdout"], want[1])
            self.assertEqual(streams["stderr"], want[2])

    def test_reassembles(self):
        for n in range(ROUNDS):
            with self.subTest(seed=SEED, round=n):
                self.one(n)

    def test_live_readers(self):
        """Readers beside the program, not after it."""
        for n in range(ROUNDS, ROUNDS + 4):
            seed = SEED * 1000 + n
            want = written(seed, 8)
            streams = {"stdout": b"", "stderr": b""}
            self.collect(self.i.events("/v1/calls", {
                "tool": "python", "args": {"code": WRITER % (seed, 8)},
                "flow": "block"}), streams)
            self.assertEqual(streams["stdout"], want[1])
            self.assertEqual(streams["stderr"], want[2])


if __name__ == "__main__":
    unittest.main()
