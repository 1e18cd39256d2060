"""Hosts and addresses against a second implementation, on generated inputs.

egressd's canonical form of a host and its class of an address are compared
with what Python's ipaddress module and idna codec make of the same bytes.
"""
import ipaddress
import os
import random
import re
import subprocess
import unittest

from harness import BUILD

DRIVER = os.path.join(BUILD, "tests", "unit", "egress_canonical")
EACH = 50000
SEED = 20261130

NET = ipaddress.ip_network
METADATA = {ipaddress.ip_address(a) for a in (
    "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")}
PRIVATE = [NET(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                            "100.64.0.0/10", "fc00::/7")]
RESERVED = [NET(n) for n in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23",
                             "2001:db8::/32", "3fff::/20")]
GIVEN_OUT = NET("2000::/3")
EMBEDDING = [(NET(n), at) for n, at in (
    ("::ffff:0:0/96", 12), ("::ffff:0:0:0/96", 12), ("::/96", 12),
    ("2002::/16", 2))]
NAT64 = NET("64:ff9b::/96")
NAT64_LOCAL = NET("64:ff9b:1::/48")
TEREDO = NET("2001::/32")


# ---- the second implementation ---------------------------------------------

def class_of(a):
    if a in METADATA:
        return "metadata"
    for word, yes in (("unspecified", a.is_unspecified),
                      ("loopback", a.is_loopback)):
        if yes:
            return word
    if a.version == 6:
        inner = class_inside(a)
        if inner is not None:
            return inner
    for word, yes in (("link-local", a.is_link_local),
                      ("multicast", a.is_multicast),
                      ("private", any(a in n for n in PRIVATE if
                                      n.version == a.version))):
        if yes:
            return word
    if any(a in n for n in RESERVED if n.version == a.version):
        return "reserved"
    if a.version == 6:
        return "public" if a in GIVEN_OUT else "reserved"
    return "public" if a.is_global else "reserved"


def class_inside(a):
    """The class of an address that holds one of IPv4, or None."""
    outer = "embedded"
    raw = a.packed
    at = next((at for net, at in EMBEDDING if a in net), None)
    if at is None and a in NAT64:
        at, outer = 12, "public"
    if at is None and (a in TEREDO or a in NAT64_LOCAL):
        return outer
    if at is None and raw[8] & 0xfd == 0 and raw[9] == 0 and \
            raw[10:12] == b"\x5e\xfe" and (a in GIVEN_OUT and not any(
                a in n for n in RESERVED if n.version == 6) or
                a in PRIVATE[-1]):
        at = 12
    if at is None:
        return None
    inner = class_of(ipaddress.IPv4Address(raw[at:at + 4]))
    if inner == "public":
        return outer
    return "embedded" if inner == "private" else inner


def shown(a):
    return "address %s %s" % (a.packed.hex(), class_of(a))


def address(data):
    try:
        text = data.decode("ascii")
        if "%" in text or "/" in text:
            raise ValueError(text)
        return shown(ipaddress.ip_address(text))
    except ValueError:
        return "bad_address"


LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")


def ascii_host(text, mapped):
    text = text.lower()
    labels = text.split(".")
    last = labels[-2] if labels[-1] == "" and len(labels) > 1 else labels[-1]
    if NUMBER.match(last):
        try:
            if mapped:
                raise ValueError(text)
            return shown(ipaddress.IPv4Address(text))
        except ValueError:
            return "bad_address"
    if labels[-1] == "" and len(labels) > 1:
        labels.pop()
    if len(".".join(labels)) > 253 or not all(LABEL.match(label) for label in
                                              labels):
        return "bad_host"
    return "name " + ".".join(labels)


def host(data):
    if len(data) > 254:
        return "bad_host"
    if data.startswith(b"["):
        try:
            text = data.decode("ascii")
            if not text.endswith("]") or "%" in text or "/" in text:
                raise ValueError(text)
            return shown(ipaddress.IPv6Address(text[1:-1]))
        except ValueError:
            return "bad_address"
    try:
        return ascii_host(data.decode("ascii"), False)
    except UnicodeDecodeError:
        pass
    try:
        text = data.decode("utf-8").encode("idna").decode("ascii")
    except UnicodeError:
        return "bad_host"
    return ascii_host(text, True)


# ---- inputs ----------------------------------------------------------------

ASCII = [chr(c) for c in range(128)]
LDH = list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
LETTERS = list("abcxyzABCXYZ019")
# On these both standards (IDNA 2003 there, UTS 46 here) agree.
LATIN = [chr(c) for c in range(0xc0, 0x180) if c not in (
    0xd7, 0xdf, 0xf7, 0x130, 0x132, 0x133, 0x13f, 0x140, 0x149)]
