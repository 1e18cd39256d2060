"""/openapi.json: it describes the routes that there are, and their answers.

The description is read twice: against the route table in the source, and
against what an instance answers, by a validator that isn't ours.
"""
import json
import os
import re
import unittest

from debian_module import debian_module
from harness import TOP, Instance

jsonschema = debian_module("jsonschema")

IDS = {"n": "neuron", "s": "session", "c": "call", "a": "approval",
       "k": "key", "name": "name", "*": "path"}
METHODS = {"get", "put", "post", "delete"}
REFUSED = {400, 401, 403, 404, 405, 409, 411, 413, 415, 429, 500, 501, 503,
           507}


def source(*path):
    with open(os.path.join(TOP, *path)) as f:
        return f.read()


def document():
    return json.loads(source("apid", "openapi.json"))


def routes():
    """(method, path as the description has it) and their sockets, queries."""
    text = source("apid", "routes.c")
    queries = {name: re.findall(r'"(\w+)"', words) for name, words in
               re.findall(r"static const char \*const (\w+)\[\] = \{(.*?)\};",
                          text, re.S)}
    table = text[text.index("static const struct route routes[]"):]
    found = {}
    for method, path, on, body, anybody, query in re.findall(
            r'\{ "([A-Z]+)", "([^"]+)", ON_(\w+), BODY_(\w+), ([01]),\s+'
            r"(\w+),\s+\w+ \}", table):
        path = re.sub(r"\{([\w*]+)\}", lambda m: "{%s}" % IDS[m[1]], path)
        one = found.setdefault((method.lower(), path), {
            "on": set(), "body": body, "anybody": anybody == "1",
            "query": set()})
        one["on"] |= {"AGENT": {"agent"}, "OPERATOR": {"operator"},
                      "BOTH": {"agent", "operator"}}[on]
        one["query"] |= set(queries.get(query, []))
    assert len(found) == table[:table.index("};")].count('"/') - (
        table.count('{ "GET", "/v1/calls/{c}", ') - 1), sorted(found)
    return found


def operations(doc):
    return {(method, path): op for path, item in doc["paths"].items()
            for method, op in item.items()}


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for v in value.values():
            yield from references(v)
    elif isinstance(value, list):
        for v in value:
            yield from references(v)


class Written(unittest.TestCase):
    def setUp(self):
        self.doc = document()
        self.operations = operations(self.doc)

    def test_the_routes_that_there_are(self):
        self.assertEqual(set(self.operations), set(routes()))
        for key, route in routes().items():
            op = self.operations[key]
            self.assertEqual(set(op["x-myelin-sockets"]), route["on"], key)
            self.assertEqual({p["name"] for p in op.get("parameters", [])
                              if p["in"] == "query"}, route["query"], key)
            self.assertEqual(op.get("security") == [{}], route["anybody"],
                             key)
            self.assertEqual("requestBody" in op, route["body"] != "NONE",
                             key)

    def test_it_is_whole(self):
        doc = self.doc
        self.assertEqual(doc["openapi"], "3.1.0")
        names = [op["operationId"] for op in self.operations.values()]
        self.assertEqual(len(set(names)), len(names))
        for (method, path), op in self.operations.items():
            self.assertIn(method, METHODS)
            self.assertTrue(op["summary"], path)
            self.assertEqual({p["name"] for p in op.get("parameters", [])
                              if p["in"] == "path"},
                             set(re.findall(r"\{(\w+)\}", path)), path)
            self.assertIn("default", op["responses"], path)
            self.assertTrue(any(c.startswith("2") for c in op["responses"]))
        for ref in references(doc):
            at = doc
            for part in ref[2:].split("/"):
                at = at[part]
        for name, schema in doc["components"]["schemas"].items():
            jsonschema.Draft202012Validator.check_schema(schema)
        used = set(references(doc))
        for kind, things in doc["components"].items():
            for name in things:
                self.assertTrue(kind == "securitySchemes" or
                                "#/components/%s/%s" % (kind, name) in used,
                                name)

    def test_codes_of_errors(self):
        codes = re.findall(r'^ROW\(\w+,\s*"(\w+)",\s*(\d+)\)',
                           source("apid", "errors.h"), re.M)
        error = self.doc["components"]["schemas"]["Error"]
        self.assertEqual(error["properties"]["error"]["properties"]["code"]
                         ["enum"], [code for code, _ in codes])
        self.assertEqual({int(status) for _, status in codes}, REFUSED)

    def test_another_validator(self):
        try:
            from openapi_spec_validator import validate
        except ImportError:
            self.skipTest("no openapi_spec_validator")
        validate(self.doc)


