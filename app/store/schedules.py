"""A tenant's booked matches, as schedules list them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.match import Match, Status
from app.store.prepared import prepared
from app.store.statements import reads
from app.store.tables.tenant import Unbooked
from app.store.transaction import Tx

_decode = msgspec.json.Decoder(Match).decode


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
    rows = await tx.fetch(reads.SCHEDULE, *selection, tenant_id, limit, start)
    return [_decode(row["state"]) for row in rows]


async def unbooked_digest(tx: Tx, tenant_id: UUID) -> str:
    """A digest of the matches that the tenant has unbooked: "" when it has booked all."""
    found: str = await tx.one_value(_unbooked_digest(tenant_id))
    return found


async def fixture_changes(
    tx: Tx, tenant_id: UUID, after: int, statuses: Sequence[Status]
) -> list[tuple[int, int]]:
    """The numbers of the tenant's matches in these states with a fixture change published after `after` (ms),
    each with the time of its latest, by that time. Published ones are stored as long as a recovery may replay
    them."""
    rows = await tx.fetch(reads.CHANGED_FIXTURES, tenant_id, after, list(statuses))
    return [(row["number"], row["at"]) for row in rows]


@prepared
def _unbooked_digest(tenant_id: UUID) -> Select[Any]:
    ids = "coalesce(md5(string_agg({}::text, ' ' ORDER BY {})), '')"
    digest = QueryString(ids, Unbooked.match_id, Unbooked.match_id, alias="digest")
    return Unbooked.select(digest).where(Unbooked.tenant_id == tenant_id)
