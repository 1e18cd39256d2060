"""A model that other people's agents talk to: an endpoint on the loopback that
speaks Anthropic's messages and OpenAI's responses, both streamed.  It asks for
one call of Myelin's tool bash, and when it has what came of that, it ends."""
import http.server
import json
import threading


class Model(http.server.ThreadingHTTPServer):
    """offered holds the names of the tools of each request that had some; came,
    what the agent told of its calls."""
    daemon_threads = True

    def __init__(self, command, words):
        self.command, self.words = command, words
        self.offered, self.came = [], []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, text, kind="application/json"):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        self.answer("".join("event: %s\ndata: %s\n\n" % (
            e["type"], json.dumps(e)) for e in events), "text/event-stream")

    def do_GET(self):
        self.answer("{}")

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(
            self.headers["Content-Length"])) or "{}")
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self.anthropic(body)
        elif path.endswith("/responses"):
            self.openai(body)
        else:
            self.answer("{}")

    def next(self, tools, came):
        """True if the tool is to be called now, else there is an end."""
        if tools:
            self.server.offered.append(tools)
        if came:
            self.server.came.append(came)
        return bool(tools) and not came

    def anthropic(self, body):
        tools = [t["name"] for t in body.get("tools", ())]
        came = [b for m in body["messages"] if isinstance(m["content"], list)
                for b in m["content"] if b["type"] == "tool_result"]
        message = {"id": "msg_1", "type": "message", "role": "assistant",
                   "model": body["model"], "content": [], "stop_reason": None,
                   "stop_sequence": None,
                   "usage": {"input_tokens": 1, "output_tokens": 1}}
        if self.next(tools, came):
            stop = "tool_use"
            block = {"type": "tool_use", "id": "toolu_1",
                     "name": "mcp__myelin__bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(
                {"command": self.server.command})}
        else:
            stop = "end_turn"
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": self.server.words}
        self.stream((
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0,
             "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {
                "stop_reason": stop, "stop_sequence": None},
             "usage": {"output_tokens": 1}},
            {"type": "message_stop"}))

    def openai(self, body):
        tools = [t.get("name", t["type"]) for t in body.get("tools", ())]
        came = [i for i in body["input"]
                if i["type"] == "function_call_output"]
        if self.next(tools, came):
            item = {"type": "function_call", "id": "fc_1",
                    "call_id": "call_1", "namespace": "mcp__myelin",
                    "name": "bash", "status": "completed",
                    "arguments": json.dumps(
                        {"command": self.server.command})}
        else:
            item = {"type": "message", "id": "m_1", "role": "assistant",
                    "status": "completed", "content": [
                        {"type": "output_text", "text": self.server.words,
                         "annotations": []}]}
        end = {"id": "resp_1", "object": "response", "status": "completed",
               "output": [item],
               "usage": {"input_tokens": 1, "output_tokens": 1,
                         "total_tokens": 2}}
        self.stream((
            {"type": "response.created", "response": dict(
                end, status="in_progress", output=[])},
            {"type": "response.output_item.added", "output_index": 0,
             "item": item},
            {"type": "response.output_item.done", "output_index": 0,
             "item": item},
            {"type": "response.completed", "response": end}))
