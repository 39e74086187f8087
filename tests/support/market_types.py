"""Market types that a test switches off for a tenant, or on."""

from app.access.market_types import set_market_types
from app.kit.clock import system_clock
from app.store.connections import Store

ROUND_WINNER = 13  #: the type of `tests.support.story.offer`


async def switch(store: Store, on: bool, *types: int, slug: str = "acme", now: int | None = None) -> None:
    """Switch these types, or the winner of a round, for the tenant."""
    async with store.transaction() as tx:
        at = system_clock() if now is None else now
        await set_market_types(tx, slug, types or (ROUND_WINNER,), on, by="test", now=at)
