#!/usr/bin/env python3
"""An agent in one file: a model that works in a neuron (sandbox) of Myelin.

usage: agent.py [options] TASK

It asks any endpoint that speaks OpenAI's chat completions what to do, does it
by Myelin's tools, tells the model what came of it, and ends when the model
answers in words.  It needs nothing but Python.

    export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3
    contrib/examples/agent.py -w ~/src/app "make the tests pass"

The model and its key stay on this side: the neuron sees neither, nor any file
but the workspace.  How many calls it may make is the session's budget, which
Myelin keeps; --calls can only lower it.
"""
import argparse
import http.client
import json
import os
import socket
import sys
import urllib.error
import urllib.request

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
ANSWER_MAX = 16 << 20       # bytes of one answer
TEXT_MAX = 100000           # characters of a tool's result for the model
SYSTEM = """You are a careful software engineer. Work on the task with the \
tools you have; they run in a sandbox. Look before you change something, \
check what you did, then answer in a few words without calling a tool."""


class Failed(Exception):
    """Said to the person, without a trace."""


# ---- Myelin ----

class Myelin(http.client.HTTPConnection):
    """Its API over the Unix socket: sessions by /v1, tools by MCP."""

    def __init__(self, path):
        super().__init__("localhost", timeout=3700)
        self.path = path
        self.session = None
        self.left = 0

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None, headers=None):
        h = dict(headers or {})
        if body is not None:
            h["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        try:
            self.request(method, target, body, h)
            r = self.getresponse()
            data = json.loads(r.read(ANSWER_MAX) or b"null")
        except (OSError, http.client.HTTPException, ValueError) as e:
            self.close()
            raise Failed("Myelin at %s: %s" % (self.path, e))
        return r.status, data

    def open(self, workspace, preset, profile, calls):
        body = {k: v for k, v in (("preset", preset), ("profile", profile))
                if v is not None}
        if workspace is not None:
            body["workspace"] = os.path.realpath(workspace)
            if os.geteuid() == 0:
                st = os.stat(workspace)
                body["owner"] = {"uid": st.st_uid, "gid": st.st_gid}
        status, data = self.ask("POST", "/v1/sessions", body)
        if status != 201:
            raise Failed("no session: %s" % data["error"].get(
                "message", data["error"]["code"]))
        self.session = data["session"]
        self.left = data["calls"]["limit"] - data["calls"]["used"]
        if calls is not None:
            self.left = min(self.left, calls)

    def end(self):
        if self.session is not None:
            self.ask("DELETE", "/v1/sessions/" + self.session)
        self.session = None

    def mcp(self, method, params, name=None):
        """One request of MCP in the session: its result."""
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method,
                   "Myelin-Session": self.session,
                   "Accept": "application/json"}
        if name is not None:
            headers["Mcp-Name"] = name
        params = dict(params, _meta={META + "protocolVersion": VERSION,
                                     META + "clientCapabilities": {}})
        status, data = self.ask("POST", "/mcp", {
            "jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers)
        if "result" not in data:
            error = data["error"]
            raise Failed("%s: %s" % (method, error.get("message",
                                                       error["code"])))
        return data["result"]

    def tools(self):
        """As the model's endpoint wants to hear of them."""
        found, cursor = [], {}
        while True:
            page = self.mcp("tools/list", cursor)
            found += page["tools"]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        return [{"type": "function", "function": {
            "name": t["name"], "description": t["description"],
            "parameters": t["inputSchema"]}} for t in found]

    def call(self, name, arguments):
        """The text of a result; what is refused or fails is text, too."""
        self.left -= 1
        try:
            name.encode("ascii")
            result = self.mcp("tools/call", {
                "name": name, "arguments": arguments}, name)
        except (Failed, UnicodeError) as e:
            return "error: %s" % e
        text = "\n".join(c.get("text", "[%s]" % c["type"])
                         for c in result["content"])
        if len(text) > TEXT_MAX:
            text = text[:TEXT_MAX // 2] + "\n[...]\n" + text[-TEXT_MAX // 2:]
        return text


# ---- the model ----

class Model:
    def __init__(self, url, name, key):
        self.url = url.rstrip("/") + "/chat/completions"
        self.name = name
        self.key = key

    def answer(self, messages, tools):
        body = {"model": self.name, "messages": messages, "tools": tools}
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=600) as r:
                return json.loads(r.read(ANSWER_MAX))["choices"][0]["message"]
        except urllib.error.HTTPError as e:
            raise Failed("the model: %s %s" % (e.code, e.read(500).decode(
                errors="replace")))
        except (OSError, ValueError, LookupError, TypeError) as e:
            raise Failed("the model: %s" % e)


# ---- the loop ----

def arguments_of(call):
    """What the model wrote, or an error for it to read."""
    try:
        arguments = json.loads(call["function"].get("arguments") or "{}")
    except ValueError as e:
        return None, "error: the arguments are not JSON: %s" % e
    if not isinstance(arguments, dict):
        return None, "error: the arguments are not an object"
    return arguments, None


def run(myelin, model, task, say):
    tools = myelin.tools()
    messages = [{"role": "system", "content": SYSTEM},
                {"role": "user", "content": task}]
    while True:
        message = model.answer(messages, tools)
        calls = message.get("tool_calls") or []
        messages.append(message)
        if not calls:
            return message.get("content") or ""
        for call in calls:
            if myelin.left <= 0:
                raise Failed("the session's calls are used up")
            name = call["function"]["name"]
            arguments, text = arguments_of(call)
            if text is None:
                say("%s %s" % (name, json.dumps(arguments)[:300]))
                text = myelin.call(name, arguments)
            say("  " + text[:300].replace("\n", "\n  "))
            messages.append({"role": "tool", "tool_call_id": call["id"],
                             "content": text})


def main():
    p = argparse.ArgumentParser(
        description="An agent that works in a neuron (sandbox) of Myelin.")
    p.add_argument("task")
    p.add_argument("-w", "--workspace", help="a directory to work in")
    p.add_argument("-p", "--profile")
    p.add_argument("--preset")
    p.add_argument("--calls", type=int, help="at most so many calls; the "
                   "session's budget unless it is less")
    p.add_argument("-s", "--socket", default=os.environ.get(
        "MYELIN_SOCKET", "/run/myelin/api.sock"))
    p.add_argument("--url", default=os.environ.get(
        "OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"))
    p.add_argument("--model", default=os.environ.get("OPENAI_MODEL",
                                                     "default"))
    p.add_argument("-q", "--quiet", action="store_true",
                   help="print the answer alone")
    o = p.parse_args()

    def say(text):
        if not o.quiet:
            # what came from a neuron can't drive this terminal
            print("".join(c if c.isprintable() or c == "\n" else "?"
                          for c in text), file=sys.stderr)

    myelin = Myelin(o.socket)
    try:
        myelin.open(o.workspace, o.preset, o.profile, o.calls)
        print(run(myelin, Model(o.url, o.model,
                                os.environ.get("OPENAI_API_KEY")),
                  o.task, say))
    except Failed as e:
        print("agent: %s" % e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        try:
            myelin.end()
        except Failed:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
