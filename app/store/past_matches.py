"""Finished matches of one team, or of two against each other."""

import msgspec

from app.domain.match import Match
from app.store.statements import reads
from app.store.statistics import EVER
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode


async def head_to_head(
    tx: Tx, team: int, opponent: int, *, since: int = 0, until: int = EVER, limit: int
) -> list[Match]:
    """The newest `limit` finished matches of the two, newest first."""
    rows = await tx.fetch(reads.HEAD_TO_HEAD, team, since, until, limit, opponent)
    found = sorted((_decode(row["state"]) for row in rows), key=_newest)
    return found[:limit]


async def of_team(tx: Tx, team: int, *, since: int = 0, until: int = EVER, limit: int) -> list[Match]:
    """The newest `limit` finished matches of a team, newest first."""
    rows = await tx.fetch(reads.MATCHES_OF_TEAM, team, since, until, limit)
    found = sorted((_decode(row["state"]) for row in rows), key=_newest)
    return found[:limit]


def _newest(match: Match) -> tuple[int, int]:
    return -(match.finished_at or 0), -match.number
