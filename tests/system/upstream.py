"""The world that egress is tested against: a network namespace of its own
with servers and a resolver, none of which any other host can reach.

usage: upstream.py DIRECTORY

DIRECTORY holds cert.pem and key.pem, and www/ with what is served.  Addresses
of every sort are on lo: public-looking ones, and those that no neuron may ever
reach, with the same servers behind them, so that a connection that gets there
is seen.  Speaks JSON on its standard input and output, a line each way, and
ends with its input.
"""
import ctypes
import fcntl
import json
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time

RESOLVER = "11.0.0.53"
PUBLIC = ("11.1.1.1", "11.1.1.2", "2600:1234::1")
# where a neuron must never get, whatever its rules are
FORBIDDEN = ("169.254.169.254", "169.254.7.7", "198.18.0.1", "240.0.0.1",
             "192.0.2.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::1",
             "fd00:ec2::254", "100::1", "2001:db8::1")
# ... and where only a rule that says "private" lets it
PRIVATE = ("10.1.2.3", "172.17.0.1", "192.168.7.7", "100.64.0.9", "fd12::1")
PORTS = (22, 25, 80, 443, 3128, 6379, 8080, 8443)
SPEAKS_FIRST = {22: b"SSH-2.0-there\r\n", 25: b"220 there\r\n"}
METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC",
           b"TRAC", b"PROP")

lock = threading.Lock()
state = {"connections": [], "queries": [], "zone": {}}


# ---- addresses ----

def lo_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        get_flags, set_flags, up = 0x8913, 0x8914, 1
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(
            s, get_flags, request))[1]
        fcntl.ioctl(s, set_flags, struct.pack("16sh14x", b"lo", flags | up))


def add_addresses(addresses):
    set_address, set_mask = 0x8916, 0x891c
    v4 = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    v6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    lo = socket.if_nametoindex("lo")
    for n, a in enumerate(addresses):
        if ":" in a:
            fcntl.ioctl(v6, set_address, struct.pack(
                "=16sIi", socket.inet_pton(socket.AF_INET6, a), 128, lo))
            continue
        for what, value in ((set_address, a), (set_mask, "255.255.255.255")):
            fcntl.ioctl(v4, what, struct.pack(
                "16sHH4s8x", b"lo:%d" % n, socket.AF_INET, 0,
                socket.inet_aton(value)))
    v4.close()
    v6.close()


# ---- HTTP ----

class Closed(Exception):
    pass


class Reader:
    """Bytes of a connection, all of which are kept for who asks later."""

    def __init__(self, sock, record):
        self.sock, self.record, self.buffer = sock, record, b""

    def fill(self):
        data = self.sock.recv(65536)
        if not data:
            raise Closed
        self.buffer += data
        with lock:
            self.record["bytes"] += len(data)
            if len(self.record["raw"]) < 65536:
                self.record["raw"] += data.decode("latin-1")

    def until(self, mark):
        while mark not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def exactly(self, n):
        while len(self.buffer) < n:
            self.fill()
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def drop(self, n):
        """Takes n bytes and keeps none: a large body."""
        while n > 0:
            if not self.buffer:
                self.fill()
            cut = min(n, len(self.buffer))
            self.buffer = self.buffer[cut:]
            n -= cut


def body_of(reader, headers):
    if "chunked" in headers.get("transfer-encoding", ""):
        body = b""
        while True:
            n = int(reader.until(b"\r\n").split(b";")[0], 16)
            if n == 0:
                while reader.until(b"\r\n") != b"":
                    pass
                return body
            body += reader.exactly(n)
            reader.exactly(2)
    n = int(headers.get("content-length", "0"))
    if n > 1 << 20:
        reader.drop(n)
        return b"(%d bytes)" % n
    return reader.exactly(n)


