"""An MCP server on FastMCP: the stock of a small shop. Its state is lost when it ends.

python server.py
"""

import uuid

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

server = FastMCP("shop", version="1.0.0", instructions="Find an item, then reserve it by its number.")


class Item(BaseModel):
    number: str
    name: str
    stock: int


class Reservation(BaseModel):
    id: str
    item: str
    count: int


ITEMS = {
    item.number: item
    for item in (
        Item(number="D-100", name="oak desk", stock=3),
        Item(number="L-200", name="desk lamp", stock=12),
        Item(number="C-300", name="office chair", stock=0),
    )
}
RESERVATIONS: dict[str, Reservation] = {}


@server.tool(annotations={"readOnlyHint": True})
def find_items(text: str) -> list[Item]:
    """Return the items whose name contains the text."""
    return [item for item in ITEMS.values() if text in item.name]


@server.tool
def reserve(item: str, count: int) -> Reservation:
    """Reserve some pieces of an item, given by its number."""
    if item not in ITEMS:
        raise ToolError(f"there is no item {item}")
    if count > ITEMS[item].stock:
        raise ToolError(f"{item} has a stock of {ITEMS[item].stock}, not {count}")
    ITEMS[item].stock -= count
    reservation = Reservation(id=str(uuid.uuid4()), item=item, count=count)
    RESERVATIONS[reservation.id] = reservation
    return reservation


@server.tool
def cancel(reservation: str) -> Item:
    """Cancel a reservation, given by its id, and return the item with its new stock."""
    if reservation not in RESERVATIONS:
        raise ToolError(f"there is no reservation {reservation}")
    cancelled = RESERVATIONS.pop(reservation)
    ITEMS[cancelled.item].stock += cancelled.count
    return ITEMS[cancelled.item]


if __name__ == "__main__":
    server.run(show_banner=False, log_level="WARNING")
