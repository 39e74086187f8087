"""What traders see and do on a match, under /ops/v1/matches/{match_id}: its markets, and its commands; and
commands that wait for the consent of a second person, under /ops/v1/consents.
"""

from typing import Annotated, Any

import msgspec
from litestar import Response, post
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import Meta

from app.commands.execution import Sender
from app.commands.match_commands import Cancel, Command, Words
from app.commands.trading_commands import AnyCommand
from app.commands.undo import is_undoable
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import ViewResponse
from app.kit.clock import iso_millis
from app.operations.api.dependencies import (
    LIMITED,
    MATCH,
    OPERATOR,
    Limit,
    Operators,
    wrong_match,
)
from app.operations.api.views import (
    ConsentView,
    PreviewView,
    TradedMarket,
    consent_view,
    preview_view,
    traded_market,
)
from app.store import consent_requests, markets, matches, operator_commands
from app.store.consent_requests import ConsentRequest
from app.store.operator_commands import ExecutedCommand
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Many, Single, many

_MATCH = "/ops/v1/matches/{match_id:str}"
_CONSENT = "/ops/v1/consents/{consent_id:int}"
#: Routes that execute a command, or store it until a second person consents.
_MAY_WAIT: dict[str, Any] = OPERATOR | {"accepted": Single[ConsentView]}
_LISTED: dict[str, Any] = OPERATOR | {"query": ("match", "limit"), "query_rule": wrong_match}


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


class PreviewedConsent(msgspec.Struct, frozen=True):
    """A request for consent, and while it waits what its command would do now (`preview`), or why the match
    does not allow it any more (`obstacle`)."""

    consent: ConsentView
    preview: PreviewView | None
    obstacle: str | None


class Consent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="decision", tag="consent"):
    """`fingerprint` is that of the preview that was seen: what has another effect now is not executed."""

    fingerprint: Annotated[str, Meta(min_length=1, max_length=64)]


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="decision", tag="refuse"):
    """Refuse a command or, as its sender, withdraw it. `reason` is recorded."""

    reason: Words = ""


@post(f"{_MATCH}/cancel", opt=_MAY_WAIT, status_code=200)
async def cancel_match(
    request: AuthenticatedRequest, ops: Operators, match_id: FromPath[str]
) -> Response[Single[MatchView]]:
    """Cancel a match; undecided markets are voided. The same as the command `cancel`."""
    return await _execute(request, ops, match_id, Cancel())


@get(f"{_MATCH}/markets", opt=OPERATOR)
async def show_markets(ops: Operators, match_id: FromPath[str]) -> Many[TradedMarket]:
    """The open markets of a match, by group."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        book = await markets.book(tx, match.id)
    found = sorted((one for one in book.values() if one.open), key=lambda one: (one.group, one.key))
    return many(traded_market(one) for one in found)


@post(f"{_MATCH}/commands", opt=_MAY_WAIT, status_code=200)
async def command(
    request: AuthenticatedRequest, ops: Operators, match_id: FromPath[str], data: JSONBody[AnyCommand]
) -> Response[Single[MatchView]]:
    """Execute one command, named by `command`; returns the match after it. One that needs the consent of a
    second person is stored, and waits (202)."""
    return await _execute(request, ops, match_id, data)


@post(f"{_MATCH}/commands/preview", opt=OPERATOR, status_code=200)
async def preview_command(
    request: AuthenticatedRequest, ops: Operators, match_id: FromPath[str], data: JSONBody[AnyCommand]
) -> Single[PreviewView]:
    """What one command would do, which is not executed; it is refused as its execution would be."""
    return Single(preview_view(await ops.commands.preview(match_id, data, _sender(request), ops.clock())))


@get(f"{_MATCH}/commands", opt=LIMITED)
async def show_commands(ops: Operators, match_id: FromPath[str], limit: Limit = 100) -> Many[ExecutedView]:
    """The commands that were executed on a match, newest first, with what each changed."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        found = await operator_commands.listing(tx, match.id, limit=limit)
    return many(_executed(one) for one in found)


@get("/ops/v1/consents", opt=_LISTED)
async def show_consents(
    ops: Operators, match: FromQuery[str | None] = None, limit: Limit = 100
) -> Many[ConsentView]:
    """Requests for the consent of a second person, newest first: those that wait, and those before them."""
    async with ops.store.autocommit() as tx:
        about = None if match is None else await matches.by_ref(tx, match, parameter=MATCH)
        found = await consent_requests.listing(tx, match_id=about.id if about else None, limit=limit)
    now = ops.clock()
    return many(consent_view(one, now) for one in found)


@get(f"{_CONSENT}/preview", opt=OPERATOR)
async def preview_consent(ops: Operators, consent_id: FromPath[int]) -> Single[PreviewedConsent]:
    """A request, and while it waits what its command would do now."""
    now = ops.clock()
    shown = await ops.commands.show(consent_id, now)
    preview = preview_view(shown.preview) if shown.preview else None
    obstacle = shown.obstacle.detail if shown.obstacle else None
    return Single(PreviewedConsent(consent_view(shown.request, now), preview, obstacle))


@post(f"{_CONSENT}/decision", opt=OPERATOR, status_code=200)
async def decide(
    request: AuthenticatedRequest,
    ops: Operators,
    consent_id: FromPath[int],
    data: JSONBody[Consent | Refusal],
) -> Single[ConsentView]:
    """Consent to a command that another person sent, which is executed then; or refuse, and it never is."""
    by, now = _sender(request), ops.clock()
    if isinstance(data, Consent):
        found = await ops.commands.give(consent_id, data.fingerprint, by, now)
    else:
        found = await ops.commands.refuse(consent_id, data.reason, by, now)
    return Single(consent_view(found, now))


async def _execute(
    request: AuthenticatedRequest, ops: Operators, ref: str, command: Command
) -> Response[Single[MatchView]]:
    """Execute a command of the caller; the match after it, or (202) the request for consent that it is
    now."""
    found = await ops.commands.send(ref, command, _sender(request), ops.clock())
    if isinstance(found, ConsentRequest):
        waiting: Any = Single(consent_view(found, ops.clock()))
        return ViewResponse(waiting, status_code=202)
    return ViewResponse(Single(basic_view(found)))


def _sender(request: AuthenticatedRequest) -> Sender:
    return Sender(request.auth.actor, request.auth.owner)


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
        undoable=is_undoable(one),
    )
