"""Tests of agent.py. The server of each test is a recording, made from server.py when the test ran first."""

import pytest
from fastmcp import Client

from agent import OrderError, order

pytestmark = [pytest.mark.anyio, pytest.mark.mcp("python server.py")]


async def test_all_wishes_are_reserved(mcp_server):
    async with Client(mcp_server.url) as client:
        reservations = await order(client, {"oak desk": 1, "desk lamp": 2})
    assert [(r.item, r.count) for r in reservations] == [("D-100", 1), ("L-200", 2)]
    mcp_server.assert_called("reserve", item="L-200", count=2)
    mcp_server.assert_not_called("cancel")


async def test_nothing_stays_reserved_if_an_item_is_out_of_stock(mcp_server):
    async with Client(mcp_server.url) as client:
        with pytest.raises(OrderError, match="C-300 has a stock of 0, not 4"):
            await order(client, {"oak desk": 1, "office chair": 4})
    assert [call.tool for call in mcp_server.calls] == ["find_items", "reserve", "find_items", "reserve", "cancel"]


async def test_a_name_of_two_items_is_not_ordered(mcp_server):
    async with Client(mcp_server.url) as client:
        with pytest.raises(OrderError, match="2 items have the name desk"):
            await order(client, {"desk": 1})
    mcp_server.assert_not_called("reserve")
