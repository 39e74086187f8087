"""Notifications that invalidate cached response bodies.

Every write of a match that a response shows (a new timestamp is one), of bookings or of reference data sends
one in the same transaction. For a match it contains a digest of its row in lists, so that a cached list stays
valid while its matches change in fields that lists do not show.
"""

import zlib
from collections.abc import Collection, Iterable
from typing import Self
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.store import notifications
from app.store.statements import server
from app.store.transaction import Tx

#: NOTIFY channel of every version: what responses show has changed. The payload is a match's id and row
#: digest, or empty: anything may have changed.
CHANNEL = "shown"


class MatchInvalidation(msgspec.Struct, frozen=True):
    """A match has changed; `row` digests its row in lists of matches, "" for a removed match."""

    match_id: UUID
    row: str

    @classmethod
    def parse(cls, payload: str) -> Self | None:
        """The match of a notification; None when everything is invalid."""
        match_id, _, row = payload.partition(" ")
        return cls(UUID(match_id), row) if match_id else None


def match_payload(match: Match) -> str:
    """The notification's payload when `match` is written."""
    play = match.map
    row = (
        *(match.number, match.home, match.away, match.event, match.best_of, match.status.value),
        *(match.scheduled_at, match.started_at is None, match.score_home, match.score_away),
        *(match.home_id, match.away_id, match.tournament_id, play.name if play else ""),
    )
    return f"{match.id} {zlib.crc32(repr(row).encode()):x}"


async def notify_timestamps(tx: Tx, matches: Iterable[Match]) -> None:
    """Notify that these matches have a new timestamp, and are otherwise as they were."""
    payloads = [match_payload(match) for match in matches]
    await tx.execute(server.NOTIFY_ALL, CHANNEL, payloads)


async def notify_removed(tx: Tx, match_ids: Collection[UUID]) -> None:
    """Notify that these matches have been removed."""
    await tx.execute(server.NOTIFY_ALL, CHANNEL, [f"{match_id} " for match_id in match_ids])


async def notify_all(tx: Tx) -> None:
    """Notify that bookings or reference data have changed."""
    await notifications.notify(tx, CHANNEL)
