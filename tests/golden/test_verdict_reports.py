"""Reads the expected outputs of tests/report with real parsers. The unit tests of src/report compare
the bytes; this file checks that the bytes are what other programs accept."""

import html
import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests/report"
HOSTILE = '''\\x1b[31m \\x00 \\x07 \\x7f <U+009B> <U+202E> <U+200B> \uffff \\xff a\\r\\nb\\t]]> <b>&amp;</b> | `c` **d** $e 100% ''' \
          '''::error::x,y:z </details> <!-- " ' -->'''
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def read(name):
    return (REPORTS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(REPORTS.iterdir()), ids=lambda path: path.name)
def test_reports_have_no_hidden_characters(path):
    """Except JSON, whose text is the recorded one: it must be escaped there."""
    text = path.read_text(encoding="utf-8")
    found = HIDDEN.search(text)
    if path.suffix == ".json":
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    else:
        assert not found, f"{found!r} in {text[max(found.start() - 40, 0):found.end()]!r}"


@pytest.mark.parametrize("name", ["sample.xml", "hostile.xml"])
def test_junit_is_xml(name):
    subprocess.run(["xmllint", "--noout", REPORTS / name], check=True)
    suites = xml.etree.ElementTree.parse(REPORTS / name).getroot()
    assert suites.tag == "testsuites"
    (suite,) = suites
    cases = suite.findall("testcase")
    for element in (suites, suite):
        assert int(element.get("tests")) == len(cases)
        assert int(element.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(element.get("skipped")) == len(suite.findall("testcase/skipped"))
        assert float(element.get("time")) == 1.4
    for case in cases:
        assert case.get("classname") and case.get("name")
        assert len(case.findall("failure")) + len(case.findall("skipped")) <= 1
    for element in suites.iter():
        assert len((element.text or "").encode()) <= 64 << 10


def test_junit_keeps_the_text():
    (suite,) = xml.etree.ElementTree.parse(REPORTS / "hostile.xml").getroot()
    shown = HOSTILE.replace("\uffff", "\ufffd")  # XML has no U+FFFF
    assert suite.get("name") == shown
    (failure,) = suite.findall("testcase")[0].findall("failure")
    lines = failure.text.splitlines()
    assert lines[0] == shown + ":3"
    assert lines[1] == "$." + shown + ": " + shown
    assert re.fullmatch(r"  - …x+\| ]]> `<i>` \\u202e\\u001b one x+…", lines[2])
    assert re.fullmatch(r"  \+ …x+\| ]]> `<i>` \\u202e\\u001b two x+…", lines[3])


@pytest.mark.parametrize("name", ["sample.json", "hostile.json"])
def test_json_is_one_line(name):
    text = read(name)
    assert text.count("\n") == 1 and text.endswith("\n")
    report = json.loads(text)
    assert report["v"] == 2 and report["command"] == "verify" and report["exit_code"] == 1
    verdicts = [call["verdict"] for call in report["calls"]]
    for word in ("passed", "volatile", "failed", "blocked", "skipped"):
        assert report["summary"][word] == verdicts.count(word)
    findings = [f for call in report["calls"] for f in call["findings"]] + report["findings"]
    for word in ("error", "warning", "note"):
        assert report["summary"][word + "s"] == [f["severity"] for f in findings].count(word)


def schema_of(name, closed):
    """A definition of the schema; closed: other members than those it names are errors."""
    schema = json.loads((ROOT / "docs/json-output.schema.json").read_text())
    for definition in ("verify", "call_verdict", "finding"):
        schema["$defs"][definition]["additionalProperties"] = not closed
    return jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"})


@pytest.mark.parametrize("name", ["sample.json", "hostile.json"])
def test_json_has_the_members_of_the_schema(name):
    schema_of("verify", closed=True).validate(json.loads(read(name)))


def annotations(text):
    """Reads annotations as the runner of GitHub Actions does."""
    for line in text.splitlines():
        command, properties, data = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
        values = {}
        for item in properties.split(","):
            name, value = item.split("=", 1)
            for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(code, char)
            values[name] = value
        for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            data = data.replace(code, char)
        yield command, values, data


def test_github_reads_the_same_text():
    sample = list(annotations(read("sample.github")))
    assert [command for command, _, _ in sample] == ["error"] * 3 + ["warning"] * 2
    assert sample[0][1] == {"file": "golden.jsonl", "line": "14", "title": "tools/call search_issues #13"}
    assert sample[0][2].splitlines()[:3] == ["$.result.content[0].text", '  - "3 issues found"', '  + "3 results found"']
    hostile = list(annotations(read("hostile.github")))
    assert hostile[0][1] == {"file": HOSTILE, "line": "3", "title": f"{HOSTILE} {HOSTILE} #3"}
    assert hostile[0][2].splitlines()[0] == f"$.{HOSTILE}: {HOSTILE}"


@pytest.fixture(scope="module")
def sarif_schema(peer_home):
    """The schema of SARIF 2.1.0 as its editors publish it."""
    (path,) = (peer_home("sarif") / "node_modules/@microsoft/jest-sarif/lib/schemas").glob("sarif-2.1.0*.json")
    schema = json.loads(path.read_text())
    return jsonschema.validators.validator_for(schema)(schema)


@pytest.mark.parametrize("name", ["sample.sarif", "hostile.sarif"])
def test_sarif_is_valid(sarif_schema, name):
    log = json.loads(read(name))
    sarif_schema.validate(log)
    (run,) = log["runs"]
    assert [result["level"] for result in run["results"]] == sorted(result["level"] for result in run["results"])
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
        assert not HIDDEN.search(result["message"]["text"].replace("\n", ""))
    prints = [result["partialFingerprints"]["mcpreelFinding/v1"] for result in run["results"]]
    assert len(prints) == len(set(prints)) > 1


CODE = re.compile("`[^`|\\\\\n]+`|<code>(?:[^\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e]|&#\\d+;)*</code>")


@pytest.mark.parametrize("name", ["sample.md", "hostile.md"])
def test_markdown_quotes_foreign_text_as_code(name):
    text = read(name)
    rest = CODE.sub("C", text)
    assert not re.search(r"[`&\\*\[\]@]", rest)
    assert set(re.findall("<[^>]*>", rest)) == {"<br>", "<details>", "</details>", "<summary>", "</summary>"}
    for line in rest.splitlines():
        if "|" in line:
            assert line.startswith("|") and line.endswith("|") and line.count("|") == 5, line


def test_markdown_keeps_the_text():
    codes = [html.unescape(found.group()) for found in CODE.finditer(read("hostile.md"))]
    shown = [code[6:-7] if code.startswith("<code>") else code[1:-1] for code in codes]
    assert any(re.fullmatch(r"…x+\| ]]> `<i>` \\u202e\\u001b one x+…", code) for code in shown)
    assert any(code.startswith(HOSTILE[:100]) for code in shown)
