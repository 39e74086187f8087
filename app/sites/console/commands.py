"""Commands on a match: what one would do is shown first, and then it is done.

The form of the preview carries the command's `request_id`: sent twice, it is executed once.
"""

from secrets import token_hex
from typing import Any

import msgspec
from litestar import Response, post
from litestar.params import FromPath

from app.commands import consent
from app.commands.execution import Preview, preview
from app.commands.match_commands import Command
from app.commands.trading_commands import Undo
from app.kit.errors import Conflict
from app.sites.console.command_forms import (
    CHOSEN,
    FORMS,
    check_may_give,
    command_of,
    fields_of,
    permission_for,
)
from app.sites.console.site import Console, check, consent_path, match_path, page_before
from app.sites.pages.forms import Form
from app.sites.pages.market_names import MarketNames, names_of
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import kind_of
from app.store import matches, tenants
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
        found = await consent.send(
            console.store,
            ref,
            command,
            by=request.auth.actor,
            now=console.clock(),
            pricing=console.pricing,
            consent_seconds=console.consent_seconds,
        )
    except Conflict as refusal:
        return await _preview_page(request, console, ref, form, refusal)
    await console.show_changes(found.match_id if isinstance(found, ConsentRequest) else found.id)
    if isinstance(found, ConsentRequest):
        return redirect(consent_path(found.id), "consent_requested")
    return redirect(page_before(form.text("back"), match_path(found.number)), "command_done")


async def _preview_page(
    request: SignedInRequest, console: Console, ref: str, form: Form, refusal: Conflict | None = None
) -> Response[str]:
    """The preview of the form's command; after a `refusal`, which it shows, of the same on the match as it is
    now: the operator who reads why may give it again."""
    command, fields = await _command(request, console, ref, form), fields_of(form)
    if refusal is not None:
        command = msgspec.structs.replace(command, revision=None)
    now, by = console.clock(), request.auth.actor
    try:
        found = await preview(
            console.store,
            ref,
            command,
            now=now,
            pricing=console.pricing,
            by=by,
            consent_seconds=console.consent_seconds,
        )
    except Conflict as conflict:
        if refusal is not None or command.revision is None:
            raise
        return await _preview_page(request, console, ref, form, conflict)
    async with console.store.autocommit() as tx:
        effect = await effect_values(tx, request, found)
    match = found.match
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
            "back": page_before(form.text("back"), match_path(match.number)),
        },
        title=fields["command"],
        chosen=CHOSEN,
        **effect,
    )


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
    match = found.match
    return [
        {
            "name": names.name(each.after.key, match.home, match.away),
            "before": each.before,
            "after": each.after,
        }
        for each in found.markets
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