GREEK = [chr(c) for c in range(0x391, 0x3ca) if c not in (0x3a2, 0x3c2)]
CYRILLIC = [chr(c) for c in range(0x400, 0x450)]
HAN = [chr(c) for c in range(0x4e00, 0x4f00)]
HANGUL = [chr(c) for c in range(0xac00, 0xad00)]
WIDE = [chr(c) for c in range(0xff10, 0xff1a)] + \
    [chr(c) for c in range(0xff21, 0xff3b)] + \
    [chr(c) for c in range(0xff41, 0xff5b)]
DOTS = [".", ".", ".", "\u3002", "\uff0e", "\uff61"]
AGREED = LATIN + GREEK + CYRILLIC + HAN + HANGUL + WIDE + ["\xad"]
# The standards differ on these; so do Unicode's versions on the unassigned.
ANY = "\xdf\u03c2\u200c\u200d\u0130\u05d0\u0627\u0301\u2100\u2488\u2603" \
      "\ufeff\u202e\uff20\uff05\uff0f\U0001f600\U000e0001\u1e9e\u0660\u2024"
# Of these, those that both map in the same way where both take them.
OLD = set(ANY) - set("\xdf\u1e9e\u03c2\u200c\u200d")
TRICKS = [b"evil.com\0.ok.com", b"ok.com.", b"ok.com..", b"OK.com",
          b"ok.com@evil", b"u:p@ok.com", b"ok%2ecom", b"ok.com\t",
          b"ok.com\r\n", b"[ok.com]", b"2130706433", b"0x7f.1", b"0177.0.0.1",
          b"127.1", b"[::ffff:127.0.0.1]", b"[::127.0.0.1]",
          b"[64:ff9b::a9fe:a9fe]", b"[2002:7f00:1::]", b"[fe80::1%lo]",
          b"100.64.0.1", b"0.1.2.3", b"240.0.0.1", b"", b".", b"[", b"[]"]


def word(r, letters, most):
    return "".join(r.choice(letters) for _ in range(r.randint(1, most)))


def a_name(r):
    return ".".join(word(r, LDH, r.choice((3, 10, 62, 66)))
                    for _ in range(r.choice((1, 2, 3, 4, 5)))).encode()


def a_wide_name(r):
    kinds = (LATIN, GREEK, CYRILLIC, HAN, HANGUL, WIDE)
    text = ""
    for i in range(r.randint(1, 4)):
        letters = r.choice(kinds) if r.random() < 0.7 else LETTERS
        text += (r.choice(DOTS) if i else "") + word(r, letters, 8)
        if r.random() < 0.1:
            text += "\xad" + r.choice(LETTERS)
    return (text + r.choice(("", "", "", r.choice(DOTS)))).encode()


def a_number(r):
    forms = ("%d", "%d", "%d", "0%o", "0x%x", "0X%X", "0%d", "%d ", "+%d")
    parts = [r.choice(forms) % r.choice((r.randrange(256), r.randrange(300),
                                         r.randrange(1 << 32), 0, 127))
             for _ in range(r.choice((1, 2, 3, 4, 4, 4, 4, 5)))]
    return (".".join(parts) + r.choice(("", "", "", ".", ".com"))).encode()


def text_of_v6(r, a):
    text = r.choice((str(a), a.exploded, str(a).upper()))
    if r.random() < 0.2:
        head = a.exploded.rsplit(":", 2)[0]
        text = head + ":" + str(ipaddress.IPv4Address(a.packed[12:]))
    if r.random() < 0.1:
        at = r.randrange(len(text) + 1)
        text = text[:at] + r.choice(":.%/x0fG ") + text[at:]
    return text


PREFIXES = ["::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96",
            "64:ff9b:1::/48", "100::/64", "2001::/32", "2001::/23",
            "2001:db8::/32", "2002::/16", "2000::/3", "3fff::/20",
            "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
            "::/0", "::/8", "2a00::5efe:0:0/96", "2a00::200:5efe:0:0/96",
            "fd00::5efe:0:0/96", "fe80::5efe:0:0/96"]
V4 = [NET(n) for n in ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10",
                       "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
                       "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
                       "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
                       "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
                       "0.0.0.0/0")]


def within(r, net):
    """An address of a net, of its edges, or just beyond them."""
    size = net.num_addresses
    at = int(net.network_address) + r.choice((0, size - 1, -1, size,
                                              r.randrange(size)))
    kind = ipaddress.IPv4Address if net.version == 4 else \
        ipaddress.IPv6Address
    return kind(at % (1 << net.max_prefixlen))


def a_v4(r):
    if r.random() < 0.05:
        return r.choice(sorted(a for a in METADATA if a.version == 4))
    return within(r, r.choice(V4))


def a_v6(r):
    if r.random() < 0.02:
        return r.choice(sorted(a for a in METADATA if a.version == 6))
    net = NET(r.choice(PREFIXES))
    a = within(r, net)
    if net.prefixlen in (96, 16) and r.random() < 0.7:
        raw = bytearray(a.packed)
        at = 12 if net.prefixlen == 96 else 2
        raw[at:at + 4] = a_v4(r).packed
        a = ipaddress.IPv6Address(bytes(raw))
    return a