def head(status, length, more=()):
    lines = ["HTTP/1.1 %s" % status]
    if length is not None:
        lines.append("Content-Length: %d" % length)
    return ("\r\n".join(lines + list(more)) + "\r\n\r\n").encode("latin-1")


def blocks(sock, n):
    block = bytes(range(256)) * 256
    while n > 0:
        sock.sendall(block[:n] if n < len(block) else block)
        n -= len(block)


def pace(sock, rate):
    max_pacing_rate = 47
    sock.setsockopt(socket.SOL_SOCKET, max_pacing_rate, struct.pack(
        "=I" if rate < 1 << 32 else "=Q", rate))


def page_big(sock, request, rest):
    sock.sendall(head("200 OK", int(rest)))
    if request["method"] != "HEAD":
        blocks(sock, int(rest))


def page_paced(sock, request, rest):
    """At the pace of a gigabit a second, as a link has it."""
    pace(sock, 125000000)
    page_big(sock, request, rest)


def page_paced10(sock, request, rest):
    pace(sock, 1250000000)
    page_big(sock, request, rest)


def page_chunked(sock, request, rest):
    sock.sendall(head("200 OK", None, ["Transfer-Encoding: chunked"]))
    for n in range(int(rest)):
        sock.sendall(b"5\r\n%04d\n\r\n" % n)
    sock.sendall(b"0\r\n\r\n")


def page_to(sock, request, rest):
    where = bytes.fromhex(rest).decode()
    sock.sendall(head("302 Found", 0, ["Location: " + where]))


def page_loop(sock, request, rest):
    sock.sendall(head("302 Found", 0, ["Location: /loop/%d" % (
        int(rest) + 1)]))


def page_status(sock, request, rest):
    body = b"status %s\n" % rest.encode()
    sock.sendall(head(rest + " Some", len(body)) + body)


def page_echo(sock, request, rest):
    body = json.dumps(request).encode()
    sock.sendall(head("200 OK", len(body),
                      ["Content-Type: application/json"]) + body)


def page_slow(sock, request, rest):
    time.sleep(float(rest))
    sock.sendall(head("200 OK", 5) + b"slow\n")


def page_stall(sock, request, rest):
    """A part of a body, and then nothing."""
    sock.sendall(head("200 OK", 1000000) + b"begun\n")
    sock.settimeout(float(rest))
    sock.recv(1)
    raise Closed


def page_close(sock, request, rest):
    raise Closed


def page_extra(sock, request, rest):
    """An answer, and one that nobody asked for."""
    sock.sendall(head("200 OK", 4) + b"one\n" + head("200 OK", 4) + b"two\n")


