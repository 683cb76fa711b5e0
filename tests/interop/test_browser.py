"""A page in a real browser as the client: it sees only what the server lets it see."""
import os
import shlex
from urllib.parse import urlsplit

import pytest
from browser import OTHER_HOST, Browser
from conformance import LISTEN, listening, replaying

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def browser(peer_home, peer_runner):
    return Browser(peer_home("npm-pins") / "node_modules", peer_runner.new_folder)


@pytest.fixture(scope="module")
def stateful_recording(recorded_http):
    return recorded_http("ts", "ts").file


def assert_served(page_result, session):
    assert "error" not in page_result, page_result
    assert "add" in page_result["tools"] and "42" in str(page_result["content"]) and page_result["session"] == session


@pytest.mark.parametrize("client,server,session", [("ts", "ts", True), ("ts-2-auto", "ts-2", False)])
def test_a_local_page_is_a_client_of_a_replay(browser, recorded_http, mcpreel, peer_runner, client, server, session):
    recorded_session = recorded_http(client, server)
    how = replaying(mcpreel, recorded_session.file, "--match", "by-request")
    with listening(how, peer_runner.new_folder() / "err") as address, browser.at() as (_, run_page):
        assert_served(run_page(f"{address}/mcp"), session)


def test_a_page_is_a_client_of_a_stdio_server(browser, mcpreel, peer_runner):
    where = peer_runner.new_folder()
    how = [mcpreel, "record", *LISTEN, "-o", where / "r.jsonl", "--upstream", shlex.join(map(os.fspath, peer_runner.server("ts")))]
    with listening(how, where / "err") as address, browser.at() as (_, run_page):
        assert_served(run_page(f"{address}/mcp"), True)


def test_a_page_of_another_origin_is_a_client_if_it_is_accepted(browser, stateful_recording, mcpreel, peer_runner):
    with browser.at(OTHER_HOST) as (origin, run_page):
        assert urlsplit(origin).hostname == OTHER_HOST
        with listening(replaying(mcpreel, stateful_recording, "--match", "by-request"), peer_runner.new_folder() / "err") as address:
            assert "Failed to fetch" in run_page(f"{address}/mcp")["error"]
        how = replaying(mcpreel, stateful_recording, "--match", "by-request", "--allow-origin", origin)
        with listening(how, peer_runner.new_folder() / "err") as address:
            assert_served(run_page(f"{address}/mcp"), True)
