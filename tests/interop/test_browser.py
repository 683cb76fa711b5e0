"""A page in a real browser as the client: it sees only what the server lets it see."""
import os
import shlex
from urllib.parse import urlsplit

import pytest
from browser import ELSEWHERE, Browser
from conformance import LISTEN, listening, replaying

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def browser(peer_home, stage):
    return Browser(peer_home("npm-pins") / "node_modules", stage.fresh)


@pytest.fixture(scope="module")
def legacy(taped_visit):
    return taped_visit("ts", "ts").file


def assert_served(found, session):
    assert "error" not in found, found
    assert "add" in found["tools"] and "42" in str(found["content"]) and found["session"] == session


@pytest.mark.parametrize("client,server,session", [("ts", "ts", True), ("ts-2-auto", "ts-2", False)])
def test_a_local_page_is_a_client_of_a_replay(browser, taped_visit, mcpreel, stage, client, server, session):
    taped = taped_visit(client, server)
    how = replaying(mcpreel, taped.file, "--match", "by-request")
    with listening(how, stage.fresh() / "err") as address, browser.at() as (_, visit):
        assert_served(visit(f"{address}/mcp"), session)


def test_a_page_is_a_client_of_a_stdio_server(browser, mcpreel, stage):
    where = stage.fresh()
    how = [mcpreel, "record", *LISTEN, "-o", where / "r.jsonl", "--upstream", shlex.join(map(os.fspath, stage.server("ts")))]
    with listening(how, where / "err") as address, browser.at() as (_, visit):
        assert_served(visit(f"{address}/mcp"), True)


def test_a_page_of_another_origin_is_a_client_if_it_is_accepted(browser, legacy, mcpreel, stage):
    with browser.at(ELSEWHERE) as (origin, visit):
        assert urlsplit(origin).hostname == ELSEWHERE
        with listening(replaying(mcpreel, legacy, "--match", "by-request"), stage.fresh() / "err") as address:
            assert "Failed to fetch" in visit(f"{address}/mcp")["error"]
        how = replaying(mcpreel, legacy, "--match", "by-request", "--allow-origin", origin)
        with listening(how, stage.fresh() / "err") as address:
            assert_served(visit(f"{address}/mcp"), True)
