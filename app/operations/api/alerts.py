"""The operators' list of alerts, and what they do about open ones, under /ops/v1/alerts."""

from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.dependencies import OperatorDependencies
from app.operations.api.shared import MATCH, OPERATOR, wrong_match
from app.store import alerts, matches
from app.store.alerts import Alert, AlertKind
from app.wire.views.meta import Single

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
    ops: NamedDependency[OperatorDependencies],
    is_open: Annotated[bool | None, QueryParameter(name="open", description="Both, if left out.")] = None,
    kind: Annotated[
        str | None, QueryParameter(pattern=_KINDS, description="Of all kinds, if left out.")
    ] = None,
    match: FromQuery[str | None] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
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
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    alert_id: FromPath[int],
    data: JSONBody[AnyAlertCommand],
) -> Single[AlertView]:
    """See, take, hand back or end an open alert, as `command` says; returns it afterwards."""
    alert = await alert_handling.handle(ops.store, alert_id, data, by=request.auth.actor, now=ops.clock())
    return Single(_alert(alert))


def _time(at: int | None) -> str | None:
    return None if at is None else iso_millis(at)


def _alert(alert: Alert) -> AlertView:
    return AlertView(
        id=alert.id,
        kind=alert.kind,
        match_id=str(alert.match_id) if alert.match_id else None,
        tenant=alert.tenant,
        subject=alert.subject,
        detail=alert.detail,
        since=iso_millis(alert.since),
        ended_at=_time(alert.ended_at),
        seen_at=_time(alert.seen_at),
        seen_by=alert.seen_by,
        taken_at=_time(alert.taken_at),
        taken_by=alert.taken_by,
        ended_by=alert.ended_by,
    )


HANDLERS = (show_alerts, command_alert)
