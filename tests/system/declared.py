"""Holds a tool's result against the output_schema that it declares: the
keywords that declarations use, and no member that is not declared."""

TYPES = {"object": dict, "array": list, "string": str, "integer": int,
         "boolean": bool}


def faults(schema, value, where="result"):
    """What does not fit, as sentences."""
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append("%s: %r is none of %s" % (where, value, schema["enum"]))
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, TYPES[kind]) or
                             kind == "integer" and isinstance(value, bool)):
        return found + ["%s: %r is no %s" % (where, value, kind)]
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= \
                schema.get("maxLength", len(value)):
            found.append("%s: %d characters" % (where, len(value)))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            found += faults(schema.get("items", {}), item,
                            "%s[%d]" % (where, n))
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                found.append("%s: no %s" % (where, name))
        for name, member in value.items():
            if name not in known:
                found.append("%s.%s: not declared" % (where, name))
            else:
                found += faults(known[name], member, where + "." + name)
    return found
