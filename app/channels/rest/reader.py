"""What the handlers read with."""

import msgspec

from app.domain.match import Match, Status
from app.domain.tenant import Grant
from app.http.health import Health
from app.kit.clock import Clock
from app.kit.errors import NotFound
from app.store import matches
from app.store.connections import Store
from app.store.transaction import Tx


class Reader(msgspec.Struct, frozen=True):
    """The store, the clock, how each part of the service is, the `product` that the feed publishes as, and
    what the URNs of soccer begin with."""

    store: Store
    clock: Clock
    health: Health
    product: int
    soccer_prefix: str


async def visible(tx: Tx, grant: Grant, ref: str) -> Match:
    """The match that `ref` names (UUID or ``od:match:<n>``), if this key may know of it; else `NotFound`."""
    match = await matches.find(tx, ref)
    if match is None or (grant.finished_only and match.status is not Status.FINISHED):
        raise NotFound(f"There is no match {ref!r}.")
    return match
