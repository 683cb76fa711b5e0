"""Compare our JSON Schema validator with the jsonschema package on pairs of a schema and a value.

We never contradict it. Where a schema has something that we do not check, we may leave a value
undecided.
"""
import json
import random
import re
import subprocess

from jsonschema import Draft7Validator, Draft202012Validator
from probe import ask

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"

# Why we may leave a value undecided: the keyword we name, and what the text of the schema must have.
EXCUSES = {
    "format": r'"format":',
    "unevaluatedItems": r'"unevaluatedItems":',
    "unevaluatedProperties": r'"unevaluatedProperties":',
    "pattern": r'"pattern": "[^"]*\(\?[=!<]',
    "patternProperties": r'"patternProperties": .*\(\?[=!<]',
    "$dynamicRef": r'"\$dynamicRef":',
}
LONE_SURROGATE = re.compile(r"\\ud83d(?!\\u)")  # no pattern is searched in such a string

BATCH = 500


def expected(schema, value):
    draft_07 = isinstance(schema, dict) and schema.get("$schema") == DRAFT_07
    return (Draft7Validator if draft_07 else Draft202012Validator)(schema).is_valid(value)


def excused(schema, value, keyword):
    if keyword.startswith("pattern") and LONE_SURROGATE.search(value):
        return True
    return keyword in EXCUSES and re.search(EXCUSES[keyword], schema)


def compare(program, pairs):
    """Give both validators the pairs, which are texts. Returns the number of each outcome and the differences."""
    tally, wrong = {"valid": 0, "invalid": 0, "undecided": 0, "decided in spite of it": 0}, []
    probe = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20)
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start:start + BATCH]
        answers = ask(probe, [f"{schema}\n{value}".encode() for schema, value in batch])
        for (schema, value), ours in zip(batch, answers):
            theirs = "valid" if expected(json.loads(schema), json.loads(value)) else "invalid"
            if ours == theirs:
                tally[ours] += 1
                tally["decided in spite of it"] += any(re.search(text, schema) for text in EXCUSES.values())
            elif ours.startswith("not checked: ") and all(
                    excused(schema, value, keyword) for keyword in ours.removeprefix("not checked: ").split(", ")):
                tally["undecided"] += 1
            else:
                wrong.append(f"{schema}\n  {value}\n  ours: {ours}, theirs: {theirs}")
    probe.stdin.close()
    if code := probe.wait():
        wrong.append(f"the probe ended with {code}")
    return tally, wrong


