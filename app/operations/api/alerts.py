"""Alerts: the operators' list, and what they do about open ones, under /ops/v1/alerts; and those that follow
from stored state: dead processes, losses of tenants, parked batches, heads of the
signed ledger, claims.

Alerts about a doubt of a match begin and end with the doubt (`app.commands.match_update`).
"""

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from app.claims import steps
from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit import metrics
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, iso_millis, iso_seconds
from app.operations.api.dependencies import MATCH, OPERATOR, Limit, Operators, wrong_match
from app.store import alerts, claims, cursors, heartbeats, ledger, listings, log_state, matches
from app.store.alerts import Alert, AlertKind, AlertSubject
from app.store.connections import Store
from app.store.cursors import MessageLoss
from app.store.transaction import Tx
from app.wire.text import iso_time_millis
from app.wire.views.meta import Single

OK = "ok"
_EVERY_SECONDS = 2.0
#: A head is signed when an hour begins; it is late so long after the one before.
_HEAD_MILLIS = 3_600_000 + 600_000
_PROCESSES = (heartbeats.INGEST, heartbeats.FEED)
_ALERTS: dict[str, Any] = OPERATOR | {"query": ("open", "kind", "match", "limit"), "query_rule": wrong_match}
_KINDS = f"^({'|'.join(AlertKind)})$"


class AlertView(msgspec.Struct, frozen=True):
    """What is wrong since when, until when (null while the alert is open), and about what: `match_id` (null
    where it is about no match), the slug of a `tenant`, or what `subject` names: a process, a log source of
    the match. Empty where that does not apply. `seen_by` saw it first, `taken_by` works on it; `ended_by` is
    null where it ended with its cause."""

    id: int
    kind: str
    match_id: str | None
    tenant: str
    subject: str
    detail: str
    since: str
    ended_at: str | None
    seen_at: str | None
    seen_by: str | None
    taken_at: str | None
    taken_by: str | None
    ended_by: str | None


@get("/ops/v1/alerts", opt=_ALERTS)
async def show_alerts(
    ops: Operators,
    is_open: Annotated[bool | None, QueryParameter(name="open", description="Both, if left out.")] = None,
    kind: Annotated[
        str | None, QueryParameter(pattern=_KINDS, description="Of all kinds, if left out.")
    ] = None,
    match: FromQuery[str | None] = None,
    limit: Limit = 100,
) -> Single[list[AlertView]]:
    """Open and ended alerts, newest first."""
    async with ops.store.autocommit() as tx:
        about = None if match is None else await matches.by_ref(tx, match, parameter=MATCH)
        found = await alerts.listing(
            tx,
            kinds=[AlertKind(kind)] if kind else tuple(AlertKind),
            match_id=about.id if about else None,
            ended=None if is_open is None else not is_open,
            limit=limit,
        )
    return Single([_alert(each) for each in found])


@post("/ops/v1/alerts/{alert_id:int}/commands", opt=OPERATOR, status_code=200)
async def command_alert(
    request: AuthenticatedRequest, ops: Operators, alert_id: FromPath[int], data: JSONBody[AnyAlertCommand]
) -> Single[AlertView]:
    """See, take, hand back or end an open alert, as `command` says; returns it afterwards."""
    alert = await alert_handling.handle(ops.store, alert_id, data, by=request.auth.actor, now=ops.clock())
    return Single(_alert(alert))


def _alert(alert: Alert) -> AlertView:
    return AlertView(
        id=alert.id,
        kind=alert.kind,
        match_id=str(alert.match_id) if alert.match_id else None,
        tenant=alert.tenant,
        subject=alert.subject,
        detail=alert.detail,
        since=iso_millis(alert.since),
        ended_at=iso_time_millis(alert.ended_at),
        seen_at=iso_time_millis(alert.seen_at),
        seen_by=alert.seen_by,
        taken_at=iso_time_millis(alert.taken_at),
        taken_by=alert.taken_by,
        ended_by=alert.ended_by,
    )