def an_address(r):
    if r.random() < 0.4:
        return str(a_v4(r)).encode()
    if r.random() < 0.2:
        return a_number(r)
    return text_of_v6(r, a_v6(r)).encode()


def a_mess(r):
    data = bytearray(r.choice((a_name, a_number, a_wide_name,
                               lambda r: r.choice(TRICKS)))(r))
    for _ in range(r.randint(1, 3)):
        at = r.randrange(len(data) + 1)
        data[at:at + r.randint(0, 1)] = r.choice(ASCII).encode()
    return bytes(data)


def a_stranger(r):
    text = list(a_wide_name(r).decode())
    for _ in range(r.randint(1, 2)):
        text.insert(r.randrange(len(text) + 1), r.choice(ANY) if
                    r.random() < 0.7 else chr(r.choice((
                        r.randrange(0x80, 0xd800),
                        r.randrange(0xe000, 0x30000)))))
    return "".join(text).encode()


def a_host(r):
    x = r.random()
    if x < 0.03:
        return r.choice(TRICKS)
    if x < 0.3:
        return a_name(r)
    if x < 0.4:
        return a_wide_name(r)
    if x < 0.6:
        return a_number(r)
    if x < 0.8:
        return b"[" + an_address(r) + b"]"
    return a_mess(r)


# ---- the comparison --------------------------------------------------------

def driven(kind, inputs):
    text = "".join("%s %s\n" % (kind, data.hex()) for data in inputs)
    p = subprocess.run([DRIVER], input=text.encode(), timeout=60,
                       stdout=subprocess.PIPE, check=True)
    answers = p.stdout.decode().splitlines()
    assert len(answers) == len(inputs)
    return answers


def is_open(data):
    """Where the standards may differ: see AGREED."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    if text.isascii():
        return False
    return "xn--" in text.lower() or "-" in text or "_" in text or any(
        not c.isalnum() if c.isascii() else c not in AGREED
        for c in text if c not in DOTS)


class Hosts(unittest.TestCase):
    def test_hosts(self):
        r = random.Random(SEED)
        inputs = [a_host(r) for _ in range(EACH)]
        kinds = {}
        for data, got in zip(inputs, driven("host", inputs)):
            want = host(data)
            if got != want and is_open(data):
                # They may differ on what is a name, never on which one.
                self.assertIn("bad_", got + want, data)
                continue
            self.assertEqual(got, want, data)
            key = got.split()[0] + (" wide" if not data.isascii() else "")
            kinds[key] = kinds.get(key, 0) + 1
        for key in ("name", "name wide", "address", "bad_host",
                    "bad_address", "bad_host wide", "bad_address wide"):
            self.assertGreater(kinds.get(key, 0), 50, kinds)

    def test_addresses(self):
        r = random.Random(SEED + 1)
        inputs = [an_address(r) for _ in range(EACH)]
        kinds = {}
        for data, got in zip(inputs, driven("address", inputs)):
            self.assertEqual(got, address(data), data)
            key = got.split()[-1]
            kinds[key] = kinds.get(key, 0) + 1
        for key in ("public", "private", "embedded", "reserved", "loopback",
                    "link-local", "metadata", "multicast", "unspecified",
                    "bad_address"):
            self.assertGreater(kinds.get(key, 0), 30, kinds)

    def test_strangers(self):
        """Characters on which standards differ: a plain name or none."""
        r = random.Random(SEED + 2)
        inputs = [a_stranger(r) for _ in range(4000)]
        for data, got in zip(inputs, driven("host", inputs)):
            self.assertRegex(got, r"^(bad_host|bad_address|"
                             r"name [a-z0-9_.-]{1,253})$", data)
            want = host(data)
            # Python's tables are those of Unicode 3.2.
            if got.startswith("name ") and want.startswith("name ") and \
                    all(c.isascii() or c in AGREED or c in DOTS or
                        c in OLD for c in data.decode()):
                self.assertEqual(got, want, data)


class Words(unittest.TestCase):
    def test_every_word_is_in_the_page(self):
        top = os.path.dirname(os.path.dirname(os.path.dirname(
            os.path.abspath(__file__))))
        with open(os.path.join(top, "egressd", "refusal.h")) as f:
            words = re.findall(r"^ROW\([A-Z_]+,\s*\"(\w+)\"", f.read(), re.M)
        with open(os.path.join(top, "man", "myelin-api.7")) as f:
            page = f.read().partition(".Ss Egress")[2].partition(".Ss ")[0]
        listed = set()
        for line in re.findall(r"^\.(?:It )?Li (.*)", page, re.M):
            listed |= set(line.split())
        self.assertGreater(len(words), 20)
        self.assertEqual([w for w in words if w not in listed], [])


if __name__ == "__main__":
    unittest.main()
