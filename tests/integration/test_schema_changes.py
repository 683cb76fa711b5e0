"""`lock --check` calls no change of a schema harmless that rejects a value: judged by jsonschema."""
import json
import random
import re

import jsonschema
import pytest

CHANGES = 1000
SAMPLES = (None, True, False, 0, 1, 2, 3, 5, 10, 1.5, "", "a", "b", "abc", "abcdefgh", [], ["a"], [1], [None],
           ["a", "a"], ["a", "b", "abc"], [["a"]], {}, {"a": "a"}, {"a": 1}, {"a": None}, {"b": 1}, {"k": 1},
           {"a": "abc", "b": "a"}, {"k": 1, "v": "a"}, {"k": 2, "v": 1}, {"a": {"a": "a"}}, {"a": {}}, {"k": ["a"]})
PLAIN = ("string", "integer", "number", "boolean", "null", "array", "object")
VALUES = ("a", "b", "abc", 1, 2, None, True)


class Schemas:
    """Makes schemas and changes of them. It never makes what the rules leave out on purpose:

    objects with further properties of any type
                                   a property that is added to one may have been sent before
    not, if, patterns, $ref        a change of them is "not judged", and so always risky; $ref is made,
                                   but only to definitions that do not change
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def limits(self, schema, *pairs):
        for low, high, values in pairs:
            for name in (low, high):
                if self.rng.random() < .4:
                    schema[name] = self.rng.choice(values)
        return schema

    def leaf(self):
        kind = self.rng.choice(("string", "string", "number", "enum", "typed enum", "const", "plain", "types", "any"))
        if kind == "string":
            return self.limits({"type": "string"}, ("minLength", "maxLength", (0, 1, 2, 3)))
        if kind == "number":
            number = {"type": self.rng.choice(("integer", "number"))}
            return self.limits(number, ("minimum", "maximum", (0, 1, 3, 10)),
                               ("exclusiveMinimum", "exclusiveMaximum", (0, 2, 5)))
        if kind == "enum":
            return {"enum": self.rng.sample(VALUES, self.rng.randint(1, 3))}
        if kind == "typed enum":
            return {"type": self.rng.choice(PLAIN), "enum": self.rng.sample(VALUES, 3)}
        if kind == "const":
            return {"const": self.rng.choice(VALUES)}
        if kind == "types":
            return {"type": self.rng.sample(PLAIN, 2)}
        return {} if kind == "any" else {"type": self.rng.choice(PLAIN)}

    def object(self, depth):
        names = self.rng.sample("abkv", self.rng.randint(0, 3))
        schema = {"type": "object", "properties": {name: self.schema(depth + 1) for name in names},
                  "additionalProperties": self.rng.choice((False, False, {"type": "string"}))}
        if names and self.rng.random() < .5:
            schema["required"] = self.rng.sample(names, 1)
        return schema

    def schema(self, depth=0):
        kind = "leaf" if depth > 2 else self.rng.choice(
            ("leaf", "leaf", "leaf", "object", "object", "array", "anyOf", "anyOf", "oneOf", "allOf", "beside", "$ref"))
        if kind == "leaf":
            return self.leaf()
        if kind == "object":
            return self.object(depth)
        if kind == "array":
            return self.limits({"type": "array", "items": self.schema(depth + 1)}, ("minItems", "maxItems", (0, 1, 2)))
        if kind == "$ref":
            return {"$ref": "#/$defs/" + self.rng.choice("xyz")}
        if kind == "beside":
            return {**self.leaf(), self.rng.choice(("anyOf", "oneOf", "allOf")): [self.schema(depth + 1) for _ in range(2)]}
        return {kind: [self.schema(depth + 1) for _ in range(self.rng.randint(1, 3))]}

    def places(self, schema):
        for name in ("properties", "anyOf", "oneOf", "allOf"):
            below = schema.get(name, {})
            yield from ((below, key) for key in (below if isinstance(below, dict) else range(len(below))))
        if isinstance(schema.get("items"), dict):
            yield schema, "items"

    def changed(self, schema):
        """A copy with one change somewhere, or another spelling that is one."""
        schema = json.loads(json.dumps(schema))
        places = list(self.places(schema))
        if places and self.rng.random() < .6:
            below, key = self.rng.choice(places)
            below[key] = self.changed(below[key])
            return schema
        kind = self.rng.choice(("other", "union", "nullable", "all", "member", "member", "list", "list"))
        if kind == "union":
            return {self.rng.choice(("anyOf", "oneOf")): self.rng.sample((schema, self.leaf(), self.schema(2)), 3)}
        if kind == "nullable":
            return {self.rng.choice(("anyOf", "oneOf")): [schema, {"type": "null"}]}
        if kind == "all":
            return {"allOf": [schema, self.leaf()]}
        lists = [schema[name] for name in ("anyOf", "oneOf", "allOf") if len(schema.get(name, ())) > 0]
        if kind == "list" and lists:
            if len(lists[0]) > 1 and self.rng.random() < .6:
                lists[0].pop(self.rng.randrange(len(lists[0])))
            else:
                lists[0].append(self.schema(2))
            return schema
        members = [name for name in schema if name not in ("anyOf", "oneOf", "allOf", "$ref", "additionalProperties")]
        if kind == "member" and members:
            name = self.rng.choice(members)
            other = self.leaf().get(name)
            if other is None or name in ("properties", "required"):
                del schema[name]
                schema.pop("required", None)
            else:
                schema[name] = other
            return schema
        return self.schema(1)


DEFS = {"x": {"type": "string", "maxLength": 2}, "y": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "array"}]},
        "z": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}}


def surface(side, schemas):
    tools = []
    for n, schema in enumerate(schemas):
        whole = {"type": "object", "properties": {"x": schema}, "required": ["x"], "$defs": DEFS}
        tools.append({"name": f"t{n}", "inputSchema": {"type": "object"}, f"{side}Schema": whole})
    return json.dumps({"mcpreelLock": 1, "tools": tools})


def findings(run, mcpreel, folder, side, changes):
    """The findings of each change, by its number."""
    for name, at in (("before.lock", 0), ("after.lock", 1)):
        (folder / name).write_text(surface(side, [change[at] for change in changes]))
    result = run([mcpreel, "--json", "lock", "--check", "before.lock", "after.lock"], cwd=folder)
    table = {}
    for finding in json.loads(result.out)["findings"]:
        table.setdefault(int(re.fullmatch(r"t(\d+)", finding["name"])[1]), []).append(finding)
    return table


def validates(schema):
    validator = jsonschema.Draft202012Validator({**schema, "$defs": DEFS})
    return [validator.is_valid(value) for value in SAMPLES]


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_change_without_a_risk_rejects_no_value(side, run, mcpreel, tmp_path, record_property):
    schemas = Schemas(seed=1)
    changes = [(before, schemas.changed(before)) for before in (schemas.schema() for _ in range(CHANGES))]
    found = findings(run, mcpreel, tmp_path, side, changes)
    rejecting = harmless = 0
    wrong = []
    for n, (before, after) in enumerate(changes):
        # A client's value must be valid after the change; a server's must have been valid before.
        promised, demanded = (before, after) if side == "input" else (after, before)
        rejected = [value for value, valid, still in zip(SAMPLES, validates(promised), validates(demanded)) if valid and not still]
        risks = [finding for finding in found.get(n, []) if finding["severity"] in ("breaking", "risky")]
        rejecting += bool(rejected)
        harmless += not risks
        if rejected and not risks:
            rules = [finding["rule"] for finding in found.get(n, [])]
            wrong.append(f"{json.dumps(before)}\n  -> {json.dumps(after)}\n  {rejected[0]!r} is rejected; found: {rules}")
    record_property("shown", f"{CHANGES} changes: {rejecting} reject a value, {harmless} without a risk")
    assert not wrong, f"{len(wrong)} changes, the first:\n" + "\n".join(sorted(wrong, key=len)[:5])
    # A run with hardly any of a kind would prove nothing.
    assert min(rejecting, harmless) > CHANGES // 10, (rejecting, harmless)