class AlertMonitor:
    """Updates the alerts that follow from stored state, and the gauges of all open alerts and of the matches
    in play. Any number of processes may run it at once: an alert begins and ends once.

    Processes of a kind are dead when none has sent a heartbeat for `dead_seconds`; before the first
    heartbeat, counted from our own start.
    """

    def __init__(self, store: Store, clock: Clock, *, dead_seconds: int) -> None:
        self._store, self._clock = store, clock
        self._dead_seconds = dead_seconds
        self._since = clock()

    async def run(self) -> None:
        while True:
            await retry_while_unavailable("updating alerts", self.update)
            await asyncio.sleep(_EVERY_SECONDS)

    async def update(self) -> None:
        """Update once; raises `Unavailable`."""
        now = self._clock()
        async with self._store.transaction() as tx:
            dead = await self._dead(tx, now)
            await alerts.sync(tx, AlertKind.DEAD_PROCESS, dead, now)
            await alerts.sync(tx, AlertKind.TENANT_LOSING_MESSAGES, await _losing(tx), now)
            await alerts.sync(tx, AlertKind.LEDGER_HEAD_LATE, await _late_head(tx, now), now)
            for match_id in await log_state.parked_and_recovered(tx):
                await alerts.end(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match_id), now)
            await alerts.end_for_matches_over(tx, now)
            await _sync_claims(tx, now)
            count = await alerts.open_count(tx)
            live = len(await listings.live_versions(tx))
        for kind in AlertKind:
            metrics.alerts_open.labels(kind).set(count.get(kind, 0))
        for process in _PROCESSES:
            metrics.heartbeat_missing.labels(process).set(process in {about.subject for about in dead})
        silent = min(live, count.get(AlertKind.SILENT_SOURCE, 0))
        metrics.live_matches.labels("silent").set(silent)
        metrics.live_matches.labels("sending").set(live - silent)

    async def _dead(self, tx: Tx, now: int) -> dict[AlertSubject, str]:
        dead = {}
        for kind in _PROCESSES:
            newest = await heartbeats.latest(tx, kind)
            if now - max(newest, self._since) >= self._dead_seconds * 1000:
                seen = f"since {iso_seconds(newest)}" if newest else "so far"
                dead[AlertSubject(AlertKind.DEAD_PROCESS, subject=kind)] = (
                    f"no {kind} process has been alive {seen}"
                )
        return dead


async def _sync_claims(tx: Tx, now: int) -> None:
    """Every step of a claim begins or ends its alerts; only time makes one late. A process of an older
    version may have ended one with its match."""
    undecided = await claims.lock_undecided(tx)
    for kind, present in {
        AlertKind.CLAIM_OPEN: undecided,
        AlertKind.CLAIM_LATE: [claim for claim in undecided if claim.late(now)],
    }.items():
        found = {steps.alert_about(claim, kind): steps.alert_detail(claim) for claim in present}
        await alerts.sync(tx, kind, found, now)


async def _late_head(tx: Tx, now: int) -> dict[AlertSubject, str]:
    newest = await ledger.newest_head(tx)
    if newest is None or now - newest.head.time < _HEAD_MILLIS:
        return {}
    said = f"the newest head of the signed ledger is {newest.head.number}, of {iso_seconds(newest.head.time)}"
    return {AlertSubject(AlertKind.LEDGER_HEAD_LATE, subject="ledger"): said}


async def _losing(tx: Tx) -> dict[AlertSubject, str]:
    found = await cursors.losses(tx)
    return {AlertSubject(AlertKind.TENANT_LOSING_MESSAGES, tenant=loss.slug): _missed(loss) for loss in found}


def _missed(loss: MessageLoss) -> str:
    if loss.dropped:
        lost = f"{loss.dropped} messages lost since the alert began"
        return f"{lost}; no queue is bound now" if loss.unbound else lost
    if loss.unbound:
        return "live messages passed while no queue was bound"
    return "it has not been notified yet that it missed messages"


async def alerts_state(store: Store) -> str:
    """`ok`, or which kinds of alerts are open, and how many; names no match and no tenant."""
    async with store.autocommit() as tx:
        count = await alerts.open_count(tx)
    return ", ".join(f"{kind}: {count[kind]}" for kind in AlertKind if kind in count) or OK
