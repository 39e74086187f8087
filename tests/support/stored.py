"""What the store holds now, each read in a transaction of its own."""

from app.domain.market import Market
from app.domain.match import Match
from app.store import changes, markets, matches
from app.store.connections import Store


async def head(store: Store) -> int:
    """The number of the newest change."""
    async with store.autocommit() as tx:
        return await changes.head(tx)


async def present(store: Store, match: Match) -> Match:
    async with store.autocommit() as tx:
        found = await matches.get(tx, match.id)
    assert found
    return found


async def book(store: Store, match: Match) -> dict[tuple[int, str], Market]:
    """All markets that the match ever had."""
    async with store.autocommit() as tx:
        return await markets.book(tx, match.id)
