"""What the change log has of one match: rounds, events, entries of the ledger and changes of a few markets,
in the order in which they happened.

The log is read by its index on (match, seq), which passes over the changes of the match's other markets: a
reader goes on after the seq that it has read up to, so that only its first read is long.
"""

from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.changes import RoundLive
from app.domain.market import Market
from app.domain.match import Round, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.store.prepared import prepared
from app.store.sql import any_of, literals
from app.store.tables.change import Change
from app.store.transaction import Row, Tx

Logged = Market | LedgerEntry | Round | RoundLive | TimelineEvent


class LoggedChange(msgspec.Struct, frozen=True):
    """What changed at `at` (Unix ms). `by_log`: lines of the game server's log are the cause; else
    time, or an operator. Changes of one transaction have nearly the same `at`."""

    seq: int
    at: int
    by_log: bool
    what: Logged


_BODIES: dict[str, Callable[[bytes], Logged]] = {
    "market": msgspec.json.Decoder(Market).decode,
    "settlement": msgspec.json.Decoder(LedgerEntry).decode,
    "event": msgspec.json.Decoder(TimelineEvent).decode,
    "round": msgspec.json.Decoder(Round).decode,
}
_round_live = msgspec.json.Decoder(RoundLive).decode
_PLAY = ("event", "round")
_OF_MARKETS = ("market", "settlement")


async def of_match(
    tx: Tx, match_id: UUID, markets: Collection[str], after: int, *, limit: int, every_entry: bool
) -> list[Row]:
    """The newest `limit` rows with a higher seq than `after`, newest first: rounds, events, changes of these
    `markets` (by name), and entries of the ledger about them, or about all markets with `every_entry`. To be
    read by `decoded`."""
    return await tx.run(_of_match(match_id, list(markets), after, limit=limit, every_entry=every_entry))


def decoded(rows: Collection[Row]) -> list[LoggedChange]:
    """The changes in these rows, oldest first."""
    return sorted((_decoded(row) for row in rows), key=lambda change: change.seq)


def _decoded(row: Row) -> LoggedChange:
    # A round that has begun is named by its place, one that has ended by its history id.
    begun = row["entity"] == "round" and ":" in row["key"]
    what = _round_live(row["body"]) if begun else _BODIES[row["entity"]](row["body"])
    return LoggedChange(row["seq"], row["at"], row["arrived_at"] > 0, what)


@prepared
def _of_match(
    match_id: UUID, names: Collection[str], after: int, *, limit: int, every_entry: bool
) -> Select[Any]:
    play = Change.entity.is_in(literals((*_PLAY, "settlement") if every_entry else _PLAY))
    of_markets = Change.entity.is_in(literals(_OF_MARKETS)) & any_of(Change.key, names)
    columns = (Change.seq, Change.at, Change.arrived_at, Change.entity, Change.key, Change.body)
    query = Change.select(*columns).where(Change.match_id == match_id, Change.seq > after)
    return query.where(play | of_markets).order_by(Change.seq, ascending=False).limit(limit)
