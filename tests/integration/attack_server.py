"""Serves an attack configuration as its reader would, to compare it with the recording.

Written from the descriptions of ThoughtJack (TJ-SPEC-001, -003, -006, -009) and of OATF 0.1: it shares nothing with mcpreel. A document passes three steps before it is served: the
loader's substitution in the raw text, a YAML parser, and checks of structure. PyYAML reads the YAML; it comes with the pinned mcp-recorder.
"""
import json
import re
import subprocess

import jsonschema

LOADER = """
import json, sys, yaml
Loader = yaml.SafeLoader if "--pure" in sys.argv else yaml.CSafeLoader
def check(node):
    if isinstance(node, yaml.MappingNode):
        keys = [k.value for k, _ in node.value]
        assert len(keys) == len(set(keys)), "duplicate keys"
        for _, value in node.value:
            check(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            check(value)
def read(text):
    special = (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken, yaml.DocumentStartToken, yaml.DocumentEndToken, yaml.DirectiveToken)
    assert not [t for t in yaml.scan(text, Loader) if isinstance(t, special)], "anchors, tags or several documents"
    check(yaml.compose(text, Loader))
    return yaml.load(text, Loader)
json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
"""
CAPABILITIES = {"tools": {"listChanged"}, "resources": {"subscribe", "listChanged"}, "prompts": {"listChanged"}, "logging": set()}


def substituted(text):
    """Returns the raw text as the loader changes it, with an empty environment."""
    assert "${" not in text and "$$" not in text, "the loader would change the text"
    return re.sub(r"\$\{[^}]*\}", "", text).replace("$$", "$")


def documents(python, texts, *options):
    """Reads all texts in one process, with libyaml, or with PyYAML's own parser: "--pure"."""
    ran = subprocess.run([python, "-c", LOADER, *options], input=json.dumps([substituted(t) for t in texts]), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout)


def only(value, required, optional=()):
    assert isinstance(value, dict), value
    assert set(required) <= set(value) <= set(required) | set(optional), value


def check_items(items, check):
    assert isinstance(items, list) and items
    for item in items:
        check(item)


def check_content(item):
    if item.get("type") == "text":
        only(item, ["type", "text"])
        assert isinstance(item["text"], str)
    elif item.get("type") == "image":
        only(item, ["type", "mimeType", "data"])
        assert item["mimeType"] and isinstance(item["data"], str)
    else:
        only(item, ["type", "resource"])
        assert item["type"] == "resource"
        check_resource_text(item["resource"])


def check_resource_text(item):
    only(item, ["uri"], ["mimeType", "text", "blob"])
    assert item["uri"] and ("text" in item) != ("blob" in item)


def check_message(item):
    only(item, ["role", "content"])
    assert item["role"] in ("user", "assistant")
    check_content(item["content"])


def check_response(response, member, check, optional=(), first=False):
    only(response, [member] if first or "sequence" not in response else ["sequence"], ["sequence", "on_exhausted", *optional])
    for entry in [response, *response.get("sequence", [])]:
        if member in entry and not (member == "contents" and entry[member] == []):
            check_items(entry[member], check)
    assert ("sequence" in response) == ("on_exhausted" in response)
    assert "sequence" not in response or (response["sequence"] and response["on_exhausted"] == "last")


def check_schema(schema):
    """By the schema of its dialect. Without "$schema" that is draft-07; others than those of jsonschema are not judged."""
    dialect = jsonschema.validators.validator_for(schema, None if "$schema" in schema else jsonschema.Draft7Validator)
    if dialect is not None:
        dialect(dialect.META_SCHEMA).validate(schema)


def check_tool(item):
    only(item, ["tool", "response"])
    only(item["tool"], ["name", "description", "inputSchema"])
    assert item["tool"]["name"] and item["tool"]["description"] and isinstance(item["tool"]["inputSchema"], dict)
    assert not re.search(r'"\$(include|file|generate)":', json.dumps(item["tool"]["inputSchema"]))
    check_schema(item["tool"]["inputSchema"])
    check_response(item["response"], "content", check_content, ["isError"])


def check_resource(item):
    only(item, ["resource", "response"])
    only(item["resource"], ["uri", "name"], ["description", "mimeType"])
    assert item["resource"]["uri"] and item["resource"]["name"]
    check_response(item["response"], "contents", check_resource_text, first=True)


def check_prompt(item):
    only(item, ["prompt", "response"])
    only(item["prompt"], ["name"], ["description", "arguments"])
    for argument in item["prompt"].get("arguments", []):
        only(argument, ["name"], ["description", "required"])
    check_response(item["response"], "messages", check_message, first=True)


def check_state(state):
    for kind, key, check in (("tools", ("tool", "name"), check_tool), ("resources", ("resource", "uri"), check_resource), ("prompts", ("prompt", "name"), check_prompt)):
        items = state.get(kind, [])
        for item in items:
            check(item)
        names = [item[key[0]][key[1]] for item in items]
        assert len(names) == len(set(names)), names


def check_capabilities(capabilities):
    for kind, flags in capabilities.items():
        assert set(flags) <= CAPABILITIES[kind]


