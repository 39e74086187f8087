"""Commands that wait for the consent of a second person: what each would do now, and decisions."""

from typing import Any

import msgspec
from litestar import Response, post
from litestar.params import FromPath

from app.commands import command_service
from app.commands.command_service import ShownRequest
from app.commands.match_commands import OnMarket
from app.domain.match import Match
from app.http.handlers import get
from app.kit.errors import Conflict, Refusal
from app.sites.console.command_forms import CHOSEN, check_may_give
from app.sites.console.commands import effect_values, sender_of
from app.sites.console.site import Console, consent_path, market_path, match_path
from app.sites.pages.forms import Form
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, redirect, sentences, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.store import consent_requests, listings, matches
from app.store.consent_requests import ConsentRequest, ConsentState
from app.store.transaction import Tx

_ROWS = 200


@get("/consents")
async def list_consents(request: SignedInRequest, console: Console) -> Response[str]:
    """The newest requests, those that wait and those that are decided."""
    async with console.store.snapshot() as tx:
        found = await consent_requests.listing(tx, limit=_ROWS)
        names = await listings.names_by_id(tx, {each.match_id for each in found})
    now = console.clock()
    rows = [
        {
            "request": each,
            "state": each.state(now),
            "match": names.get(each.match_id),
            "path": consent_path(each.id),
        }
        for each in found
    ]
    return page(request, "consents.html", rows=rows)


@get("/consents/{consent_id:int}")
async def show_consent(
    request: SignedInRequest, console: Console, consent_id: FromPath[int]
) -> Response[str]:
    """What the command would do now, and who may decide about it."""
    return await _consent_page(request, console, consent_id)


@post("/consents/{consent_id:int}/consent")
async def give_consent(
    request: SignedInRequest, console: Console, consent_id: FromPath[int]
) -> Response[Any]:
    """Consent: the command is executed. Where it would do something else than was shown, that is shown."""
    form, by = Form(await request.form()), sender_of(request)
    await _check_permission(request, console, consent_id)
    try:
        after = await console.commands.give(consent_id, form.text("fingerprint"), by, console.clock())
    except Conflict as refusal:
        return await _consent_page(request, console, consent_id, refusal)
    await console.show_changes(after.match_id)
    return redirect(consent_path(after.id), "consent_given")


@post("/consents/{consent_id:int}/refuse")
async def refuse_consent(
    request: SignedInRequest, console: Console, consent_id: FromPath[int]
) -> Response[Any]:
    """Refuse consent, or withdraw one's own command."""
    form, by = Form(await request.form()), sender_of(request)
    await _check_permission(request, console, consent_id)
    try:
        reason = form.text("reason", longest=500)
        after = await console.commands.refuse(consent_id, reason, by, console.clock())
    except Conflict as refusal:
        return await _consent_page(request, console, consent_id, refusal)
    await console.show_changes(after.match_id)
    return redirect(consent_path(after.id), f"consent_{after.outcome}")


async def _consent_page(
    request: SignedInRequest, console: Console, consent_id: int, refusal: Refusal | None = None
) -> Response[str]:
    """The page of a request; after a `refusal`, which it shows, with the refusal's status."""
    now = console.clock()
    shown = await console.commands.show(consent_id, now)
    async with console.store.snapshot() as tx:
        match = await matches.by_ref(tx, str(shown.request.match_id))
        effect = await effect_values(tx, request, shown.preview) if shown.preview else {"preview": None}
        market = await _market(tx, request, shown.request, match)
    said = [each for each in (refusal, shown.obstacle) if each is not None]
    lines = dict.fromkeys(line for each in said for line in sentences(request, each))
    status = refusal.status if refusal else 200
    values = _described(request, shown, match, now) | effect | market
    return page(request, "consent.html", status=status, sentences=list(lines), **values)


def _described(request: SignedInRequest, shown: ShownRequest, match: Match, now: int) -> dict[str, Any]:
    found = shown.request
    fields = msgspec.json.decode(found.command)
    state = found.state(now)
    return {
        "consent": found,
        "state": state,
        "waits": state is ConsentState.WAITING,
        "own": found.person == request.auth.actor,
        "match": match,
        "path": match_path(match.number),
        "own_path": consent_path(found.id),
        "chosen": CHOSEN,
        "fields": {name: value for name, value in fields.items() if value not in (None, "", False)},
        "moved": shown.preview is not None and shown.preview.fingerprint != found.fingerprint,
    }


async def _market(tx: Tx, request: SignedInRequest, found: ConsentRequest, match: Match) -> dict[str, Any]:
    """The name and the page of the market that the command names, if it names one."""
    command = command_service.command_of(found)
    if not isinstance(command, OnMarket):
        return {"market": ""}
    names = await names_of(tx, texts_for(request), [command.key])
    return {
        "market": names.name(command.key, match.home, match.away),
        "market_path": market_path(match.number, command.key),
    }


async def _check_permission(request: SignedInRequest, console: Console, consent_id: int) -> None:
    """Raise `Forbidden` unless the operator may give the command that waits."""
    async with console.store.autocommit() as tx:
        found = await command_service.find(tx, consent_id)
        role = request.auth.user.operator_role
        await check_may_give(tx, role, found.match_id, command_service.command_of(found))
