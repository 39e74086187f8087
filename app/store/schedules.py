"""A tenant's booked matches, as schedules list them."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from app.domain.match import Match, Status
from app.store.sql import booked
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode
_WANTED = "m.status = ANY($1) AND ($2::bigint IS NULL OR m.scheduled_at >= $2 AND m.scheduled_at < $3)"
_LISTED = f"""
SELECT m.state FROM match m WHERE {_WANTED} AND {booked("$4")}
ORDER BY m.scheduled_at NULLS LAST, m.number LIMIT $5 OFFSET $6
"""
_UNBOOKED = """
SELECT coalesce(md5(string_agg(match_id::text, ' ' ORDER BY match_id)), '') FROM unbooked WHERE tenant_id = $1
"""
_CHANGED = f"""
SELECT m.number, max(c.at) AS at FROM change c JOIN match m ON m.id = c.match_id
WHERE c.message = 'fixture_change' AND c.at > $1 AND m.status = ANY($2)
AND {booked("$3")}
GROUP BY m.number ORDER BY at, m.number
"""


class ScheduleFilter(msgspec.Struct, frozen=True):
    """Which matches: those in these states, and, with `since`, scheduled from then until before `until`
    (Unix ms)."""

    statuses: tuple[Status, ...]
    since: int | None = None
    until: int | None = None


async def listing(
    tx: Tx, tenant_id: UUID, wanted: ScheduleFilter, *, start: int = 0, limit: int | None = None
) -> list[Match]:
    """The tenant's matches by scheduled start, then number; `last_stamp` and `last_seq` are not set."""
    selection = (list(wanted.statuses), wanted.since, wanted.until)
    rows = await tx.fetch(_LISTED, *selection, tenant_id, limit, start)
    return [_decode(row["state"]) for row in rows]


async def unbooked_digest(tx: Tx, tenant_id: UUID) -> str:
    """A digest of the matches that the tenant has unbooked: "" when it has booked all."""
    found: str = await tx.value(_UNBOOKED, tenant_id)
    return found


async def fixture_changes(
    tx: Tx, tenant_id: UUID, after: int, statuses: Sequence[Status]
) -> list[tuple[int, int]]:
    """The numbers of the tenant's matches in these states with a fixture change published after `after` (ms),
    each with the time of its latest, by that time. The change log is pruned after some days."""
    rows = await tx.fetch(_CHANGED, after, list(statuses), tenant_id)
    return [(row["number"], row["at"]) for row in rows]
