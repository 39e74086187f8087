"""The signal that what is shown has changed, for those who keep renderings of it.

Whoever writes a match, bookings or reference data sends it in the same transaction. For a match it carries
a digest of its row in lists, so that a list stands while matches in it change in what it does not show.
"""

import zlib
from collections.abc import Collection
from typing import Self
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.store import notifications
from app.store.transaction import Tx

CHANNEL = "shown"  #: the payload is a match's id and row, or empty: anything may have changed


class MatchInvalidation(msgspec.Struct, frozen=True):
    """A match has changed; `row` is equal for equal rows in lists of matches, "" for a match that is gone."""

    match_id: UUID
    row: str

    @classmethod
    def parse(cls, payload: str) -> Self | None:
        """What a signal says; None when it means everything."""
        match_id, _, row = payload.partition(" ")
        return cls(UUID(match_id), row) if match_id else None


def match_payload(match: Match) -> str:
    """What the signal says when `match` is written."""
    play = match.map
    row = (
        *(match.number, match.home, match.away, match.event, match.best_of, match.status.value),
        *(match.scheduled_at, match.started_at is None, match.score_home, match.score_away),
        *(match.home_id, match.away_id, match.tournament_id, play.name if play else ""),
    )
    return f"{match.id} {zlib.crc32(repr(row).encode()):x}"


async def notify_removed(tx: Tx, match_ids: Collection[UUID]) -> None:
    """Tell that these matches are there no more."""
    await tx.execute("SELECT pg_notify($1, id || ' ') FROM unnest($2::uuid[]) AS id", CHANNEL, match_ids)


async def notify_all(tx: Tx) -> None:
    """Tell that bookings or reference data have changed."""
    await notifications.notify(tx, CHANNEL)