class Answered(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.doc = document()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def valid(self, path, template, operator=False, method="GET", body=None):
        """The answer, which is as the description says."""
        status, j = self.i.request(method, path, body, operator)
        op = self.doc["paths"][template][method.lower()]
        one = op["responses"].get(str(status), op["responses"]["default"])
        if "$ref" in one:
            one = self.doc["components"]["responses"][
                one["$ref"].split("/")[-1]]
        schema = dict(one["content"]["application/json"]["schema"])
        schema["components"] = self.doc["components"]
        jsonschema.Draft202012Validator(schema).validate(j)
        # and nothing is in it that is not described
        named = schema
        while "$ref" in named:
            named = self.doc["components"]["schemas"][
                named["$ref"].split("/")[-1]]
        if "properties" in named:
            self.assertLessEqual(set(j), set(named["properties"]), template)
        return status, j

    def test_both_sockets_have_it(self):
        for operator in (False, True):
            c = self.i.connection(operator)
            c.request("GET", "/openapi.json")
            r = c.getresponse()
            text = r.read()
            self.assertEqual(r.status, 200)
            self.assertEqual(r.headers["Content-Type"], "application/json")
            self.assertEqual(json.loads(text), self.doc)
            self.assertNotIn(b"\n", text)
            c.close()

    def test_answers(self):
        i = self.i
        session = i.session()
        call = i.call("exec", {"argv": ["true"]}, session=session)["call"]
        i.call("bash", {"command": "rm -rf /"})
        neuron = i.get("/v1/sessions/" + session)[1]["neuron"]
        for operator in (False, True):
            for path, template in (
                    ("/healthz", None), ("/v1/whoami", None),
                    ("/v1/limits", None), ("/v1/neurons", None),
                    ("/v1/neurons/" + neuron, "/v1/neurons/{neuron}"),
                    ("/v1/sessions", None),
                    ("/v1/sessions/" + session, "/v1/sessions/{session}"),
                    ("/v1/sessions/%s/calls" % session,
                     "/v1/sessions/{session}/calls"),
                    ("/v1/sessions/%s/transcript" % session,
                     "/v1/sessions/{session}/transcript"),
                    ("/v1/calls", None),
                    ("/v1/calls/" + call, "/v1/calls/{call}")):
                status, _ = self.valid(path, template or path, operator)
                self.assertEqual(status, 200, path)
        self.assertEqual(self.valid("/v1/tools", "/v1/tools")[0], 200)
        for path in ("/v1/status", "/v1/audit", "/v1/secrets",
                     "/v1/approvals", "/v1/keys"):
            self.assertEqual(self.valid(path, path, True)[0], 200)

    def test_persistent_neurons(self):
        status, j = self.valid("/v1/neurons", "/v1/neurons", method="POST",
                               body={"name": "x", "labels": {"a": "b"},
                                     "idle_expiry": 3600})
        self.assertEqual(status, 201, j)
        path = "/v1/neurons/" + j["neuron"]
        for p in (path, path):
            self.assertEqual(self.valid(p, "/v1/neurons/{neuron}")[0], 200)
        status, j = self.valid("/v1/neurons?name=x", "/v1/neurons")
        self.assertEqual(len(j["neurons"]), 1)
        self.assertEqual(self.valid(path, "/v1/neurons/{neuron}",
                                    method="DELETE")[0], 200)

    def test_calls(self):
        for body, want in (
                ({"argv": ["sh", "-c", "echo x; exit 3"]}, 200),
                ({"argv": ["/nowhere"]}, 200)):
            status, j = self.valid("/v1/calls", "/v1/calls", method="POST",
                                   body={"tool": "exec", "args": body,
                                         "wait_ms": 50000})
            self.assertEqual(status, want, j)
            self.assertLessEqual(set(j), set(self.doc["components"]["schemas"]
                                             ["Call"]["properties"]))
        status, j = self.valid("/v1/calls", "/v1/calls", method="POST",
                               body={"tool": "bash", "dry_run": True,
                                     "args": {"command": "git push -f"}})
        self.assertTrue(j["dry_run"])
        status, j = self.valid("/v1/calls", "/v1/calls", method="POST",
                               body={"tool": "exec",
                                     "args": {"argv": ["sleep", "300"]}})
        self.assertEqual(status, 202)
        self.assertEqual(self.valid("/v1/calls/%s/cancel" % j["call"],
                                    "/v1/calls/{call}/cancel",
                                    method="POST")[0], 202)

    def test_refusals(self):
        for path, template, operator in (
                ("/v1/calls/c-00000000000000000000", "/v1/calls/{call}", 0),
                ("/v1/calls?limit=0", "/v1/calls", 0),
                ("/v1/approvals/a-00000000000000000000",
                 "/v1/approvals/{approval}", 1)):
            status, j = self.valid(path, template, operator)
            self.assertIn(status, (400, 404))

    def test_bodies_as_described(self):
        """What the schema of a request refuses is refused, and the like."""
        schema = dict(self.doc["components"]["schemas"]["CallAskOnce"])
        schema["components"] = self.doc["components"]
        check = jsonschema.Draft202012Validator(schema)
        good = {"tool": "exec", "args": {"argv": ["true"]}, "wait_ms": 50000}
        for more, ok in (
                ({}, True), ({"stdin": "x"}, True),
                ({"stdin": {"text": "x"}}, True),
                ({"stdin": {"base64": "eA=="}}, True),
                ({"stdin": {"file": "x"}}, False), ({"stdin": 1}, False),
                ({"flow": "drop"}, True), ({"flow": "none"}, False),
                ({"timeout_ms": "max"}, True), ({"timeout_ms": "1"}, False),
                ({"strip": True}, True), ({"strip": 1}, False),
                ({"env": {"LANG": "C"}}, True), ({"env": {"LANG": 1}}, False),
                ({"pty": {"rows": 24, "cols": 80}}, True),
                ({"pty": {"rows": 0, "cols": 80}}, False),
                ({"tool": "a b"}, False), ({"owner": {"uid": 1}}, False),
                ({"idempotency_key": ""}, False)):
            body = dict(good, **more)
            self.assertEqual(check.is_valid(body), ok, more)
            status, j = self.i.request("POST", "/v1/calls", body)
            self.assertEqual(status == 200, ok, (more, j))


if __name__ == "__main__":
    unittest.main()
