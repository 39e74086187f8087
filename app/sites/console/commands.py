"""Commands on a match: what one would do is shown first, and then it is done.

The form of the preview carries the command's `request_id`: sent twice, it is executed once.
"""

from secrets import token_hex
from typing import Any

import msgspec
from litestar import Response, post
from litestar.params import FromPath

from app.commands.execution import Preview, Sender
from app.commands.match_commands import Command, OnMarket, UpholdClaim
from app.commands.trading_commands import OfMarket, Undo
from app.commands.undo import is_undoable, of_undoable_kind
from app.domain.match import Match
from app.kit.errors import Conflict
from app.sites.console.command_forms import (
    CHOSEN,
    FORMS,
    check_may_give,
    command_of,
    fields_of,
    permission_for,
)
from app.sites.console.site import (
    Console,
    Permission,
    allowed,
    check,
    claim_path,
    consent_path,
    match_path,
    page_before,
)
from app.sites.pages.forms import Form
from app.sites.pages.market_names import MarketNames, names_of
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import kind_of
from app.store import matches, operator_commands, tenants
from app.store.consent_requests import ConsentRequest
from app.store.transaction import Tx


@post("/matches/{ref:str}/preview")
async def show_preview(request: SignedInRequest, console: Console, ref: FromPath[str]) -> Response[str]:
    """What the command would do: the markets that change, the ledger's entries, the envelopes."""
    return await _preview_page(request, console, ref, Form(await request.form()))


@post("/matches/{ref:str}/commands")
async def execute(request: SignedInRequest, console: Console, ref: FromPath[str]) -> Response[Any]:
    """Execute the command, as over the operators' API; one that needs consent waits. What the match's present
    state forbids is refused with the preview as it would be now, so that nothing that was filled in is
    lost."""
    form = Form(await request.form())
    command = await _command(request, console, ref, form)
    try:
        found = await console.commands.send(ref, command, sender_of(request), console.clock())
    except Conflict as refusal:
        return await _preview_page(request, console, ref, form, refusal)
    await console.show_changes(found.match_id if isinstance(found, ConsentRequest) else found.id)
    if isinstance(found, ConsentRequest):
        return redirect(consent_path(found.id), "consent_requested")
    undo = {"undo": str(found.revision)} if of_undoable_kind(command) else {}
    return redirect(_back(form, command, found.number), "command_done", **undo)


def sender_of(request: SignedInRequest) -> Sender:
    """Who sends a command from the console: one person, whichever way they signed in."""
    return Sender(request.auth.actor, request.auth.actor)


async def undo_offered(tx: Tx, request: SignedInRequest, match: Match) -> int | None:
    """The revision in the address, of the command that led here, if this operator may take it back: their
    own, the last one on the match, of a kind that can be taken back."""
    given = request.query_params.get("undo", "")
    revision = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
    if revision != match.revision or Permission.UNDO not in allowed(request.auth.user.operator_role):
        return None
    executed = await operator_commands.get(tx, match.id, revision)
    if executed is None or executed.actor != request.auth.actor or not is_undoable(executed):
        return None
    return revision


async def _preview_page(
    request: SignedInRequest, console: Console, ref: str, form: Form, refusal: Conflict | None = None
) -> Response[str]:
    """The preview of the form's command; after a `refusal`, which it shows, of the same on the match as it is
    now: the operator who reads why may give it again."""
    command, fields = await _command(request, console, ref, form), fields_of(form)
    if refusal is not None:
        command = msgspec.structs.replace(command, revision=None)
    now = console.clock()
    try:
        found = await console.commands.preview(ref, command, sender_of(request), now)
    except Conflict as conflict:
        if refusal is not None or command.revision is None:
            raise
        return await _preview_page(request, console, ref, form, conflict)
    match = found.match
    key = command.key if isinstance(command, OnMarket | OfMarket) else None
    async with console.store.autocommit() as tx:
        effect = await effect_values(tx, request, found)
        names = await names_of(tx, texts_for(request), [key] if key else [])
    return page(
        request,
        "preview.html",
        refusal,
        match=match,
        path=match_path(match.number),
        fields=fields
        | {
            "request_id": f"console:{token_hex(12)}",
            "revision": str(found.match.revision),
            "back": _back(form, command, match.number),
        },
        title=fields["command"],
        market=names.name(key, match.home, match.away) if key else "",
        chosen=CHOSEN,
        **effect,
    )


def _back(form: Form, command: Command, number: int) -> str:
    """The page that the form was on: of the claim that it upholds, or of the match or below that."""
    own = claim_path(command.claim) if isinstance(command, UpholdClaim) else match_path(number)
    return page_before(form.text("back"), own)


async def effect_values(tx: Tx, request: SignedInRequest, found: Preview) -> dict[str, Any]:
    """The values of `effect.html`."""
    keys = [*(each.key for each in found.entries), *(each.after.key for each in found.markets)]
    names = await names_of(tx, texts_for(request), keys)
    return {
        "preview": found,
        "rows": _rows(found, names),
        "entries": _entries(found, names),
        "receivers": await tenants.receivers(tx, found.match.id),
    }


def _rows(found: Preview, names: MarketNames) -> list[dict[str, Any]]:
    """Each market that would change, and whether it `moved`: more than why it is suspended is another."""
    match = found.match
    return [
        {
            "name": names.name(each.after.key, match.home, match.away),
            "before": before,
            "after": after,
            "moved": before is None or (before.status, before.odds) != (after.status, after.odds),
        }
        for each in found.markets
        for before, after in [each]
    ]


def _entries(found: Preview, names: MarketNames) -> list[dict[str, Any]]:
    match = found.match
    return [
        {"name": names.name(each.key, match.home, match.away), "kind": kind_of(each), "entry": each}
        for each in found.entries
    ]


async def _command(request: SignedInRequest, console: Console, ref: str, form: Form) -> Command:
    """The form's command. Raises `Forbidden` unless the operator may give it."""
    role = request.auth.user.operator_role
    check(role, permission_for(form.choice("command", FORMS)))
    command = command_of(form)
    if isinstance(command, Undo):
        async with console.store.autocommit() as tx:
            match = await matches.by_ref(tx, ref)
            await check_may_give(tx, role, match.id, command)
    return command
