"""Alerts: what an operator should look at, from when it began until it ended.

An alert is open or ended. At most one alert of a kind is open about one thing: a match, a tenant, or what
`subject` names (a process, a log source of the match).
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Delete, Select, Update
from piccolo.query.functions import Count

from app.domain.match import Status
from app.kit.logging import get_logger
from app.store.prepared import prepared, reading, reading_row, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import any_of, literals, same
from app.store.statements import writes
from app.store.tables.match import Match
from app.store.tables.operations import Alert as AlertTable
from app.store.transaction import Tx

log = get_logger(__name__)
_ABOUT = (AlertTable.kind, AlertTable.match_id, AlertTable.tenant, AlertTable.subject)
_HANDLING = ("seen_at", "seen_by", "taken_at", "taken_by", "ended_at", "ended_by")
_OPEN = AlertTable.ended_at.is_null()
_MATCH = AlertTable.match_id.join_on(Match.id)


class AlertKind(StrEnum):
    """What is wrong."""

    SILENT_SOURCE = "silent_source"  #: the followed log source sends nothing
    RIVAL_SOURCE = "rival_source"  #: a second log source claims the match
    UNFOLLOWED_SOURCE = "unfollowed_source"  #: rounds are played in a log that cannot be followed
    LINE_NOT_UNDERSTOOD = "line_not_understood"  #: a line about play could not be parsed
    #: the game server's statistics contradict the events of a round
    STATISTICS_CONTRADICTION = "statistics_contradiction"
    RESTARTED_LOWER = "restarted_lower"  #: a map was restarted, and which of its rounds count is not known
    SCORE_CONTRADICTION = "score_contradiction"  #: the score in the log disagrees with the rounds counted
    MAP_CONTRADICTION = "map_contradiction"  #: how a map ended is not known
    FORMAT_CONTRADICTION = "format_contradiction"  #: what is played does not fit the match's format
    UNRATED_MATCH = "unrated_match"  #: nothing is on offer because a team has no strength
    UNEXPLAINED_MOVE = "unexplained_move"  #: a price moved further than what happened explains
    REFERENCE_DIVERGENCE = "reference_divergence"  #: reference prices of a match differ too far from ours
    REFERENCE_PRICES = "reference_prices"  #: some reference prices of a match are too old or wrong
    REFERENCE_REFUSED = "reference_refused"  #: rows of a file of reference data were refused
    #: a match's log is not followed since the database was restored or failed over
    DATABASE_RESTORED = "database_restored"
    DATABASE_FAILOVER = "database_failover"  #: the database failed over, and may have lost commits
    PARKED_BATCH = "parked_batch"  #: a log batch could not be applied
    TENANT_LOSING_MESSAGES = "tenant_losing_messages"  #: a tenant's queues lose messages
    TENANT_RIGHTS = "tenant_rights"  #: a tenant did at the broker what it may not
    CLAIM_OPEN = "claim_open"  #: a tenant claims that a result is wrong
    CLAIM_LATE = "claim_late"  #: a claim is undecided past its deadline
    LEDGER_HEAD_LATE = "ledger_head_late"  #: the signed ledger has no head of this hour
    DEAD_PROCESS = "dead_process"  #: no process of a kind has sent a heartbeat for too long


#: A newer version may have written a kind that this version does not know.
_KNOWN_KINDS = {kind.value: kind for kind in AlertKind}


#: Kinds of alerts about a match that do not end with it.
_OUTLIVING = (
    AlertKind.FORMAT_CONTRADICTION,
    AlertKind.MAP_CONTRADICTION,
    AlertKind.LINE_NOT_UNDERSTOOD,
    AlertKind.STATISTICS_CONTRADICTION,
    AlertKind.CLAIM_OPEN,
    AlertKind.CLAIM_LATE,
)


class AlertSubject(msgspec.Struct, frozen=True):
    """What an alert is about: at least one of a match, a tenant (its slug) and a subject."""

    kind: AlertKind
    match_id: UUID | None = None
    tenant: str = ""
    subject: str = ""


class Alert(msgspec.Struct, frozen=True):
    """An alert. Times in Unix ms; `ended_at` is None while it is open. `seen_by` saw it first, `taken_by`
    works on it, `ended_by` ended it by hand: actors as in the audit log, None where nobody did."""

    id: int
    kind: AlertKind
    match_id: UUID | None
    tenant: str
    subject: str
    detail: str
    since: int
    ended_at: int | None
    seen_at: int | None = None
    seen_by: str | None = None
    taken_at: int | None = None
    taken_by: str | None = None
    ended_by: str | None = None

    @property
    def about(self) -> AlertSubject:
        return AlertSubject(self.kind, self.match_id, self.tenant, self.subject)


_ROWS = RowMapping(AlertTable, Alert)


async def begin(tx: Tx, about: AlertSubject, detail: str, now: int) -> bool:
    """Open an alert, or update the open one's detail; whether it is new."""
    new = await tx.value(
        writes.BEGIN_ALERT, about.kind, about.match_id, about.tenant, about.subject, detail, now
    )
    if new:
        log.warning("alert", **_named(about), detail=detail)
    return bool(new)


