"""Periodic checks of many matches, each in a transaction of its own."""

from collections.abc import Awaitable, Callable, Iterable
from uuid import UUID

from app.domain.match import Match
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import matches
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)


async def for_each_match(
    store: Store, ids: Iterable[UUID], act: Callable[[Tx, Match], Awaitable[None]]
) -> int:
    """Call `act` for each match, locked, in a transaction of its own; how many succeeded.

    One match that fails must not leave the others open, so only an unavailable database ends this.
    """
    return await for_each_locked(store, ids, matches.lock, act)


async def for_each_locked(
    store: Store,
    ids: Iterable[UUID],
    lock: Callable[[Tx, UUID], Awaitable[Match | None]],
    act: Callable[[Tx, Match], Awaitable[None]],
) -> int:
    """The same for those matches that `lock` locks and returns."""
    done = 0
    for match_id in ids:
        try:
            async with store.transaction() as tx:
                match = await lock(tx, match_id)
                if match is None:
                    continue
                await act(tx, match)
            done += 1
        except Unavailable:
            raise
        except Exception:
            log.exception("a periodic check of a match failed", match_id=str(match_id))
    return done
