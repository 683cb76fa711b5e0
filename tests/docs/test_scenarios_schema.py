"""docs/scenarios.schema.json accepts the scenarios of the documents and rejects what the parser rejects."""
import json
import pathlib
import re
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCHEMA = json.loads((ROOT / "docs/scenarios.schema.json").read_text())
PARSER = (ROOT / "src/scenario/scenario-file.c").read_text()
ACTIONS = (ROOT / "src/scenario/scenario-action.c").read_text()
EXAMPLES = re.findall(r"<<'END'\n(.*?)^END$", (ROOT / "docs/scenarios.md").read_text(), re.M | re.S)


def valid(document):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def with_actions(*actions):
    return {"target": "http://localhost:3000", "scenarios": {"a": {"actions": list(actions)}}}


def keys_of_parser(function):
    body = PARSER[PARSER.index(f"static bool {function}("):]
    return set(re.findall(r'"([^"]+)"', re.search(r"keys\[\] = \{(.*?)\}", body, re.S)[1]))


def test_the_schema_is_a_schema_of_2020_12():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_has_the_keys_of_the_parser():
    target = SCHEMA["properties"]["target"]["oneOf"][1]
    assert set(SCHEMA["properties"]) == keys_of_parser("check_top")
    assert set(target["properties"]) == keys_of_parser("read_command")
    assert set(SCHEMA["properties"]["redact"]["properties"]) == keys_of_parser("read_redact")
    assert set(SCHEMA["$defs"]["scenario"]["properties"]) == keys_of_parser("read_plan")
    assert set(SCHEMA["$defs"]["answers"]["properties"]) == keys_of_parser("read_answers")


def test_the_schema_has_the_actions_of_the_parser():
    named = set(re.findall(r'\.name = "(\w+)",\s*\.(?:method|params)', ACTIONS))
    kinds = SCHEMA["$defs"]["action"]["oneOf"]
    assert len(named) == 10
    assert named == {name for kind in kinds[1:] for name in kind["properties"]}


def test_it_accepts_the_examples_of_the_document(recorder_peer):
    """PyYAML, which mcp-recorder has, reads them."""
    assert len(EXAMPLES) == 2
    for text in EXAMPLES:
        read = subprocess.run([recorder_peer / "bin/python", "-c", "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"],
                              input=text, stdout=subprocess.PIPE, text=True, check=True)
        assert valid(json.loads(read.stdout)), text


@pytest.mark.parametrize("document", [
    with_actions(), {**with_actions(), "output": "demo.json", "x-anchors": [1]},
    {**with_actions(), "schema_version": "1.7", "format": "recording", "headers": {"A": "b"}},
    {**with_actions(), "target": "${URL}"},
    {**with_actions(), "answers": {"sampling": {"model": "m"}, "elicitation": [{"action": "decline"}], "roots": []}},
    with_actions("ping", {"list_tools": None}, {"raw": {"method": "x", "params": []}}),
])
def test_it_accepts_scenarios(document):
    assert valid(document)


@pytest.mark.parametrize("document", [
    [], {}, {"target": "http://h"}, {**with_actions(), "schema_version": 1.0}, {**with_actions(), "schema_version": "2.0"},
    {**with_actions(), "target": ["node"]}, {**with_actions(), "target": {"args": []}}, {**with_actions(), "outputs": 1},
    with_actions("call_tool"), with_actions("list_tool"), with_actions({"call_tool": {}}), with_actions(7),
    with_actions({"call_tool": {"name": "x", "argumets": {}}}), with_actions({"list_tools": {"pages": 3}}),
    with_actions({"ping": {"expect": {"is_eror": True}}}), with_actions({"ping": {"save": {"a-b": "$.x"}}}),
    with_actions({"call_tool": {"name": "x"}, "ping": None}), {"target": "http://h", "scenarios": {"a/b": {"actions": []}}},
])
def test_it_rejects_what_the_parser_rejects(document):
    assert not valid(document)
