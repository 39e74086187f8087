"""Commands on a match: what one would do is shown first, and then it is done.

The form of the preview carries the command's `request_id`: sent twice, it is executed once.
"""

from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.console.command_forms import FORMS, command_of, fields_of, permission_of
from app.channels.console.dependencies import ConsoleDependencies, SignedInRequest
from app.channels.console.paths import match_path
from app.channels.console.permissions import Permission, check
from app.commands import execution
from app.commands.preview import Preview, preview
from app.domain.match import Match
from app.kit.errors import Conflict
from app.pages.error_pages import sentences
from app.pages.forms import Form
from app.pages.ledger_kinds import kind_of
from app.pages.market_names import MarketNames, names_of
from app.pages.rendering import page, redirect, texts_for
from app.store import match_commands, matches, tenants


@post("/matches/{ref:str}/preview")
async def show_preview(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], ref: FromPath[str]
) -> Response[str]:
    """What the command would do: the markets that change, the ledger's entries, the envelopes."""
    return await _preview_page(request, console, ref, Form(await request.form()))


@post("/matches/{ref:str}/commands")
async def execute(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], ref: FromPath[str]
) -> Response[Any]:
    """Execute the command, as over the operators' API. What the match's present state forbids is refused with
    the preview as it would be now, so that nothing that was filled in is lost."""
    form = Form(await request.form())
    await _check_permission(request, console, ref, form)
    try:
        match = await execution.execute(
            console.store,
            ref,
            command_of(form),
            by=request.auth.actor,
            now=console.clock(),
            pricing=console.pricing,
        )
    except Conflict as refusal:
        return await _preview_page(request, console, ref, form, refusal)
    return redirect(_back(form, match), "command_done")


async def _preview_page(
    request: SignedInRequest,
    console: ConsoleDependencies,
    ref: str,
    form: Form,
    refusal: Conflict | None = None,
) -> Response[str]:
    """The preview of the form's command; after a `refusal`, which it shows, of the same on the match as it is
    now: whoever reads why may give it again."""
    await _check_permission(request, console, ref, form)
    command, fields = command_of(form), fields_of(form)
    if refusal is not None:
        command = msgspec.structs.replace(command, revision=None)
    now, by = console.clock(), request.auth.actor
    try:
        found = await preview(console.store, ref, command, now=now, pricing=console.pricing, by=by)
    except Conflict as conflict:
        if refusal is not None or command.revision is None:
            raise
        return await _preview_page(request, console, ref, form, conflict)
    async with console.store.autocommit() as tx:
        match = await matches.by_ref(tx, ref)
        keys = [*(each.key for each in found.entries), *(each.after.key for each in found.markets)]
        names = await names_of(tx, texts_for(request), keys)
        receivers = await tenants.receivers(tx, match.id)
    return page(
        request,
        "preview.html",
        status=refusal.status if refusal else 200,
        sentences=sentences(request, refusal) if refusal else [],
        match=match,
        path=match_path(match.number),
        fields=fields
        | {
            "request_id": f"console:{token_hex(12)}",
            "revision": str(found.match.revision),
            "back": _back(form, match),
        },
        title=fields["command"],
        preview=found,
        rows=_rows(found, names, match),
        entries=_entries(found, names, match),
        receivers=receivers,
    )


async def _check_permission(
    request: SignedInRequest, console: ConsoleDependencies, ref: str, form: Form
) -> None:
    """Raise `Forbidden` unless the operator may give the form's command; to take one back they must be
    allowed to give it."""
    role = request.auth.user.operator_role
    check(role, permission_of(form))
    if form.text("command") == "undo":
        of = form.number("of", 1, 2**31 - 1)
        async with console.store.autocommit() as tx:
            match = await matches.by_ref(tx, ref)
            executed = await match_commands.get(tx, match.id, of)
        if executed is not None:
            known = FORMS.get(executed.name)
            check(role, known.permission if known else Permission.ACCOUNTS)


def _back(form: Form, match: Match) -> str:
    """The page that the command was given on: a page of this match, else the match's."""
    own, given = match_path(match.number), form.text("back")
    inside = given == own or given.startswith(f"{own}/")
    return given if inside and not urlsplit(given).query and "\\" not in given else own


def _rows(found: Preview, names: MarketNames, match: Match) -> list[dict[str, Any]]:
    return [
        {
            "name": names.name(each.after.key, match.home, match.away),
            "before": each.before,
            "after": each.after,
        }
        for each in found.markets
    ]


def _entries(found: Preview, names: MarketNames, match: Match) -> list[dict[str, Any]]:
    return [
        {
            "name": names.name(each.key, match.home, match.away),
            "kind": kind_of(each),
            "entry": each,
        }
        for each in found.entries
    ]


HANDLERS = (show_preview, execute)
