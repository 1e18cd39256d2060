#!/usr/bin/env python3
"""Tells an operator that an approval waits, on the desktop or by mail.

    myelinctl approvals watch --exec notify.py -- desktop
    myelinctl approvals watch --exec notify.py -- mail alice@example.org

One approval comes as JSON on standard input, as "myelinctl approvals watch"
hands it over.  It tells what waits and where to look; deciding needs
myelinctl.

What an approval says comes from whoever asked: the command, names, reasons.
No shell sees any of it, no header of a mail holds any of it, and the markup of
a notification none but escaped.  All of it is printable ASCII, shortened, and
what is not ASCII is written as an escape, as myelinctl shows it.
"""
import datetime
import email.message
import email.utils
import html
import json
import os
import re
import shutil
import subprocess
import sys

INPUT_MAX = 1024 * 1024
SECONDS = 10            # the watch ends us after 15
VALUE_MAX = 200         # characters of one value, as escaped
WIDTH = 68              # of a line of a mail
ID = re.compile(r"a-[0-9a-z]{20}")
# The address that was asked for goes into a header, and to sendmail.
ADDRESS = re.compile(r"[A-Za-z0-9_.+][A-Za-z0-9_.+=-]{0,63}"
                     r"(@[A-Za-z0-9.-]{1,255})?")


def visible(value):
    """Printable ASCII of any value; whatever else is there, as an escape."""
    out = []
    for c in str(value):
        if c == "\n":
            out.append("\\n")
        elif " " <= c <= "~":
            out.append("\\\\" if c == "\\" else c)
        elif ord(c) < 0x80:
            out.append("\\x%02x" % ord(c))
        else:
            out.append("\\u{%x}" % ord(c))
    text = "".join(out)
    return text if len(text) <= VALUE_MAX else text[:VALUE_MAX] + " [...]"


def rows(approval):
    """What there is to say, as (name, escaped value)."""
    left = approval.get("expires_in_ms")
    if isinstance(left, int) and left >= 0:
        yield "time left", "%d s" % (left // 1000)
    for name, key in (("asked by", "principal"), ("tool", "tool"),
                      ("effect", "effect"), ("why it asks", "reason"),
                      ("workspace", "workspace"), ("command", "command")):
        value = approval.get(key)
        if isinstance(value, str) and value:
            yield name, visible(value)


def find(program, where=""):
    path = shutil.which(program, path=os.environ.get(
        "PATH", "/usr/bin:/bin") + where)
    if path is None:
        sys.exit("notify: %s is not installed" % program)
    return path


def run(argv, data=None):
    # arguments, no shell
    r = subprocess.run(argv, input=data, timeout=SECONDS,
                       stdin=subprocess.DEVNULL if data is None else None)
    if r.returncode != 0:
        sys.exit("notify: %s: exit status %d" % (argv[0], r.returncode))


def desktop(approval, ident):
    body = ident + "\n" + "\n".join("%s: %s" % row for row in rows(approval))
    # A notification's body is markup, and notify-send itself reads C's
    # escapes in it, after which \074 would be a tag.
    body = html.escape(body, quote=True).replace("\\", "\\\\")
    run([find("notify-send"), "--app-name=Myelin", "--urgency=critical",
         "--category=im", "--", "Myelin: an approval waits", body])


def folded(name, value):
    """A value behind its name, each line of it with a prefix of ours."""
    yield name + ":"
    for at in range(0, len(value), WIDTH):
        yield "  | " + value[at:at + WIDTH]


def mail(approval, ident, to):
    if not ADDRESS.fullmatch(to):
        sys.exit("notify: mail to %s: that is no address" % visible(to))
    m = email.message.EmailMessage()
    m["To"] = to
    m["Subject"] = "Myelin: approval %s waits" % ident
    m["Date"] = email.utils.format_datetime(
        datetime.datetime.now(datetime.timezone.utc))
    m["Auto-Submitted"] = "auto-generated"
    lines = ["A call waits for a decision.", ""]
    for name, value in rows(approval):
        lines += folded(name, value)
    lines += ["", "Look at all of it before you decide:", "",
              "    myelinctl approvals show " + ident, ""]
    m.set_content("\n".join(lines), charset="us-ascii", cte="7bit")
    # -oi: a lone dot is no end.  The recipient is not taken from the headers.
    run([find("sendmail", ":/usr/sbin:/usr/lib"), "-oi", "--", to],
        m.as_bytes())


def main(argv):
    if argv == ["desktop"]:
        tell = desktop
    elif len(argv) == 2 and argv[0] == "mail":
        def tell(approval, ident):
            mail(approval, ident, argv[1])
    else:
        sys.exit("usage: notify.py desktop | mail ADDRESS")
    data = sys.stdin.buffer.read(INPUT_MAX + 1)
    if len(data) > INPUT_MAX:
        sys.exit("notify: more than %d bytes" % INPUT_MAX)
    try:
        approval = json.loads(data)
    except (ValueError, RecursionError):
        sys.exit("notify: standard input is no JSON")
    ident = approval.get("approval") if isinstance(approval, dict) else None
    if not isinstance(ident, str) or not ID.fullmatch(ident):
        sys.exit("notify: standard input is no approval")
    try:
        tell(approval, ident)
    except (OSError, subprocess.SubprocessError) as e:
        sys.exit("notify: %s" % e)


if __name__ == "__main__":
    main(sys.argv[1:])
