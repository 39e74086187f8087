"""What the handlers read with."""

import msgspec

from app.domain.match import Match
from app.domain.tenant import Grant
from app.http.health import Health
from app.kit.clock import Clock
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
    return await matches.by_ref(tx, ref, finished_only=grant.finished_only)