async def end(tx: Tx, about: AlertSubject, now: int) -> bool:
    """End an open alert; whether there was one."""
    ended = await tx.change(_end(about.kind, about.match_id, about.tenant, about.subject, now))
    if ended:
        log.info("alert ended", **_named(about))
    return bool(ended)


async def sync(tx: Tx, kind: AlertKind, present: dict[AlertSubject, str], now: int) -> None:
    """Make `present`, subjects with their details, the open alerts of `kind`; end the others."""
    opened = {alert.about: alert for alert in await listing(tx, kinds=[kind], ended=False)}
    for about in opened.keys() - present.keys():
        await end(tx, about, now)
    for about, detail in present.items():
        if about not in opened or opened[about].detail != detail:
            await begin(tx, about, detail, now)


@reading_row(_ROWS.read)
def lock(alert_id: int, /) -> Select[Any]:
    """The alert with that id, locked until the transaction ends; None without one of a known kind."""
    known = AlertTable.kind.is_in(literals(list(AlertKind)))
    return AlertTable.select(*_ROWS.columns).where(AlertTable.id == alert_id, known).lock_rows("UPDATE")


async def save_handling(tx: Tx, alert: Alert) -> None:
    """Write who has seen, taken and ended the alert, and when."""
    await tx.change(_ROWS.update(alert, *_HANDLING))


async def end_for_matches_over(tx: Tx, now: int) -> None:
    """End the open alerts of finished and cancelled matches, except those that wait for an operator's
    decision, whether or not the match is over."""
    for about in await _of_matches_over(tx):
        await end(tx, about, now)


@reading_rows(lambda row: AlertSubject(**dict(row) | {"kind": AlertKind(row["kind"])}))
def _of_matches_over() -> Select[Any]:
    over = _MATCH.status.is_in(literals((Status.FINISHED, Status.CANCELLED)))
    return AlertTable.select(*_ABOUT).where(_OPEN, over, AlertTable.kind.not_in(literals(_OUTLIVING)))


@reading(lambda rows: {kind: row["count"] for row in rows if (kind := _KNOWN_KINDS.get(row["kind"]))})
def open_count() -> Select[Any]:
    """How many alerts of each kind are open; kinds without any are omitted."""
    return AlertTable.select(AlertTable.kind, Count()).where(_OPEN).group_by(AlertTable.kind)


@writing
def prune(before: int, /) -> Delete:
    """Delete alerts that ended before then (ms); how many."""
    return AlertTable.delete().where(AlertTable.ended_at < before)


async def listing(
    tx: Tx,
    *,
    kinds: Collection[AlertKind] = tuple(AlertKind),
    match_id: UUID | None = None,
    ended: bool | None = None,
    limit: int = 1000,
) -> list[Alert]:
    """At most `limit` alerts, newest first; optionally of one match, and only open or only ended ones."""
    rows = await tx.run(
        _listing(list(kinds), match_id, of_match=match_id is not None, ended=ended, limit=limit)
    )
    return [_ROWS.read(row) for row in rows]


def _named(about: AlertSubject) -> dict[str, str]:
    fields = {"match_id": about.match_id, "tenant": about.tenant, "subject": about.subject}
    return {"kind": str(about.kind)} | {name: str(value) for name, value in fields.items() if value}


@prepared
def _end(kind: str, match_id: UUID | None, tenant: str, subject: str, now: int) -> Update[Any]:
    about = (
        AlertTable.kind == kind,
        same(AlertTable.match_id, match_id),
        AlertTable.tenant == tenant,
        AlertTable.subject == subject,
    )
    return AlertTable.update({AlertTable.ended_at: now}).where(_OPEN, *about)


@prepared
def _listing(
    kinds: Collection[str], match_id: UUID | None, *, of_match: bool, ended: bool | None, limit: int
) -> Select[Any]:
    query = AlertTable.select(*_ROWS.columns).where(any_of(AlertTable.kind, kinds))
    if of_match:
        query = query.where(AlertTable.match_id == match_id)
    if ended is not None:
        query = query.where(AlertTable.ended_at.is_not_null() if ended else _OPEN)
    return query.order_by(AlertTable.id, ascending=False).limit(limit)
