"""The live page: all matches in play, those that need somebody first, and the open alerts above them. Alerts:
the newest, ended ones too, with the operators who have seen, taken and ended each; and what operators do
about open ones.
"""

from typing import Any

import msgspec
from litestar import Response, post
from litestar.params import FromPath, FromQuery
from litestar.response import Stream

from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid
from app.sites.console.live_tables import alert_rows
from app.sites.console.moving_pages import changes_response, moving_page
from app.sites.console.site import CONSOLE, Console, Permission, page_before
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import SignedInRequest
from app.store import alerts, listings

_ROWS = 200


@get("/")
async def live(request: SignedInRequest, console: Console) -> Response[str]:
    """The page as it stands; scripts keep it current."""
    return await moving_page(request, console.live, "live.html")


@get("/live/events", opt={"stream": True, "query": ("since",)})
async def live_events(
    request: SignedInRequest, console: Console, since: FromQuery[str] = ""
) -> Response[Any] | Stream:
    """What has changed since the version that the page has."""
    return changes_response(request, console, console.live, since)


@get("/alerts")
async def list_alerts(request: SignedInRequest, console: Console) -> Response[str]:
    """The newest alerts."""
    async with console.store.snapshot() as tx:
        found = await alerts.listing(tx, limit=_ROWS)
        names = await listings.names_by_id(tx, {each.match_id for each in found if each.match_id})
    return page(request, "alerts.html", rows=alert_rows(found, names))


@post("/alerts/{alert_id:int}/{action:str}", opt={"permission": Permission.ALERTS})
async def handle_alert(
    request: SignedInRequest, console: Console, alert_id: FromPath[int], action: FromPath[str]
) -> Response[Any]:
    """See, take, hand back or end an alert. Who is too late reads on the live page who has it."""
    form = Form(await request.form())
    command = _command(form, action)
    by, now = request.auth.actor, console.clock()
    try:
        after = await alert_handling.handle(console.store, alert_id, command, by=by, now=now)
    except Conflict as refusal:
        await console.show_changes(None)
        return await moving_page(request, console.live, "live.html", refusal)
    await console.show_changes(after.match_id)
    return redirect(page_before(form.text("back"), CONSOLE.path), "command_done")


def _command(form: Form, action: str) -> AnyAlertCommand:
    fields = {"command": action} | ({"instead_of": form.text("instead_of")} if action == "take" else {})
    try:
        command: AnyAlertCommand = msgspec.convert(fields, AnyAlertCommand)
    except msgspec.ValidationError as error:
        raise Invalid(Field(("command",), str(error), "command")) from error
    return command
