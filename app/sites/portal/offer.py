"""What the tenant is offered. Matches in play and matches to come are booked or given back, one by one or
several at once; they are not for tenants whose keys see finished matches only. Market types are switched off
and on, several at once.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Response, post
from litestar.params import FromQuery

from app.access import feed_selection
from app.access.feed_selection import market_types_of, set_market_types
from app.access.reach import reach_of
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.domain.scopes import Reach
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.lists import ROWS, Tab, check_tab, matched
from app.sites.portal.site import Permission
from app.store import listings, matches, tenants
from app.store.listings import ListPosition, Window
from app.store.transaction import Tx

_PATH, _TYPES_PATH = "/portal/offer", "/portal/market-types"
_TRADERS: dict[str, Any] = {"permission": Permission.OFFER}
_POSITION = re.compile(r"(\d{1,18})-(\d{1,18})\Z", re.ASCII)
LISTS = {
    "live": (Status.LIVE,),
    "upcoming": (Status.UPCOMING, Status.DISCOVERED),
}


class OfferedMatch(msgspec.Struct, frozen=True):
    """A row of the list; `booked`: the tenant receives the match."""

    match: Match
    urn: str
    booked: bool


@get("/offer", opt={"query": ("done", "list", "after")})
async def offer(
    request: SignedInRequest, portal: Portal, listed: Tab = "live", after: FromQuery[str] = ""
) -> Response[str]:
    """The matches in play, or those to come, with what the tenant has booked."""
    return await _offer_page(request, portal, listed, after)


@post("/offer", opt=_TRADERS | {"query": ("list", "after")})
async def change_bookings(
    request: SignedInRequest, portal: Portal, listed: Tab = "live", after: FromQuery[str] = ""
) -> Response[Any]:
    """Book the checked matches, or give them back. Each is a transaction of its own, as over the API; one
    that is already as wanted stays."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        booked = form.choice("change", ("book", "give_back")) == "book"
        refs = form.many("match")
        if not 1 <= len(refs) <= ROWS:
            raise Invalid(Field(("match",), "Check the matches that you mean.", "nothing_checked"))
        for ref in refs:
            async with portal.store.transaction() as tx:
                await matches.by_ref(tx, ref, finished_only=await _sees_finished_only(tx, request))
                await feed_selection.set_booked(
                    tx, signed_in.tenant.slug, ref, booked, by=signed_in.actor, now=portal.clock()
                )
    except Refusal as refusal:
        return await _offer_page(request, portal, listed, after, refusal)
    return redirect(_PATH, "booked" if booked else "given_back", list=listed)


async def _offer_page(
    request: SignedInRequest, portal: Portal, listed: str, after: str, refusal: Refusal | None = None
) -> Response[str]:
    check_tab(listed, LISTS)
    start = matched("after", after, _POSITION)
    position = ListPosition(int(start[1]), int(start[2])) if start else None
    async with portal.store.snapshot() as tx:
        finished_only = await _sees_finished_only(tx, request)
        statuses = () if finished_only else LISTS[listed]
        found = await listings.page(tx, statuses, limit=ROWS + 1, window=Window(), after=position)
        ids = [match.id for match, _ in found]
        booked = await tenants.booked(tx, request.auth.tenant.id, ids)
    return page(
        request,
        "offer.html",
        refusal,
        rows=[OfferedMatch(match, match_urn(match.number), match.id in booked) for match, _ in found[:ROWS]],
        after=_next(found),
        finished_only=finished_only,
        listed=listed,
        lists=tuple(LISTS),
    )


async def _sees_finished_only(tx: Tx, request: SignedInRequest) -> bool:
    """Raises `Forbidden` if the tenant sees no matches at all."""
    return await reach_of(tx, request.auth.tenant, scopes.LIST) is Reach.FINISHED


def _next(found: Sequence[tuple[Match, ListPosition]]) -> str:
    """The position that the next page begins after; empty on the last one."""
    if len(found) <= ROWS:
        return ""
    last = found[ROWS - 1][1]
    return f"{last.at}-{last.number}"


@get("/market-types")
async def list_market_types(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Every market type, and whether it is on for the tenant."""
    return await _types_page(request, portal)


@post("/market-types", opt=_TRADERS)
async def switch_market_types(request: SignedInRequest, portal: Portal) -> Response[Any]:
    """Switch the checked types on or off, all in one transaction."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        on = form.choice("change", ("on", "off")) == "on"
        checked = [_type_id(value) for value in form.many("type")]
        if not checked:
            raise Invalid(Field(("type",), "Check the market types that you mean.", "no_type_checked"))
        async with portal.grants.changing() as tx:
            await set_market_types(
                tx, signed_in.tenant.slug, checked, on, by=signed_in.actor, now=portal.clock()
            )
    except Refusal as refusal:
        return await _types_page(request, portal, refusal)
    return redirect(_TYPES_PATH, "types_on" if on else "types_off")


async def _types_page(
    request: SignedInRequest, portal: Portal, refusal: Refusal | None = None
) -> Response[str]:
    async with portal.store.autocommit() as tx:
        states = await market_types_of(tx, request.auth.tenant.slug)
    locale = texts_for(request).locale
    return page(
        request,
        "market_types.html",
        refusal,
        states=[(each, each.type.name.get(locale)) for each in states],
    )


def _type_id(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise Invalid(Field(("type",), "This is no market type.", "market_type", value[:100]))
    return int(value)
