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

from app.commands import consent
from app.commands.execution import preview
from app.commands.match_commands import Command
from app.domain.match import Match
from app.kit.errors import Conflict
from app.sites.console.command_forms import CHOSEN, FORMS, command_of, fields_of
from app.sites.console.command_permissions import check_may_give, permission_for
from app.sites.console.dependencies import ConsoleDependencies, SignedInRequest
from app.sites.console.effects import effect_values
from app.sites.console.paths import consent_path, match_path
from app.sites.console.permissions import check
from app.sites.pages.error_pages import sentences
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.store import matches
from app.store.consent_requests import ConsentRequest


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
    return redirect(_back(form, found), "command_done")


async def _preview_page(
    request: SignedInRequest,
    console: ConsoleDependencies,
    ref: str,
    form: Form,
    refusal: Conflict | None = None,
) -> Response[str]:
    """The preview of the form's command; after a `refusal`, which it shows, of the same on the match as it is
    now: whoever reads why may give it again."""
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
        chosen=CHOSEN,
        **effect,
    )


async def _command(request: SignedInRequest, console: ConsoleDependencies, ref: str, form: Form) -> Command:
    """The form's command. Raises `Forbidden` unless the operator may give it."""
    role = request.auth.user.operator_role
    check(role, permission_for(form.choice("command", FORMS)))
    command = command_of(form)
    async with console.store.autocommit() as tx:
        match = await matches.by_ref(tx, ref)
        await check_may_give(tx, role, match.id, command)
    return command


def _back(form: Form, match: Match) -> str:
    """The page that the command was given on: a page of this match, else the match's."""
    own, given = match_path(match.number), form.text("back")
    inside = given == own or given.startswith(f"{own}/")
    return given if inside and not urlsplit(given).query and "\\" not in given else own


HANDLERS = (show_preview, execute)
