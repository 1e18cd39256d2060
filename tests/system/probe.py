"""What an attacker in a neuron would write: a client of egressd's listeners
that says whatever it is told to.  The same code runs outside as a control.

Results are plain: what can be printed as JSON.
"""
import json
import os
import socket
import ssl
import struct
import time

PROXY = ("127.0.0.1", 3128)
SECONDS = 10


def word(e):
    """An error's short name: ENETUNREACH, timeout, ..."""
    import errno
    if isinstance(e, (socket.timeout, TimeoutError)):
        return "timeout"
    if isinstance(e, ssl.SSLError):
        return "ssl"
    return errno.errorcode.get(getattr(e, "errno", None), repr(e))


def read_all(s, most=1 << 26):
    """Until its end, or until nothing comes any more."""
    data = b""
    try:
        while len(data) < most:
            d = s.recv(65536)
            if not d:
                break
            data += d
    except OSError as e:
        return data, word(e)
    return data, "end"


def reach(address, port, kind=socket.SOCK_STREAM, proto=0, seconds=3):
    """connect(2) to an address: "connected" or why not."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, kind, proto) as s:
            s.settimeout(seconds)
            s.connect((address, port))
            return "connected"
    except OSError as e:
        return word(e)


def raw(data, to=PROXY, seconds=SECONDS, parts=None):
    """Sends bytes, gives all that comes back, and how it ended."""
    with socket.create_connection(to, timeout=seconds) as s:
        try:
            for part in parts or [data]:
                s.sendall(part)
                if parts:
                    time.sleep(0.02)
        except OSError:
            pass
        out, end = read_all(s)
    return out.decode("latin-1"), end


def response(text):
    """{status, headers, body, json} of what a proxy answered."""
    head, _, body = text.partition("\r\n\r\n")
    lines = head.split("\r\n")
    try:
        status = int(lines[0].split(" ")[1])
    except (IndexError, ValueError):
        status = 0
    r = {"status": status, "body": body, "line": lines[0],
         "headers": {l.partition(":")[0].lower(): l.partition(":")[2].strip()
                     for l in lines[1:]}}
    try:
        r["json"] = json.loads(body)
    except ValueError:
        r["json"] = None
    return r


def ask(text, **more):
    """One request, the connection closed after it, its answer."""
    begin = time.monotonic()
    out, end = raw(text if isinstance(text, bytes) else
                   text.encode("latin-1"), **more)
    r = response(out)
    r["seconds"] = time.monotonic() - begin
    r["end"] = end
    return r


def get(url, method="GET", more="", body="", **how):
    """A plain request by the proxy, in absolute form."""
    host = url.split("/")[2]
    return ask("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n%s" %
               (method, url, host, more, body), **how)


def head_of(s):
    """An answer's head; what follows it, a tunnel's first bytes, stays."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        d = s.recv(1)
        if not d:
            break
        data += d
    return data


def connect(host, port=443, more="", first=b"", seconds=SECONDS):
    """CONNECT: the socket, if it is a tunnel now, and the answer."""
    s = socket.create_connection(PROXY, timeout=seconds)
    target = host if isinstance(host, bytes) else host.encode("latin-1")
    s.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n%s" % (
        target, port, target, port, more.encode("latin-1"), first))
    data = head_of(s)
    r = response(data.decode("latin-1"))
    if r["status"] != 200:
        n = int(r["headers"].get("content-length", "0"))
        text = data.decode("latin-1")
        while len(text.partition("\r\n\r\n")[2]) < n:
            d = s.recv(4096).decode("latin-1")
            if not d:
                break
            text += d
        r = response(text)
        s.close()
        return None, r
    return s, r


def tunnel(host, port=443, **more):
    """Only the answer to a CONNECT."""
    s, r = connect(host, port, **more)
    if s is not None:
        s.close()
    return r


def through(s, data, seconds=5):
    """Sends bytes through a tunnel; what came back, and how it ended."""
    s.settimeout(seconds)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    except OSError as e:
        return "", word(e)
    out, end = read_all(s)
    return out.decode("latin-1"), end


def context():
    return ssl.create_default_context(
        cafile="/etc/ssl/certs/ca-certificates.crt")


def tls_get(s, name, host=None, path="/ok", verify=True, seconds=SECONDS):
    """A request inside TLS, on any socket: {status ...} or {error}."""
    c = context()
    if not verify or name is None:
        c.check_hostname = False
        c.verify_mode = ssl.CERT_NONE
    s.settimeout(seconds)
    try:
        with c.wrap_socket(s, server_hostname=name) as t:
            t.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
                       "\r\n" % (path, host or name)).encode())
            return response(read_all(t)[0].decode("latin-1"))
    except (OSError, ssl.SSLError) as e:
        return {"status": 0, "error": word(e)}


def https(host, name=None, port=443, path="/ok", **more):
    """GET by CONNECT and TLS; with name, the SNI says another one."""
    s, r = connect(host, port)
    if s is None:
        return r
    return tls_get(s, name or host, path=path, **more)


def straight(address, name, host=None, port=443, path="/ok", seconds=SECONDS,
             **more):
    """GET with TLS to an address, as by a client that knows no proxy."""
    try:
        s = socket.create_connection((address, port), timeout=seconds)
    except OSError as e:
        return {"status": 0, "error": word(e)}
    return tls_get(s, name, host, path, seconds=seconds, **more)


