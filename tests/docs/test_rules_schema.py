"""docs/rules.schema.json accepts and rejects the same documents as mcp/compare-rules
(tests/unit/test-compare-rules.c has the other half)."""
import json
import pathlib
import re

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCHEMA = json.loads((ROOT / "docs/rules.schema.json").read_text())
PARSER = (ROOT / "src/mcp/compare-rules.c").read_text()


def valid(document):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def test_the_schema_is_a_schema_of_2020_12():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_has_the_members_of_the_parser():
    assert set(re.findall(r'\[RULES_\w+\] = "([^"]+)"', PARSER)) == set(SCHEMA["properties"])


@pytest.mark.parametrize("document", [
    {},
    {"$schema": "rules.schema.json"},
    {"ignore_fields": ["requestId"], "ignore_paths": ["$", "$..etag", "$['a b'][*]"], "rebind": ["$.result.handle"]},
    {"volatile": False}, {"volatile": True}, {"volatile": ["$.x"]},
    {"include_meta": True},
])
def test_the_schema_accepts_valid_rules(document):
    assert valid(document)


@pytest.mark.parametrize("document", [
    [], {"ignore_field": []}, {"ignore_fields": "a"}, {"ignore_fields": [""]}, {"rebind": [1]}, {"ignore_paths": ["result.x"]},
    {"volatile": "off"}, {"include_meta": 1}, {"$schema": {}},
])
def test_the_schema_rejects_rules_that_the_parser_rejects(document):
    assert not valid(document)
