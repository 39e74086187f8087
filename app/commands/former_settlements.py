"""The end of an upgrade from 0.1.0: settlements that depend on what its processes wrote last.

They know fewer market types: they neither settle those others nor roll them back. A process of ours does so
with the next change of the match; here it is done for matches that may have none.
"""

from collections.abc import AsyncIterator, Callable

import msgspec

from app.commands import match_update
from app.store import matches
from app.store.connections import Store
from app.trading.pricing_config import PricingConfig
from app.trading.registry import RULES


class Completed(msgspec.Struct, frozen=True):
    """A match whose settlements are complete now, and how many ledger entries that took."""

    number: int
    entries: int


async def complete(
    store: Store, clock: Callable[[], int], pricing: PricingConfig
) -> AsyncIterator[Completed]:
    """Settle, or roll back, what the facts decide in every match that a process of 0.1.0 wrote after one of
    ours: each in a transaction of its own. To be called when none of its processes is left; again is safe."""
    async with store.autocommit() as tx:
        ids = await matches.written_last_by_0_1_0(tx)
    for match_id in ids:
        async with store.transaction() as tx:
            match = await matches.lock(tx, match_id)
            if match.types_known == len(RULES):
                continue
            update = await match_update.prepare(
                tx,
                match,
                match,
                (),
                now=clock(),
                may_price=match.over or not match.applied_late,
                pricing=pricing,
            )
            await match_update.write(tx, update)
        yield Completed(match.number, len(update.reaction.entries))