NAMES = ["a", "b", "c", "ab", "x-1", "é", "", "$ref", "d/e~f%"]
STRINGS = ["", "a", "ab", "abc", "aaaa", "b c", "é", "🚀", "🚀🚀", "1", "x-1", "\t", "A", "a\u00a0b", "\ud83d"]
NUMBERS = [0, 1, 2, 3, 4, 6, -1, -2.5, 0.5, 1.5, 2.0, 10, 100, 0.25, 1000000007]
PATTERNS = ["^a", "b$", "^[a-c]+$", "^.{2,3}$", "\\d", "^x-", "[^a]", "a|b", "^$", "^(?:ab?)+c?$", "^\\S+$", "\\s",
            "^[a-z0-9_]+$", "^[a-z-]+$", "\\u00e9", "^[^\\s]*$", ".", "a{2,}", "^(?=a)", "^(?!b)", "(?<!a)b"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def some_value(rng, depth=3):
    kind = rng.randrange(9 if depth else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice(STRINGS)
    size = rng.choice([0, 1, 1, 2, 2, 3, 4])
    if kind < 7:
        return [some_value(rng, depth - 1) for _ in range(size)]
    return {rng.choice(NAMES): some_value(rng, depth - 1) for _ in range(size)}


def respell(rng, text):
    """Other spellings of some numbers and characters. Python would round a long number that is no integer."""
    def token(m):
        if re.fullmatch(r"-?[1-9]\d{0,9}", m[0]):
            return rng.choice([m[0]] * 4 + [f"{m[0]}.0", f"{m[0]}0e-1"])
        return rng.choice([m[0], m[0], '"\\u0061"']) if m[0] == '"a"' else m[0]

    text = re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", text)
    return re.sub(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', token, text)


class Generator:
    """Schemas of one dialect: DRAFT_07, DRAFT_2020_12, or None, which has no name and the keywords of the latter."""

    DEFINITIONS = 3

    def __init__(self, rng, dialect):
        self.rng, self.dialect = rng, dialect

    def schema(self):
        rng = self.rng
        where = rng.choice(["$defs", "definitions"])
        self.places = [f"#/{where}/{i}" for i in range(self.DEFINITIONS)]
        schema = self.sub(4, False, 0)
        if isinstance(schema, bool):
            return schema
        schema[where] = {str(i): self.sub(2, False, i + 1) for i in range(self.DEFINITIONS)}
        if self.dialect:
            schema["$schema"] = self.dialect
        return schema

    def sub(self, depth, inside, first):
        """A subschema. Without `inside` it is applied to the same value as the root or the definition that
        contains it: a $ref must then lead to a later definition, or there is no end."""
        rng = self.rng
        if rng.random() < 0.08:
            return rng.random() < 0.6
        simple, nested = self.simple(), self.nested(depth, inside, first)
        schema = {}
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            table = nested if depth and rng.random() < 0.55 else simple
            schema.update(table[rng.choice(list(table))]())
        if isinstance(schema.get("items"), bool):
            schema.pop("additionalItems", None)  # jsonschema 4.26 raises a TypeError
        return schema

    def size(self):
        return self.rng.choice([0, 1, 1, 2, 2, 3, 2.0])

    def names(self):
        return self.rng.sample(NAMES, self.rng.choice([1, 1, 2]))

    def simple(self):
        rng, number = self.rng, lambda: self.rng.choice(NUMBERS)
        return {
            "type": lambda: {"type": rng.choice([rng.choice(TYPES), rng.sample(TYPES, rng.choice([1, 2, 3]))])},
            "enum": lambda: {"enum": [some_value(rng, 1) for _ in range(rng.choice([1, 3, 6]))]},
            "const": lambda: {"const": some_value(rng, 1)},
            "minimum": lambda: {"minimum": number()},
            "maximum": lambda: {"maximum": number()},
            "exclusiveMinimum": lambda: {"exclusiveMinimum": number()},
            "exclusiveMaximum": lambda: {"exclusiveMaximum": number()},
            "multipleOf": lambda: {"multipleOf": rng.choice([1, 2, 3, 0.5, 0.25, 1.5])},
            "minLength": lambda: {"minLength": self.size()},
            "maxLength": lambda: {"maxLength": self.size()},
            "pattern": lambda: {"pattern": rng.choice(PATTERNS)},
            "minItems": lambda: {"minItems": self.size()},
            "maxItems": lambda: {"maxItems": self.size()},
            "uniqueItems": lambda: {"uniqueItems": rng.random() < 0.8},
            "minProperties": lambda: {"minProperties": self.size()},
            "maxProperties": lambda: {"maxProperties": self.size()},
            "required": lambda: {"required": self.names()},
            "dependentRequired": lambda: {"dependentRequired": {n: self.names() for n in self.names()}},
            "format": lambda: {"format": "email"},
            "unevaluatedProperties": lambda: {"unevaluatedProperties": False},
            "title": lambda: {"title": "a title", "x-unknown": [1], "default": {"$ref": "#/nothing"}},
        }

    def nested(self, depth, inside, first):
        rng = self.rng

        def same():  # applied to the same value
            return self.sub(depth - 1, inside, first)

        def below():  # applied to a part of the value
            return self.sub(depth - 1, True, first)

        def many(one):
            return [one() for _ in range(rng.choice([1, 2, 2, 3]))]

        def ref():
            targets = self.places[first:] if not inside else ["#", *self.places]
            return {"$ref": rng.choice(targets)} if targets else {}

        def members(one):
            return {name: one() for name in self.names()}

        table = {
            "$ref": ref,
            "properties": lambda: {"properties": members(below)},
            "patternProperties": lambda: {"patternProperties": {rng.choice(PATTERNS): below() for _ in range(2)}},
            "additionalProperties": lambda: {"additionalProperties": rng.choice([False, below()])},
            "propertyNames": lambda: {"propertyNames": below()},
            "items": lambda: {"items": below()},
            "contains": lambda: {"contains": below()},
            "minContains": lambda: {"contains": below(), "minContains": self.size()},
            "maxContains": lambda: {"contains": below(), "maxContains": self.size()},
            "prefixItems": lambda: {"prefixItems": many(below)},
            "allOf": lambda: {"allOf": many(same)},
            "anyOf": lambda: {"anyOf": many(same)},
            "oneOf": lambda: {"oneOf": many(same)},
            "not": lambda: {"not": same()},
            "if": lambda: {"if": same(), "then": same(), "else": same()},
            "then": lambda: {"if": same(), "then": same()},
            "dependentSchemas": lambda: {"dependentSchemas": members(same)},
        }
        if self.dialect:  # the keywords of other dialects, too: they do not count
            table["dependencies"] = lambda: {"dependencies": members(lambda: rng.choice([self.names(), same()]))}
            table["additionalItems"] = lambda: {"additionalItems": below()}
        if self.dialect == DRAFT_07:
            table["items[]"] = lambda: {"items": many(below)}
            table["items[], additionalItems"] = lambda: {"items": many(below), "additionalItems": below()}
        return table


def generated(seed, schemas, values_each):
    """Pairs of texts."""
    rng = random.Random(seed)
    for i in range(schemas):
        schema = Generator(rng, [DRAFT_07, DRAFT_2020_12, None][i % 3]).schema()
        text = respell(rng, json.dumps(schema, ensure_ascii=rng.random() < 0.5))
        for _ in range(values_each):
            yield text, respell(rng, json.dumps(some_value(rng), ensure_ascii=rng.random() < 0.5))


def mutated(rng, value):
    """A value that is like another one."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        if rng.random() < 0.3:
            return {k: v for k, v in value.items() if k != name}
        return {**value, name: mutated(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        i = rng.randrange(len(value))
        return [*value[:i], mutated(rng, value[i]), *value[i + 1:]]
    if isinstance(value, dict) and rng.random() < 0.5:
        return {**value, rng.choice(NAMES): some_value(rng, 1)}
    return some_value(rng, 1)


def fitting(rng, schema, depth=6):
    """A value that is meant to fit the schema of a tool; it need not, for not every keyword is looked at."""
    if not isinstance(schema, dict) or not depth:
        return some_value(rng, 1)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else rng.choice(schema["enum"])
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return fitting(rng, rng.choice(branches), depth - 1)
    kind = schema.get("type")
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        required = schema.get("required", [])
        return {name: fitting(rng, sub, depth - 1) for name, sub in schema.get("properties", {}).items()
                if name in required or rng.random() < 0.5}
    if kind == "array":
        return [fitting(rng, schema.get("items"), depth - 1) for _ in range(rng.choice([0, 1, 2]))]
    examples = {"string": STRINGS, "integer": [0, 1, 5, 100], "number": NUMBERS, "boolean": [True, False], "null": [None]}
    return rng.choice(examples[kind]) if kind in examples else some_value(rng, 1)
