"""What traders see and do on a match, under /ops/v1/matches/{match_id}: its markets, and its commands."""

from collections import Counter
from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from app.commands.match_commands import AnyCommand
from app.commands.preview import preview
from app.commands.undo import is_undoable
from app.domain.market import Market
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import market_reason_code
from app.http.auth import AuthenticatedRequest
from app.http.reading import get
from app.kit.clock import iso_millis
from app.operators.dependencies import OperatorDependencies
from app.operators.matches import execute
from app.operators.shared import OPERATOR, many
from app.store import markets, match_commands, matches
from app.store.match_commands import ExecutedCommand
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Many, Single

_MATCH = "/ops/v1/matches/{match_id:str}"
_LISTED: dict[str, Any] = {"operator": True, "query": ("limit",)}
_decode_command = msgspec.json.Decoder(AnyCommand).decode


class TradedMarket(msgspec.Struct, frozen=True):
    """An open market. `status` 1 is on offer, -1 suspended, for `reason` (code: `reason_code`); `group`
    names the markets of which exactly one wins; `probability` is the one that it is priced by, without
    margin."""

    market_id: int
    specifiers: str
    group: str
    status: int
    odds: str
    probability: float
    reason: str
    reason_code: str | None
    priced_at: str


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


class PreviewedMarket(msgspec.Struct, frozen=True):
    """A market that would change; `before` is None for a new one. Its status may also be settled (-3) or void
    (-4)."""

    before: TradedMarket | None
    after: TradedMarket


class PreviewedEntry(msgspec.Struct, frozen=True):
    """An entry that the ledger would get; `message` is the feed message that publishes it."""

    market_id: int
    specifiers: str
    previous_status: str
    new_status: str
    result: str | None
    reason: str
    message: str


class PreviewView(msgspec.Struct, frozen=True):
    """What a command would do now. `revision` is the match's before it; `envelopes` are the feed messages
    that it would cause, by name."""

    revision: int
    match: MatchView
    markets: tuple[PreviewedMarket, ...]
    entries: tuple[PreviewedEntry, ...]
    envelopes: dict[str, int]


@get(f"{_MATCH}/markets", opt=OPERATOR)
async def show_markets(
    ops: NamedDependency[OperatorDependencies], match_id: FromPath[str]
) -> Many[TradedMarket]:
    """The open markets of a match, by group."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        book = await markets.book(tx, match.id)
    found = sorted((one for one in book.values() if one.open), key=lambda one: (one.group, one.key))
    return many([_market(one) for one in found])


@post(f"{_MATCH}/commands", opt=OPERATOR, status_code=200)
async def command(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    match_id: FromPath[str],
    data: JSONBody[AnyCommand],
) -> Single[MatchView]:
    """Execute one command, named by `command`; returns the match after it."""
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
    )
    return Single(
        PreviewView(
            revision=found.match.revision,
            match=basic_view(found.after),
            markets=tuple(
                PreviewedMarket(_market(one.before) if one.before else None, _market(one.after))
                for one in found.markets
            ),
            entries=tuple(_entry(one) for one in found.entries),
            envelopes=dict(Counter(one.message for one in found.envelopes)),
        )
    )


@get(f"{_MATCH}/commands", opt=_LISTED)
async def show_commands(
    ops: NamedDependency[OperatorDependencies],
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> Many[ExecutedView]:
    """The commands that were executed on a match, newest first, with what each changed."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        found = await match_commands.listing(tx, match.id, limit)
    return many([_executed(one) for one in found])


def _market(market: Market) -> TradedMarket:
    return TradedMarket(
        market_id=market.type_id,
        specifiers=market.specifiers,
        group=market.group,
        status=market.status,
        odds=str(market.odds),
        probability=market.probability,
        reason=market.reason,
        reason_code=market_reason_code(market),
        priced_at=iso_millis(market.priced_at),
    )


def _entry(entry: LedgerEntry) -> PreviewedEntry:
    return PreviewedEntry(
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        previous_status=entry.previous_status,
        new_status=entry.new_status,
        result=entry.result,
        reason=entry.reason,
        message=entry.message,
    )


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
