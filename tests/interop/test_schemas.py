"""The schemas of real tools: our validator decides as jsonschema does, and accepts what the servers accept and send."""
import json
import random

import pytest

from peers import SERVERS, POPULAR_SERVERS
from schemas import compare, fitting, mutated

MAIN = ("everything", "filesystem", "memory", "python", "ts")
OTHERS = tuple(name for name in (*SERVERS, *POPULAR_SERVERS) if name not in (*MAIN, "playwright", "devtools"))  # those need a page
EACH = 40  # values for each schema, beside those of the session


def messages(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def seen_in(session_result):
    """Returns, for a session, the last tool of each name, and (name, arguments, result) of each call that
    succeeded."""
    results = {m["id"]: m["result"] for m in messages(session_result.got) if "result" in m and "id" in m}
    tools, calls = {}, []
    for m in messages(session_result.sent):
        result = results.get(m.get("id")) if "method" in m else None
        if result and m["method"] == "tools/list":
            tools.update({tool["name"]: tool for tool in result["tools"]})
        if result and m["method"] == "tools/call" and not result.get("isError"):
            calls.append((m["params"]["name"], m["params"].get("arguments", {}), result))
    return tools, calls


def pairs_of(rng, tools):
    for tool in tools.values():
        for schema in (tool["inputSchema"], tool.get("outputSchema")):
            for i in range(EACH if schema else 0):
                value = fitting(rng, schema)
                yield json.dumps(schema), json.dumps(mutated(rng, value) if i % 2 else value)


@pytest.mark.parametrize("server", [*MAIN, *(pytest.param(name, marks=pytest.mark.interop) for name in OTHERS)])
def test_schemas_of_real_tools_give_the_results_of_jsonschema(direct, mcpreel, record_property, server):
    probe = mcpreel.parent / "tests/json/schema-probe"
    tools, calls = seen_in(direct("ts", server))
    pairs = list(pairs_of(random.Random(server), tools))
    tally, wrong = compare(probe, pairs)
    record_property("shown", f"{server}: {len(tools)} tools, {len(calls)} calls, {tally}")
    assert not wrong, f"{len(wrong)} differences, the first:\n" + "\n".join(wrong[:5])
    assert tally["valid"] and tally["invalid"], tally

    used = [(json.dumps(tools[name]["inputSchema"]), json.dumps(arguments)) for name, arguments, _ in calls if name in tools]
    used += [(json.dumps(tools[name]["outputSchema"]), json.dumps(result["structuredContent"]))
             for name, _, result in calls if "structuredContent" in result and "outputSchema" in tools.get(name, {})]
    tally, wrong = compare(probe, used)
    assert used and not wrong and not tally["invalid"], (tally, wrong)
