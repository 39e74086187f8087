"""Search by name: trigrams, for suggestions while somebody types.

The database stores the trigrams of each name (`name_piece`), so that a name is found by its parts and by
similarity without reading the others. A match is found by its teams and tournament.
"""

from collections.abc import Mapping
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.store import entrants
from app.store.entrants import E, EntrantTable, folded
from app.store.transaction import Row, Tx

MIN_QUERY_LENGTH = 2  #: the minimum length of a query
_MIN_SIMILARITY = 0.3  #: names of a lower similarity are not found
_LAST = chr(0x10FFFF)
_MATCHES_OF = 20  #: newest matches that are read for each team and tournament
_decode = msgspec.json.Decoder(Match).decode

#: Another name may have the very same trigrams; only the name itself scores 1.
_SCORE = """greatest(CASE WHEN folded = $2 THEN 1.0 WHEN starts_with(folded, $2) THEN 0.9
    WHEN position($2 IN folded) > 0 THEN 0.7 ELSE 0.0 END, least(likeness, 0.99))"""
#: Names with all trigrams within the query, and names with many of its trigrams.
_NEAR = f"""
SELECT id, likeness FROM (
    SELECT id, count(*) FILTER (WHERE piece = ANY($5::text[])) AS within,
        count(*)::float8 / (pieces + cardinality($4::text[]) - count(*)) AS likeness
    FROM name_piece WHERE shelf = $1 AND piece = ANY($4::text[]) GROUP BY id, pieces
) AS found WHERE within = cardinality($5::text[]) OR likeness >= {_MIN_SIMILARITY}
"""
#: Two letters make no trigram, but begin one wherever they occur.
_SHORT = """
SELECT DISTINCT id, 0.0::float8 AS likeness FROM name_piece WHERE shelf = $1 AND piece >= $4 AND piece < $5
"""


async def named(
    tx: Tx, table: EntrantTable[E], query: str, *, limit: int, finished_only: bool
) -> list[tuple[E, float]]:
    """The `limit` best of a table with their scores, the highest of: 1 for the very name, 0.9 for a prefix,
    0.7 for a substring, and the similarity. `finished_only` as in `entrants.listing`."""
    wanted = folded(query)
    if len(wanted) < MIN_QUERY_LENGTH:
        return []
    near, cut = (
        (_NEAR, trigrams(wanted)) if len(wanted) > MIN_QUERY_LENGTH else (_SHORT, (wanted, wanted + _LAST))
    )
    public = entrants.public_condition(table) if finished_only else "true"
    rows = await tx.fetch(
        f"""
        WITH near AS ({near})
        SELECT body, {_SCORE} AS score FROM near JOIN {table.name} AS one USING (id)
        WHERE (likeness >= {_MIN_SIMILARITY} OR position($2 IN folded) > 0) AND {public}
        ORDER BY score DESC, length(folded), id LIMIT $3
        """,
        *(table.name, wanted, limit, *cut),
    )
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


def trigrams(wanted: str) -> tuple[list[str], list[str]]:
    """The query's trigrams as the database makes them (padded), and those without padding."""
    padded = f" {wanted}  "
    cut = {padded[place : place + 3] for place in range(len(wanted) + 1)}
    return sorted(cut), sorted({wanted[place : place + 3] for place in range(len(wanted) - 2)})