def check_config(config):
    """Structure and semantics of TJ-SPEC-001, as far as a converted file uses it."""
    only(config, ["server"], ["baseline", "phases"] if "baseline" in config else ["tools", "resources", "prompts"])
    only(config["server"], ["name", "version"], ["capabilities"])
    assert config["server"]["name"] and isinstance(config["server"]["version"], str)
    check_capabilities(config["server"].get("capabilities", {}))
    if "baseline" not in config:
        check_state(config)
        return
    only(config, ["server", "baseline", "phases"])
    only(config["baseline"], ["tools", "capabilities"], ["resources", "prompts"])
    check_capabilities(config["baseline"]["capabilities"])
    check_state(config["baseline"])
    if config["phases"]:
        benign, attack = config["phases"]
        only(benign, ["name", "advance"])
        only(benign["advance"], ["on", "count"])
        assert benign["advance"]["on"] == "tools/call" and benign["advance"]["count"] >= 1
        only(attack, ["name", "replace_tools"])
        known = {item["tool"]["name"] for item in config["baseline"]["tools"]}
        for name, item in attack["replace_tools"].items():
            check_tool(item)
            assert name == item["tool"]["name"] and name in known


def interpolated(value):
    """The template pass at request time: every variable is empty."""
    if isinstance(value, dict):
        return {k: interpolated(v) for k, v in value.items()}
    if isinstance(value, list):
        return [interpolated(v) for v in value]
    if not isinstance(value, str):
        return value
    parts = value.split("$${")
    assert not [part for part in parts if "${" in part], "an unescaped template"
    return "${".join(parts)


class AttackServer:
    """One connection to a server with a configuration."""

    def __init__(self, config):
        self.base = config.get("baseline", config)
        self.phases = config.get("phases", [])
        self.phase = 0
        self.calls = 0
        self.used = {}

    def phase_name(self):
        return self.phases[self.phase]["name"] if self.phases else None

    def answer(self, kind, key, name, member):
        """The members of the n-th response of an item; None if there is no such item."""
        items = {item[key[0]][key[1]]: item for item in self.base.get(kind, [])}
        if kind == "tools" and self.phases:
            items.update(self.phases[self.phase].get("replace_tools", {}))
        if name not in items:
            return None
        response = items[name]["response"]
        n = self.used[kind, name] = self.used.get((kind, name), 0) + 1
        if "sequence" in response:
            response = response["sequence"][min(n, len(response["sequence"])) - 1]
        return interpolated({k: v for k, v in response.items() if k in (member, "isError")})

    def call(self, name):
        result = self.answer("tools", ("tool", "name"), name, "content")
        self.calls += 1
        advance = self.phases[self.phase].get("advance") if self.phases else None
        if advance and self.calls >= advance["count"]:
            self.phase += 1
        return result

    def read(self, uri):
        return self.answer("resources", ("resource", "uri"), uri, "contents")

    def get(self, name):
        return self.answer("prompts", ("prompt", "name"), name, "messages")


def check_oatf(document):
    """Structure of OATF 0.1, as far as a converted file uses it."""
    only(document, ["oatf", "$schema", "attack"])
    assert document["oatf"] == "0.1"
    only(document["attack"], ["name", "version", "status", "execution"], ["created"])
    execution = document["attack"]["execution"]
    only(execution, ["mode", "phases" if "phases" in execution else "state"])
    assert execution["mode"] == "mcp_server"
    phases = execution.get("phases", [execution])
    for phase in phases:
        for tool in phase["state"].get("tools", []):
            assert isinstance(tool["inputSchema"], dict)
            responses = tool.get("responses", [])
            assert len([r for r in responses if "when" not in r]) <= 1
            assert not [key for r in responses for key in r.get("when", {}) if not re.fullmatch(r"[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*", key)]
    if "phases" in execution:
        assert len({phase["name"] for phase in phases}) == len(phases)
        assert ["trigger" in phase for phase in phases] == [True] * (len(phases) - 1) + [False]
        assert not [phase for phase in phases[:-1] if phase["trigger"]["event"] != "tools/call" or phase["trigger"]["count"] < 1]


def oatf_text(value):
    """The template pass: every variable is empty."""
    if isinstance(value, dict):
        return {k: oatf_text(v) for k, v in value.items()}
    if isinstance(value, list):
        return [oatf_text(v) for v in value]
    if not isinstance(value, str):
        return value
    parts = value.split("\\{{")
    assert not [part for part in parts if "{{" in part], "an unescaped template"
    return "{{".join(parts)


def matches(when, params):
    for path, value in when.items():
        at = params
        for key in path.split("."):
            if not isinstance(at, dict) or key not in at:
                return False
            at = at[key]
        if at != value:
            return False
    return True


class OatfServer:
    """One connection to a server that an OATF document describes."""

    def __init__(self, document):
        execution = document["attack"]["execution"]
        self.phases = execution.get("phases", [execution])
        self.calls = 0

    def call(self, name, arguments):
        phase = self.phases[0]
        tool = next(t for t in phase["state"]["tools"] if t["name"] == name)
        response = next(r for r in tool["responses"] if matches(r.get("when", {}), {"name": name, "arguments": arguments}))
        self.calls += 1
        if "trigger" in phase and self.calls >= phase["trigger"]["count"]:
            self.phases = self.phases[1:]
            self.calls = 0
        return oatf_text({k: v for k, v in response.items() if k != "when"})
