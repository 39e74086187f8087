"""What the store holds now, each read (or written) in a transaction of its own."""

from typing import Any

from app.domain.market import Market, MarketStatus
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.store import alerts, audit, changes, entrants, history, markets, matches
from app.store.alerts import Alert, AlertKind
from app.store.audit import AuditRecord
from app.store.changes import ChangeRow
from app.store.connections import Store

_ALL = 2**31 - 1


async def head(store: Store) -> int:
    """The number of the newest change."""
    async with store.autocommit() as tx:
        return await changes.head(tx)


async def changes_after(store: Store, seq: int) -> list[ChangeRow]:
    """The changes with a higher number."""
    async with store.autocommit() as tx:
        return await changes.read(tx, seq, _ALL)


async def present(store: Store, match: Match) -> Match:
    async with store.autocommit() as tx:
        found = await matches.get(tx, match.id)
    assert found
    return found


async def book(store: Store, match: Match) -> dict[tuple[int, str], Market]:
    """All markets that the match ever had."""
    async with store.autocommit() as tx:
        return await markets.book(tx, match.id)


async def active(store: Store, match: Match) -> list[Market]:
    """The markets of the match on which bets are accepted."""
    async with store.autocommit() as tx:
        found = await markets.open_of_match(tx, match.id)
    return [market for market in found if market.status is MarketStatus.ACTIVE]


async def ledger(store: Store, match: Match) -> list[LedgerEntry]:
    async with store.autocommit() as tx:
        return await history.ledger(tx, match.id)


async def put_entrants(store: Store, table: entrants.EntrantTable[Any], *rows: Any) -> None:
    """Tournaments, teams or players, as a file brings them."""
    async with store.transaction() as tx:
        await entrants.put(tx, table, rows)


async def open_alerts(store: Store, *kinds: AlertKind, match: Match | None = None) -> list[Alert]:
    """The alerts that have not ended, of these kinds or of all, about this match or any, newest first."""
    return [one for one in await all_alerts(store, *kinds, match=match) if one.ended_at is None]


async def all_alerts(store: Store, *kinds: AlertKind, match: Match | None = None) -> list[Alert]:
    """The same with those that have ended."""
    async with store.autocommit() as tx:
        return await alerts.listing(tx, kinds=kinds or tuple(AlertKind), match_id=match and match.id)


async def records(store: Store, subject: object, limit: int = 10) -> list[AuditRecord]:
    """The newest records of the audit about this, newest first."""
    async with store.autocommit() as tx:
        return await audit.about(tx, str(subject), limit=limit)