def tried(what):
    """What it gives, or the error that it failed with."""
    try:
        return what()
    except OSError as e:
        return {"status": 0, "error": word(e)}


# ---- TLS by hand ----

def extension(number, data):
    return struct.pack("!HH", number, len(data)) + data


def sni(*names):
    entries = b"".join(b"\0" + struct.pack("!H", len(n)) + n for n in names)
    return extension(0, struct.pack("!H", len(entries)) + entries)


def hello(*extensions, pad=0, share=True):
    """A ClientHello with these extensions, in one record.  Without a share of
    a key the server has to ask for a second one."""
    body = b"\x03\x03" + os.urandom(32) + b"\0" + \
        struct.pack("!H", 4) + b"\x13\x01\xc0\x2f" + b"\x01\0"
    more = b"".join(extensions)
    if pad:
        more += extension(21, bytes(pad))
    more += extension(43, b"\x02\x03\x04") + \
        extension(10, b"\0\x02\0\x1d") + \
        extension(13, b"\0\x02\x04\x03") + \
        extension(51, b"\0\x24\0\x1d\0\x20" + os.urandom(32) if share else
                  b"\0\0")
    body += struct.pack("!H", len(more)) + more
    message = b"\x01" + struct.pack("!I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack("!H", len(message)) + message


def records(data, size):
    """The same handshake message, spread over records of at most size."""
    message = data[5:]
    return b"".join(
        b"\x16\x03\x01" + struct.pack("!H", len(message[n:n + size])) +
        message[n:n + size] for n in range(0, len(message), size))


def handshake(host, parts, port=443, seconds=5):
    """These bytes through a tunnel: does a server's TLS answer come back?"""
    s, r = connect(host, port)
    if s is None:
        return "refused %d" % r["status"]
    s.settimeout(seconds)
    try:
        for part in parts:
            s.sendall(part)
            time.sleep(0.005)
        first = s.recv(4096)
    except OSError as e:
        return "cut" if word(e) in ("ECONNRESET", "EPIPE") else word(e)
    finally:
        s.close()
    if first[:1] == b"\x16":
        return "answered"
    return "cut" if first[:1] in (b"", b"\x15") else repr(first)


def record(s):
    data = b""
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[3:5], "big"):
        d = s.recv(1)
        if not d:
            break
        data += d
    return data


def again(s, second, first, early=b"", seconds=5):
    """What a server says to a second ClientHello, if it asks for one."""
    s.settimeout(seconds)
    try:
        s.sendall(first)
        if early:
            s.sendall(early)
        asked = record(s)
        if asked[11:15] != b"\xcf\x21\xad\x74":
            return "not asked: %r" % asked
        s.sendall(second)
        said = record(s)
        while said[:1] == b"\x14":
            said = record(s)
    except OSError as e:
        return "cut" if word(e) in ("ECONNRESET", "EPIPE") else word(e)
    finally:
        s.close()
    return "answered" if said[:1] == b"\x16" else "cut"


# ---- SOCKS5 ----

def socks(host, port, kind=3, seconds=SECONDS, method=b"\x05\x01\x00"):
    """The socket, if it was let through, and the number of the answer."""
    s = socket.create_connection(PROXY, timeout=seconds)
    s.sendall(method)
    chosen = s.recv(2)
    if chosen != b"\x05\x00":
        s.close()
        return None, -1
    if kind == 3:
        name = host if isinstance(host, bytes) else host.encode()
        address = bytes([len(name)]) + name
    else:
        address = socket.inet_pton(
            socket.AF_INET if kind == 1 else socket.AF_INET6, host)
    s.sendall(b"\x05\x01\x00" + bytes([kind]) + address +
              struct.pack("!H", port))
    try:
        answer = s.recv(512)
    except OSError:
        answer = b""
    if len(answer) < 2:
        s.close()
        return None, -2
    if answer[1] != 0:
        s.close()
        return None, answer[1]
    return s, 0


def socks_number(host, port=443, **more):
    s, number = socks(host, port, **more)
    if s is not None:
        s.close()
    return number


# ---- names ----

def dns(name, kind=1, to=("127.0.0.1", 53), seconds=3):
    """{code, addresses} of an answer, or {error}."""
    labels = name if isinstance(name, bytes) else b"".join(
        bytes([len(l)]) + l.encode("latin-1")
        for l in name.rstrip(".").split(".")) + b"\0"
    query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0" + labels + \
        struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(seconds)
        try:
            s.connect(to)
            s.send(query)
            out = s.recv(4096)
        except OSError as e:
            return {"error": word(e)}
    count = struct.unpack("!H", out[6:8])[0]
    addresses, at = [], len(query)
    for _ in range(count):
        number, _, _, n = struct.unpack("!HHIH", out[at + 2:at + 12])
        data = out[at + 12:at + 12 + n]
        at += 12 + n
        if number in (1, 28):
            addresses.append(socket.inet_ntop(
                socket.AF_INET if number == 1 else socket.AF_INET6, data))
    return {"code": out[3] & 15, "addresses": addresses}
