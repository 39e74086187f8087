"""Names by how well they fit what somebody is typing.

The database keeps the pieces of three letters of each name (`name_piece`), so that a name is found by what
it holds and by what it resembles without reading the others. A match is found by its teams and tournament.
"""

from collections.abc import Mapping
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.store import entrants
from app.store.entrants import E, EntrantTable, folded
from app.store.transaction import Row, Tx

LEAST = 2  #: letters that a query must have
_LIKE = 0.3  #: names that resemble the query less are not found
_LAST = chr(0x10FFFF)
_MATCHES_OF = 20  #: newest matches that are looked at of each team and tournament
_decode = msgspec.json.Decoder(Match).decode

#: Another name may be made of the very same pieces; only the name itself scores 1.
_SCORE = """greatest(CASE WHEN folded = $2 THEN 1.0 WHEN starts_with(folded, $2) THEN 0.9
    WHEN position($2 IN folded) > 0 THEN 0.7 ELSE 0.0 END, least(likeness, 0.99))"""
#: Names with all the pieces that lie within the query, and those with many of the query's own.
_NEAR = f"""
SELECT id, likeness FROM (
    SELECT id, count(*) FILTER (WHERE piece = ANY($5::text[])) AS within,
        count(*)::float8 / (pieces + cardinality($4::text[]) - count(*)) AS likeness
    FROM name_piece WHERE shelf = $1 AND piece = ANY($4::text[]) GROUP BY id, pieces
) AS found WHERE within = cardinality($5::text[]) OR likeness >= {_LIKE}
"""
#: Two letters make no piece, but begin one wherever they stand.
_SHORT = """
SELECT DISTINCT id, 0.0::float8 AS likeness FROM name_piece WHERE shelf = $1 AND piece >= $4 AND piece < $5
"""


async def named(
    tx: Tx, table: EntrantTable[E], query: str, *, limit: int, finished_only: bool
) -> list[tuple[E, float]]:
    """The `limit` best of a shelf with their scores: 1 for the very name, 0.9 where the name begins so, 0.7
    where it holds the query, and how much it resembles it, whichever is most. `finished_only` as in
    `entrants.listing`."""
    wanted = folded(query)
    if len(wanted) < LEAST:
        return []
    near, cut = (_NEAR, pieces(wanted)) if len(wanted) > LEAST else (_SHORT, (wanted, wanted + _LAST))
    public = entrants.public_only(table) if finished_only else "true"
    rows = await tx.fetch(
        f"""
        WITH near AS ({near})
        SELECT body, {_SCORE} AS score FROM near JOIN {table.name} AS one USING (id)
        WHERE (likeness >= {_LIKE} OR position($2 IN folded) > 0) AND {public}
        ORDER BY score DESC, length(folded), id LIMIT $3
        """,
        *(table.name, wanted, limit, *cut),
    )
    return [(msgspec.json.decode(row["body"], type=table.type), row["score"]) for row in rows]


async def matches(
    tx: Tx, teams: Mapping[int, float], tournaments: Mapping[int, float], *, limit: int, finished_only: bool
) -> list[tuple[Match, float]]:
    """The `limit` best matches of teams and tournaments that have these scores: the best of its two teams and
    its tournament is a match's own; of equal ones the newer go first."""
    scores: dict[UUID, float] = {}
    numbers: dict[UUID, int] = {}
    for column, of in (("home_id", teams), ("away_id", teams), ("tournament_id", tournaments)):
        for row in await _newest(tx, column, list(of), finished_only):
            scores[row["id"]] = max(scores.get(row["id"], 0.0), of[row["entrant"]])
            numbers[row["id"]] = row["number"]
    best = sorted(scores, key=lambda one: (-scores[one], -numbers[one]))[:limit]
    rows = await tx.fetch("SELECT state FROM match WHERE id = ANY($1)", best)
    found = {match.id: match for match in (_decode(row["state"]) for row in rows)}
    return [(found[one], scores[one]) for one in best if one in found]


async def _newest(tx: Tx, column: str, numbers: list[int], finished_only: bool) -> list[Row]:
    if not numbers:
        return []
    status = "AND status = 'finished'" if finished_only else ""
    return await tx.fetch(
        f"""
        SELECT wanted.entrant, newest.* FROM unnest($1::int[]) AS wanted (entrant), LATERAL (
            SELECT id, number FROM match WHERE {column} = wanted.entrant {status}
            ORDER BY number DESC LIMIT {_MATCHES_OF}
        ) AS newest
        """,
        numbers,
    )


def pieces(wanted: str) -> tuple[list[str], list[str]]:
    """The query's pieces as the database makes them, and those that lie within it."""
    padded = f" {wanted}  "
    cut = {padded[place : place + 3] for place in range(len(wanted) + 1)}
    return sorted(cut), sorted({wanted[place : place + 3] for place in range(len(wanted) - 2)})
