"""Operators' commands on one match over HTTP, and the record of them."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from app.http.auth import Caller
from app.ingest import operator
from app.ingest.commands import AnyCommand, Command
from app.ingest.intake import Intake
from app.ingest.source_view import SourceView, source_view
from app.kit.clock import iso_millis
from app.store import alerts, audit, match_sources, matches
from app.store.alerts import Alert, Kind
from app.store.audit import Record
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Single

_OPERATOR: dict[str, Any] = {"operator": True}
_RECORD: dict[str, Any] = {"operator": True, "query": ("limit",)}
_ALERTS: dict[str, Any] = {"operator": True, "query": ("open", "kind", "match", "limit")}
_KINDS = f"^({'|'.join(Kind)})$"
_MOST = 1000


class Recorded(msgspec.Struct, frozen=True):
    """Who did what to the match, and when; `details` is what was asked for."""

    at: str
    actor: str
    action: str
    details: dict[str, Any]


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


@post("/ops/v1/matches/{match_id:str}/commands", opt=_OPERATOR, status_code=200)
async def command(
    request: Caller, intake: NamedDependency[Intake], match_id: FromPath[str], data: JSONBody[AnyCommand]
) -> Single[MatchView]:
    """Carry out one command; `command` says which. The answer is the match after it."""
    return await carry_out(request, intake, match_id, data)


async def carry_out(request: Caller, intake: Intake, ref: str, given: Command) -> Single[MatchView]:
    """The match after a command of the caller's."""
    caller, now, terms = request.auth, intake.clock(), intake.terms
    match = await operator.order(
        intake.store, ref, given, by=caller.actor, holder=caller.holder, now=now, terms=terms
    )
    return Single(basic_view(match))


@get("/ops/v1/matches/{match_id:str}/audit", opt=_RECORD)
async def show_record(
    intake: NamedDependency[Intake],
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST)] = 100,
) -> Single[list[Recorded]]:
    """What operators did to the match, newest first."""
    async with intake.store.reading() as tx:
        match = await matches.by_ref(tx, match_id)
        records = await audit.about(tx, str(match.id), limit)
    return Single([_shown(record) for record in records])


@get("/ops/v1/matches/{match_id:str}/sources", opt=_OPERATOR)
async def show_sources(intake: NamedDependency[Intake], match_id: FromPath[str]) -> Single[list[SourceView]]:
    """Who sends the match's log, in the order of their coming; one at most is followed."""
    async with intake.store.reading() as tx:
        match = await matches.by_ref(tx, match_id)
        known = await match_sources.listing(tx, match.id)
    return Single([source_view(match, each) for each in known])


@get("/ops/v1/alerts", opt=_ALERTS)
async def show_alerts(
    intake: NamedDependency[Intake],
    is_open: Annotated[bool | None, QueryParameter(name="open", description="Both, if left out.")] = None,
    kind: Annotated[
        str | None, QueryParameter(pattern=_KINDS, description="Of all kinds, if left out.")
    ] = None,
    match: Annotated[str | None, QueryParameter(description="UUID or `od:match:<n>`.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST)] = 100,
) -> Single[list[AlertView]]:
    """What an operator should look at, or should have: newest first."""
    async with intake.store.reading() as tx:
        found = await alerts.listing(
            tx,
            kinds=[Kind(kind)] if kind else tuple(Kind),
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


def _shown(record: Record) -> Recorded:
    return Recorded(iso_millis(record.at), record.actor, record.action, record.details)


ROUTES: Sequence[Any] = (command, show_record, show_sources, show_alerts)
