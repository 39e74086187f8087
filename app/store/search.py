"""Search by name: trigrams, for suggestions while somebody types.

The database stores the trigrams of each name (`name_trigram`), so that a name is found by its parts and by
similarity without reading the others. A match is found by its teams and tournament.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.match import Match
from app.store import entrants
from app.store.entrants import E, EntrantTable, folded
from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.statements import reads
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Row, Tx

MIN_QUERY_LENGTH = 2  #: the minimum length of a query
_LAST = chr(0x10FFFF)
_MATCHES_OF = 20  #: newest matches that are read for each team and tournament
_decode = msgspec.json.Decoder(Match).decode


async def named(
    tx: Tx, table: EntrantTable[E], query: str, *, limit: int, finished_only: bool
) -> list[tuple[E, float]]:
    """The `limit` best of a table with their scores, the highest of: 1 for the very name, 0.9 for a prefix,
    0.7 for a substring, and the similarity. `finished_only` as in `entrants.listing`."""
    wanted = folded(query)
    if len(wanted) < MIN_QUERY_LENGTH:
        return []
    near, cut = (
        (reads.NEAR, trigrams(wanted))
        if len(wanted) > MIN_QUERY_LENGTH
        else (reads.NEAR_SHORT, (wanted, wanted + _LAST))
    )
    public = entrants.public_condition(table, "one") if finished_only else "true"
    rows = await tx.fetch(reads.search(table.name, near, public), table.name, wanted, limit, *cut)
    return [(msgspec.json.decode(row["body"], type=table.type), row["score"]) for row in rows]


async def matches(
    tx: Tx, teams: Mapping[int, float], tournaments: Mapping[int, float], *, limit: int, finished_only: bool
) -> list[tuple[Match, float]]:
    """The `limit` best matches of teams and tournaments with these scores: a match's score is the highest of
    its two teams' and its tournament's; of equal ones the newer is first."""
    scores: dict[UUID, float] = {}
    numbers: dict[UUID, int] = {}
    for column, of in (("home_id", teams), ("away_id", teams), ("tournament_id", tournaments)):
        for row in await _newest(tx, column, list(of), finished_only):
            scores[row["id"]] = max(scores.get(row["id"], 0.0), of[row["entrant"]])
            numbers[row["id"]] = row["number"]
    best = sorted(scores, key=lambda one: (-scores[one], -numbers[one]))[:limit]
    rows = await tx.run(_states(best))
    found = {match.id: match for match in (_decode(row["state"]) for row in rows)}
    return [(found[one], scores[one]) for one in best if one in found]


async def _newest(tx: Tx, column: str, numbers: list[int], finished_only: bool) -> list[Row]:
    if not numbers:
        return []
    return await tx.fetch(reads.newest_matches(column, _MATCHES_OF, finished_only=finished_only), numbers)


@prepared
def _states(ids: Sequence[UUID]) -> Select[Any]:
    return MatchTable.select(MatchTable.state).where(any_of(MatchTable.id, ids))


def trigrams(wanted: str) -> tuple[list[str], list[str]]:
    """The query's trigrams as the database makes them (padded), and those without padding."""
    padded = f" {wanted}  "
    cut = {padded[place : place + 3] for place in range(len(wanted) + 1)}
    return sorted(cut), sorted({wanted[place : place + 3] for place in range(len(wanted) - 2)})
