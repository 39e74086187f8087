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
from app.kit.clock import iso_millis
from app.store import audit, matches
from app.store.audit import Record
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Single

_OPERATOR: dict[str, Any] = {"operator": True}
_RECORD: dict[str, Any] = {"operator": True, "query": ("limit",)}
_MOST = 1000


class Recorded(msgspec.Struct, frozen=True):
    """Who did what to the match, and when; `details` is what was asked for."""

    at: str
    actor: str
    action: str
    details: dict[str, Any]


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


def _shown(record: Record) -> Recorded:
    return Recorded(iso_millis(record.at), record.actor, record.action, record.details)


ROUTES: Sequence[Any] = (command, show_record)
