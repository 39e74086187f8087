"""The operators' list of alerts, /ops/v1/alerts."""

from typing import Annotated, Any

import msgspec
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from app.http.reading import get
from app.kit.clock import iso_millis
from app.operators.dependencies import OperatorDependencies
from app.store import alerts, matches
from app.store.alerts import Alert, AlertKind
from app.wire.views.meta import Single

_ALERTS: dict[str, Any] = {"operator": True, "query": ("open", "kind", "match", "limit")}
_KINDS = f"^({'|'.join(AlertKind)})$"


class AlertView(msgspec.Struct, frozen=True):
    """What is wrong since when, until when (null while the alert is open), and about what: `match_id` (null
    where it is about no match), the slug of a `tenant`, or what `subject` names: a process, a log source of
    the match. Empty where that does not apply."""

    kind: str
    match_id: str | None
    tenant: str
    subject: str
    detail: str
    since: str
    ended_at: str | None


@get("/ops/v1/alerts", opt=_ALERTS)
async def show_alerts(
    ops: NamedDependency[OperatorDependencies],
    is_open: Annotated[bool | None, QueryParameter(name="open", description="Both, if left out.")] = None,
    kind: Annotated[
        str | None, QueryParameter(pattern=_KINDS, description="Of all kinds, if left out.")
    ] = None,
    match: Annotated[str | None, QueryParameter(description="UUID or `od:match:<n>`.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> Single[list[AlertView]]:
    """Open and ended alerts, newest first."""
    async with ops.store.autocommit() as tx:
        found = await alerts.listing(
            tx,
            kinds=[AlertKind(kind)] if kind else tuple(AlertKind),
            match_id=(await matches.by_ref(tx, match)).id if match else None,
            ended=None if is_open is None else not is_open,
            limit=limit,
        )
    return Single([_alert(each) for each in found])


def _alert(alert: Alert) -> AlertView:
    return AlertView(
        kind=alert.kind,
        match_id=str(alert.match_id) if alert.match_id else None,
        tenant=alert.tenant,
        subject=alert.subject,
        detail=alert.detail,
        since=iso_millis(alert.since),
        ended_at=None if alert.ended_at is None else iso_millis(alert.ended_at),
    )


HANDLERS = (show_alerts,)