def page_twice(sock, request, rest):
    """Two lengths: whoever relays it must choose, and must not."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"
                 b"Content-Length: 8\r\n\r\none\ntwo\n")


def page_headers(sock, request, rest):
    sock.sendall(head("200 OK", 3, ["X-Large-%d: %s" % (n, "x" * 1000)
                                    for n in range(int(rest))]) + b"ok\n")


def page_secret(sock, request, rest):
    body = b"token: ghp_" + b"A1b2" * 9 + b"\n"
    sock.sendall(head("200 OK", len(body)) + body)


PAGES = {"big": page_big, "paced": page_paced, "paced10": page_paced10,
         "chunked": page_chunked, "to": page_to,
         "loop": page_loop, "status": page_status, "echo": page_echo,
         "slow": page_slow, "stall": page_stall, "close": page_close,
         "extra": page_extra, "twice": page_twice, "headers": page_headers,
         "secret": page_secret}


def answer(sock, request):
    target = request["target"]
    if target.startswith("http://"):
        target = "/" + target.split("/", 3)[3]
    path = target.split("?")[0]
    parts = path.split("/", 2)
    if request["headers"].get("upgrade") and parts[1] == "upgrade":
        sock.sendall(head("101 Switching Protocols", None, [
            "Upgrade: " + request["headers"]["upgrade"],
            "Connection: Upgrade"]))
        return
    page = PAGES.get(parts[1])
    if page is not None:
        page(sock, request, parts[2] if len(parts) > 2 else "")
        return
    if path == "/ok":
        body = b"ok from %s\n" % request["headers"].get("host", "").encode()
    else:
        name = os.path.normpath(os.path.join(WWW, path.lstrip("/")))
        if os.path.isdir(name):
            name += "/index.html"
        try:
            with open(name, "rb") as f:
                body = f.read()
        except OSError:
            sock.sendall(head("404 Not Found", 6) + b"no, 4\n")
            return
        if name.endswith(".html"):
            sock.sendall(head("200 OK", len(body), ["Content-Type: text/html"])
                         + (b"" if request["method"] == "HEAD" else body))
            return
    sock.sendall(head("200 OK", len(body)) +
                 (b"" if request["method"] == "HEAD" else body))


def serve_http(sock, record):
    reader = Reader(sock, record)
    while True:
        lines = reader.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = (lines[0].split(" ", 2) + ["", ""])[:3]
        headers = {}
        for l in lines[1:]:
            k, _, v = l.partition(":")
            headers[k.strip().lower()] = v.strip()
        request = {"method": method, "target": target, "headers": headers,
                   "sni": record["sni"]}
        with lock:
            record["requests"].append(request)
        if headers.get("expect", "").lower() == "100-continue":
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request["body"] = body_of(reader, headers).decode("latin-1")
        answer(sock, request)
        if headers.get("connection", "").lower() == "close":
            return


def serve_echo(sock, record):
    reader = Reader(sock, record)
    while True:
        reader.fill()
        sock.sendall(reader.buffer)
        reader.buffer = b""


# ---- connections ----

def serve(sock, port, record):
    sock.settimeout(300)
    if port in SPEAKS_FIRST:
        sock.sendall(SPEAKS_FIRST[port])
    first = sock.recv(4, socket.MSG_PEEK)
    if first[:1] == b"\x16":
        record["kind"] = "tls"

        def name(tls, sni, context):
            record["sni"] = sni
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERT, KEY)
        context.sni_callback = name
        sock = context.wrap_socket(sock, server_side=True)
        sock.settimeout(300)
        serve_http(sock, record)
    elif first in METHODS:
        record["kind"] = "http"
        serve_http(sock, record)
    elif first:
        record["kind"] = "raw"
        serve_echo(sock, record)


def connection(sock, port, record):
    try:
        serve(sock, port, record)
    except (Closed, OSError, ValueError, IndexError) as e:
        record["error"] = repr(e)
    finally:
        record["open"] = False
        sock.close()


def listen(address, family, port):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((address, port))
    s.listen(4096)
    waiting = select.poll()
    waiting.register(s, select.POLLIN)

    def loop():
        while True:
            waiting.poll()
            # what is accepted is known as well: see all_accepted()
            with lock:
                c, who = s.accept()
                record = {"to": c.getsockname()[0], "port": port,
                          "from": who[0], "kind": "", "sni": None,
                          "requests": [], "raw": "", "bytes": 0, "open": True}
                state["connections"].append(record)
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=connection, args=(c, port, record),
                             daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


# ---- names ----

TYPES = {1: "A", 28: "AAAA"}


def encode_name(name):
    return b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")
                    if l) + b"\0"


def answers_to(name, kind):
    """(code, records of (type, data)), or None for no answer at all."""
    with lock:
        entry = state["zone"].get(name)
        if entry is None:
            return 3, []
        if entry.get("silent"):
            return None
        if entry.get("code"):
            return entry["code"], []
        found = []
        if entry.get("cname"):
            found.append((5, encode_name(entry["cname"])))
            entry = state["zone"].get(entry["cname"], {})
        lists = entry.get(kind, [])
        # what is asked again gets the next list: the last one stays
        addresses = lists[0] if lists else []
        if len(lists) > 1:
            lists.pop(0)
    family = socket.AF_INET if kind == "A" else socket.AF_INET6
    number = 1 if kind == "A" else 28
    return 0, found + [(number, socket.inet_pton(family, a))
                       for a in addresses]


def resolve(query, how, to):
    """The answer to a query, or None."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    number = struct.unpack_from("!H", query, at + 1)[0]
    question = query[12:at + 5]
    name = ".".join(labels).lower()
    with lock:
        state["queries"].append({"name": name, "type": TYPES.get(
            number, str(number)), "by": how, "to": to})
    found = answers_to(name, TYPES[number]) if number in TYPES else (0, [])
    if found is None:
        return None
    code, records = found
    out = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records),
                                  0, 0) + question
    owner = b"\xc0\x0c"
    for number, data in records:
        out += owner + struct.pack("!HHIH", number, 1, 0, len(data)) + data
        if number == 5:
            owner = data
    return out


