"""Noise on every listener: what looks like requests, tunnels, SOCKS5 and TLS,
cut anywhere, changed anywhere, and ended in every way.  egressd is there
afterwards, and holds nothing of it."""
import os
import unittest

from egress import EgressCase, EgressInstance
from harness import wait_for

WEB = """
allow host "ok.example.com" port 80, 443, 8080, 25; allow host "two.example.com"
allow host "raw.example.com" opaque
"""

NOISE = r'''
import random, threading

PAGES = ("ok", "big/100000", "chunked/50", "close", "extra", "twice",
    "headers/20", "echo", "status/404", "headers/300", "to/2f",
    "big/3000000", "status/204", "status/304")
HOSTS = ("ok.example.com", "two.example.com", "evil.example.net", "127.0.0.1",
    "ok.example.com:8080", "ok.example.com:443", "raw.example.com:443",
    "raw.example.com", "ok.example.com:25", "not.example.org")

def request(r):
    method = r.choice(("GET", "GET", "HEAD", "OPTIONS", "POST", "CONNECT"))
    host, page = r.choice(HOSTS), r.choice(PAGES)
    target = host if method == "CONNECT" else r.choice(
        ("http://%s/%s" % (host, page), "/" + page))
    more = r.choice(("", "", "", "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
        "Expect: 100-continue\r\nContent-Length: 5\r\n",
        "X: " + "y" * r.randrange(9000) + "\r\n"))
    return ("%s %s HTTP/1.%d\r\nHost: %s\r\n%s\r\n" % (method, target,
        r.choice((1, 1, 1, 0)), host, more)).encode() + r.choice(
        (b"", b"hello", b"5\r\nhello\r\n0\r\n\r\n"))

def socks5(r):
    host = r.choice((b"ok.example.com", b"raw.example.com", b"evil"))
    return b"\5\1\0\5\1\0\3" + bytes([len(host)]) + host + struct.pack(
        "!H", r.choice((80, 443, 8080, 25)))

def tls(r):
    return hello(sni(r.choice((b"ok.example.com", b"evil.example.net"))))

def junk(r):
    return bytes(r.randrange(256) for _ in range(20))

def noise(r):
    return bytearray(b"".join(r.choice((request, request, request, socks5,
        tls, junk))(r) for _ in range(r.randrange(1, 5))))

def talk(r, s):
    data = noise(r)
    for _ in range(r.choice((0, 0, 1, 3))):
        data[r.randrange(len(data))] = r.randrange(256)
    n = 0
    while n < len(data):
        k = r.choice((1, 5, 100, 4096, 100000))
        s.sendall(data[n:n + k])
        n += k
    end = r.random()
    if end < 0.2:
        return
    if end < 0.4:
        s.shutdown(socket.SHUT_WR)
    elif end < 0.5:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
            struct.pack("ii", 1, 0))
        return
    s.settimeout(r.choice((0.02, 0.3)))
    while s.recv(r.choice((1, 100000))) and r.random() > 0.02:
        pass

def work(k):
    r, end = random.Random(k), time.monotonic() + 4
    # longer where it is slow: there is always enough of it
    while time.monotonic() < end or (
            sum(count) < 200 and time.monotonic() < end + 25):
        to = r.choice((PROXY, PROXY, PROXY, ("127.0.0.1", 80),
            ("127.0.0.1", 443)))
        try:
            with socket.create_connection(to, timeout=2) as s:
                talk(r, s)
        except OSError:
            pass
        count[k] += 1

count = [0] * 16
threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
for t in threads:
    t.start()
for t in threads:
    t.join()
sum(count)
'''


class Noise(EgressCase):
    NAMES = ("ok.example.com", "two.example.com", "raw.example.com")

    @classmethod
    def instance(cls):
        return EgressInstance(cls.net, {"web": WEB}, limits={
            "web": "egress-idle 1s; egress-total 3s;"})

    def held(self):
        """Sockets: the pipes that tunnels share stay for the next."""
        d, n = "/proc/%d/fd/" % self.i.pid("egressd"), 0
        for fd in os.listdir(d):
            try:
                n += os.readlink(d + fd).startswith("socket:")
            except FileNotFoundError:
                pass
        return n

    def test(self):
        pid = self.i.pid("egressd")
        session = self.i.session(profile="web", **self.w.fields())
        ask = 'get("http://ok.example.com/ok")["status"]'
        self.w.probe(ask, session=session)
        before = self.held()
        self.assertGreater(self.w.probe(NOISE, session=session), 100)
        wait_for(lambda: self.held() <= before, 60)
        self.assertEqual(self.i.pid("egressd"), pid)
        self.assertEqual(self.w.probe(ask, session=session), 200)
        self.assertEqual(self.i.pid("egressd"), pid)


if __name__ == "__main__":
    unittest.main()
