"""Finished matches of one team, or of two against each other."""

import msgspec

from app.domain.match import Match
from app.store.statistics import EVER
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode
_WHEN = "status = 'finished' AND finished_at >= $2 AND finished_at < $3"
_NEWEST = "ORDER BY finished_at DESC LIMIT $4"


async def head_to_head(
    tx: Tx, team: int, opponent: int, *, since: int = 0, until: int = EVER, limit: int
) -> list[Match]:
    """The newest `limit` finished matches of the two, newest first."""
    rows = await tx.fetch(
        f"""
        (SELECT state FROM match WHERE home_id = $1::bigint AND away_id = $5::bigint AND {_WHEN} {_NEWEST})
        UNION ALL
        (SELECT state FROM match WHERE home_id = $5::bigint AND away_id = $1::bigint AND {_WHEN} {_NEWEST})
        """,
        *(team, since, until, limit, opponent),
    )
    found = sorted((_decode(row["state"]) for row in rows), key=_newest)
    return found[:limit]


async def of_team(tx: Tx, team: int, *, since: int = 0, until: int = EVER, limit: int) -> list[Match]:
    """The newest `limit` finished matches of a team, newest first."""
    rows = await tx.fetch(
        f"""
        (SELECT state FROM match WHERE home_id = $1::bigint AND {_WHEN} {_NEWEST})
        UNION ALL
        (SELECT state FROM match WHERE away_id = $1::bigint AND {_WHEN} {_NEWEST})
        """,
        *(team, since, until, limit),
    )
    found = sorted((_decode(row["state"]) for row in rows), key=_newest)
    return found[:limit]


def _newest(match: Match) -> tuple[int, int]:
    return -(match.finished_at or 0), -match.number
