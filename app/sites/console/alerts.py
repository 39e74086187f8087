"""Alerts: the newest, ended ones too, with who has seen, taken and ended each; and what operators do about
open ones. The live page has the open ones first.
"""

from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid
from app.sites.console.live_tables import AlertRow
from app.sites.console.moving_pages import moving_page
from app.sites.console.site import CONSOLE, ConsoleDependencies, Permission
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect, sentences
from app.sites.pages.sessions import SignedInRequest
from app.store import alerts, listings

_ROWS = 200


@get("/alerts")
async def list_alerts(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies]
) -> Response[str]:
    """The newest alerts."""
    async with console.store.snapshot() as tx:
        found = await alerts.listing(tx, limit=_ROWS)
        names = await listings.names_by_id(tx, {each.match_id for each in found if each.match_id})
    rows = [AlertRow(each, names.get(each.match_id) if each.match_id else None) for each in found]
    return page(request, "alerts.html", rows=rows)


@post("/alerts/{alert_id:int}/{action:str}", opt={"permission": Permission.ALERTS})
async def handle_alert(
    request: SignedInRequest,
    console: NamedDependency[ConsoleDependencies],
    alert_id: FromPath[int],
    action: FromPath[str],
) -> Response[Any]:
    """See, take, hand back or end an alert. Who is too late reads on the live page who has it."""
    form = Form(await request.form())
    command = _command(form, action)
    by, now = request.auth.actor, console.clock()
    try:
        after = await alert_handling.handle(console.store, alert_id, command, by=by, now=now)
    except Conflict as refusal:
        await console.show_changes(None)
        shown = {"status": refusal.status, "sentences": sentences(request, refusal)}
        return await moving_page(request, console.live, "live.html", **shown)
    await console.show_changes(after.match_id)
    return redirect(_back(form), "command_done")


def _command(form: Form, action: str) -> AnyAlertCommand:
    fields = {"command": action} | ({"instead_of": form.text("instead_of")} if action == "take" else {})
    try:
        command: AnyAlertCommand = msgspec.convert(fields, AnyAlertCommand)
    except msgspec.ValidationError as error:
        raise Invalid(Field(("command",), str(error), "command")) from error
    return command


def _back(form: Form) -> str:
    """The page that the button was on."""
    given = form.text("back")
    inside = given.startswith(f"{CONSOLE.path}/") and not urlsplit(given).query and "\\" not in given
    return given if inside else CONSOLE.path


HANDLERS = (list_alerts, handle_alert)
