"""What traders see and do on a match, under /ops/v1/matches/{match_id}: its markets, and its commands."""

from typing import Annotated, Any

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from app.commands.execution import preview
from app.commands.trading_commands import AnyCommand
from app.commands.undo import is_undoable
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.commands import execute
from app.operations.api.dependencies import OPERATOR, OperatorDependencies, many
from app.operations.api.matches import MAY_WAIT
from app.operations.api.views import PreviewView, TradedMarket, preview_view, traded_market
from app.store import markets, matches, operator_commands
from app.store.operator_commands import ExecutedCommand
from app.wire.views.match import MatchView
from app.wire.views.meta import Many, Single

_MATCH = "/ops/v1/matches/{match_id:str}"
_LISTED: dict[str, Any] = {"operator": True, "query": ("limit",)}
_decode_command = msgspec.json.Decoder(AnyCommand).decode


class ExecutedView(msgspec.Struct, frozen=True):
    """A command as it was executed. `revision` is the match's after it; `before` and `after` are what it
    changed of what can be taken back; `undone_by` is the revision of the command that did so."""

    revision: int
    at: str
    actor: str
    command: str
    fields: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]
    consent_by: str | None
    undone_by: int | None
    undoable: bool


@get(f"{_MATCH}/markets", opt=OPERATOR)
async def show_markets(
    ops: NamedDependency[OperatorDependencies], match_id: FromPath[str]
) -> Many[TradedMarket]:
    """The open markets of a match, by group."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        book = await markets.book(tx, match.id)
    found = sorted((one for one in book.values() if one.open), key=lambda one: (one.group, one.key))
    return many([traded_market(one) for one in found])


@post(f"{_MATCH}/commands", opt=MAY_WAIT, status_code=200)
async def command(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    match_id: FromPath[str],
    data: JSONBody[AnyCommand],
) -> Response[Single[MatchView]]:
    """Execute one command, named by `command`; returns the match after it. One that needs the consent of a
    second person is stored, and waits (202)."""
    return await execute(request, ops, match_id, data)


@post(f"{_MATCH}/commands/preview", opt=OPERATOR, status_code=200)
async def preview_command(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    match_id: FromPath[str],
    data: JSONBody[AnyCommand],
) -> Single[PreviewView]:
    """What one command would do, which is not executed; it is refused as its execution would be."""
    caller = request.auth
    found = await preview(
        ops.store,
        match_id,
        data,
        now=ops.clock(),
        pricing=ops.pricing,
        by=caller.actor,
        owner=caller.owner,
        consent_seconds=ops.consent_seconds,
    )
    return Single(preview_view(found))


@get(f"{_MATCH}/commands", opt=_LISTED)
async def show_commands(
    ops: NamedDependency[OperatorDependencies],
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> Many[ExecutedView]:
    """The commands that were executed on a match, newest first, with what each changed."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        found = await operator_commands.listing(tx, match.id, limit=limit)
    return many([_executed(one) for one in found])


def _executed(one: ExecutedCommand) -> ExecutedView:
    fields = msgspec.json.decode(one.command)
    return ExecutedView(
        revision=one.revision,
        at=iso_millis(one.at),
        actor=one.actor,
        command=fields.pop("command"),
        fields=fields,
        before=msgspec.json.decode(one.before),
        after=msgspec.json.decode(one.after),
        consent_by=one.consent_by,
        undone_by=one.undone_by,
        undoable=one.undone_by is None and is_undoable(_decode_command(one.command)),
    )


HANDLERS = (show_markets, command, preview_command, show_commands)
