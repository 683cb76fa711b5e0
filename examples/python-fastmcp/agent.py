"""Code that uses the server: it orders several items, as an agent would. It knows no recordings."""

from typing import Any

from fastmcp import Client
from fastmcp.exceptions import ToolError


class OrderError(Exception):
    """The order cannot be fulfilled. Nothing is reserved."""


async def order(client: Client, wishes: dict[str, int]) -> list[Any]:
    """Reserve each wish, a name and a count. If one of them cannot be reserved, cancel the others."""
    reservations: list[Any] = []
    try:
        for name, count in wishes.items():
            number = await _find(client, name)
            reservations.append((await client.call_tool("reserve", {"item": number, "count": count})).data)
    except (ToolError, OrderError) as error:
        for reservation in reservations:
            await client.call_tool("cancel", {"reservation": reservation.id})
        raise OrderError(str(error)) from error
    return reservations


async def _find(client: Client, name: str) -> str:
    """The number of the only item with this name."""
    items = (await client.call_tool("find_items", {"text": name})).structured_content["result"]
    if len(items) != 1:
        raise OrderError(f"{len(items)} items have the name {name}")
    return items[0]["number"]
