#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate.py SCHEMA FILE...: every line of each file is an object that the schema allows.

Knows the part of JSON Schema that our schemas use; an unknown keyword is an error, so
that no rule passes because it was not understood. Proves itself first: a changed line
must be refused.
"""
import json
import sys

NOTES = {"description", "title", "$schema", "$defs", "contentEncoding"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Schema:
    def __init__(self, top):
        self.top = top

    def errors(self, value, rule=None, at="$"):
        rule = self.top if rule is None else rule
        for word, arg in rule.items():
            if word not in NOTES:
                yield from getattr(self, "on_" + word.strip("$"))(value, arg, rule, at)

    def on_ref(self, value, arg, _rule, at):
        yield from self.errors(value, self.top["$defs"][arg.rsplit("/", 1)[1]], at)

    def on_type(self, value, arg, _rule, at):
        if not any(is_type(value, name) for name in (arg if isinstance(arg, list) else [arg])):
            yield f"{at}: not {arg}"

    def on_const(self, value, arg, _rule, at):
        if value != arg:
            yield f"{at}: not {arg}"

    def on_enum(self, value, arg, _rule, at):
        if value not in arg:
            yield f"{at}: not one of {arg}"

    def on_minimum(self, value, arg, _rule, at):
        if isinstance(value, int) and value < arg:
            yield f"{at}: below {arg}"

    def on_maximum(self, value, arg, _rule, at):
        if isinstance(value, int) and value > arg:
            yield f"{at}: above {arg}"

    def on_required(self, value, arg, _rule, at):
        yield from (f"{at}: {key} is missing" for key in arg if key not in value)

    def on_properties(self, value, arg, _rule, at):
        for key in arg.keys() & value.keys():
            yield from self.errors(value[key], arg[key], f"{at}.{key}")

    def on_additionalProperties(self, value, arg, rule, at):
        for key in value.keys() - rule.get("properties", {}).keys():
            if arg is False:
                yield f"{at}: {key} is not allowed"
            else:
                yield from self.errors(value[key], arg, f"{at}.{key}")

    def on_items(self, value, arg, _rule, at):
        for i, item in enumerate(value):
            yield from self.errors(item, arg, f"{at}[{i}]")

    def on_oneOf(self, value, arg, _rule, at):
        kinds = [rule for rule in arg if rule["properties"]["t"]["const"] == value.get("t")]
        if len(kinds) != 1:
            yield f"{at}: no kind {value.get('t')}"
        else:
            yield from self.errors(value, kinds[0], at)


def main(argv):
    with open(argv[1], encoding="utf-8") as f:
        schema = Schema(json.load(f))
    lines = bad = 0
    for name in argv[2:]:
        with open(name, encoding="utf-8") as f:
            for line in f:
                value = json.loads(line)
                lines += 1
                for error in schema.errors(value):
                    print(f"{name}: {error}")
                    bad += 1
                if not list(schema.errors(dict(value, surprise=1))):
                    print(f"{name}: a key that nobody knows was taken")
                    bad += 1
    print(f"{lines} objects")
    return 1 if bad or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