def names_udp(s, address):
    while True:
        query, who = s.recvfrom(4096)
        try:
            out = resolve(query, "udp", address)
        except (IndexError, struct.error):
            continue
        if out is not None:
            s.sendto(out, who)


def names_tcp(s, address):
    while True:
        c, _ = s.accept()
        c.settimeout(5)
        try:
            n = struct.unpack("!H", c.recv(2, socket.MSG_WAITALL))[0]
            out = resolve(c.recv(n, socket.MSG_WAITALL), "tcp", address)
            if out is not None:
                c.sendall(struct.pack("!H", len(out)) + out)
        except (OSError, IndexError, struct.error):
            pass
        c.close()


# ---- control ----

def backlog():
    """Connections that nobody has accepted yet."""
    found = 0
    for name in ("tcp", "tcp6"):
        with open("/proc/self/net/" + name) as f:
            for words in map(str.split, list(f)[1:]):
                if words[3] == "0A":
                    found += int(words[4].partition(":")[2], 16)
    return found


def all_accepted():
    """What has connected is in the list, or soon will be if many come."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with lock:
            if backlog() == 0:
                return
        time.sleep(0.001)


def command(c):
    if c["do"] != "zone":
        all_accepted()
    with lock:
        if c["do"] == "zone":
            state["zone"].update(c["names"])
        elif c["do"] == "seen":
            return {k: state[k] for k in ("connections", "queries")}
        elif c["do"] == "forget":
            state["connections"] = []
            state["queries"] = []
        elif c["do"] == "count":
            return {"open": sum(r["open"] for r in state["connections"]),
                    "all": len(state["connections"])}
    return {}


def main():
    global WWW, CERT, KEY
    directory = sys.argv[1]
    WWW = os.path.join(directory, "www")
    CERT = os.path.join(directory, "cert.pem")
    KEY = os.path.join(directory, "key.pem")
    new_net = 0x40000000
    if ctypes.CDLL(None, use_errno=True).unshare(new_net) == -1:
        raise OSError(ctypes.get_errno(), "unshare")
    try:
        with open("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "w") as f:
            f.write("0")
    except OSError:
        pass
    lo_up()
    add_addresses((RESOLVER,) + PUBLIC + FORBIDDEN + PRIVATE)
    threading.stack_size(256 * 1024)
    for port in PORTS:
        listen("0.0.0.0", socket.AF_INET, port)
        listen("::", socket.AF_INET6, port)
    for address in (RESOLVER, "0.0.0.0"):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        udp.bind((address, 53))
        tcp = socket.create_server((address, 53), reuse_port=True)
        for names, s in ((names_udp, udp), (names_tcp, tcp)):
            threading.Thread(target=names, args=(s, address),
                             daemon=True).start()
    # an address of IPv6 is tentative for a moment, and can't be used then
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as s:
            try:
                s.bind((PUBLIC[2], 0))
                break
            except OSError:
                time.sleep(0.01)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(command(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
