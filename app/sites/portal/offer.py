"""Which matches the tenant has booked: those in play and those to come, booked or given back one by one or
several at once. They are not for tenants whose keys see finished matches only.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter

from app.access import feed_selection
from app.access.reach import reach_of
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.domain.scopes import Reach
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.error_pages import sentences
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.portal.dependencies import PortalDependencies, SignedInRequest
from app.sites.portal.permissions import Permission
from app.store import listings, matches, tenants
from app.store.listings import ListPosition, Window
from app.store.transaction import Tx

_PATH = "/portal/offer"
_ROWS = 50
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


class OfferPage(msgspec.Struct, frozen=True):
    """A page of a list; `after` is the position that the next page begins after, empty on the last one.
    `finished_only`: the tenant sees neither list."""

    rows: tuple[OfferedMatch, ...]
    after: str
    finished_only: bool


@get("/offer", opt={"query": ("done", "list", "after")})
async def offer(
    request: SignedInRequest,
    portal: NamedDependency[PortalDependencies],
    listed: Annotated[str, QueryParameter(name="list")] = "live",
    after: FromQuery[str] = "",
) -> Response[str]:
    """The matches in play, or those to come, with what the tenant has booked."""
    return await _offer_page(request, portal, listed, after)


@post("/offer", opt=_TRADERS | {"query": ("list", "after")})
async def change_bookings(
    request: SignedInRequest,
    portal: NamedDependency[PortalDependencies],
    listed: Annotated[str, QueryParameter(name="list")] = "live",
    after: FromQuery[str] = "",
) -> Response[Any]:
    """Book the checked matches, or give them back. Each is a transaction of its own, as over the API; one
    that is already as wanted stays."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        booked = form.choice("change", ("book", "give_back")) == "book"
        refs = form.many("match")
        if not 1 <= len(refs) <= _ROWS:
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
    request: SignedInRequest,
    portal: PortalDependencies,
    listed: str,
    after: str,
    refusal: Refusal | None = None,
) -> Response[str]:
    if listed not in LISTS:
        raise Invalid(Field(("query", "list"), f"Choose one of {', '.join(LISTS)}.", "choice", listed[:100]))
    position = _position(after)
    async with portal.store.snapshot() as tx:
        finished_only = await _sees_finished_only(tx, request)
        statuses = () if finished_only else LISTS[listed]
        found = await listings.page(tx, statuses, limit=_ROWS + 1, window=Window(), after=position)
        ids = [match.id for match, _ in found]
        booked = await tenants.booked(tx, request.auth.tenant.id, ids)
    rows = tuple(
        OfferedMatch(match, match_urn(match.number), match.id in booked) for match, _ in found[:_ROWS]
    )
    shown = OfferPage(rows, _next(found), finished_only)
    return page(
        request,
        "offer.html",
        status=refusal.status if refusal else 200,
        shown=shown,
        listed=listed,
        lists=tuple(LISTS),
        sentences=sentences(request, refusal) if refusal else [],
    )


async def _sees_finished_only(tx: Tx, request: SignedInRequest) -> bool:
    """Raises `Forbidden` if the tenant sees no matches at all."""
    return await reach_of(tx, request.auth.tenant, scopes.LIST) is Reach.FINISHED


def _position(after: str) -> ListPosition | None:
    if not after:
        return None
    found = _POSITION.match(after)
    if not found:
        raise Invalid(Field(("query", "after"), "Follow the links of this page.", "position", after[:100]))
    return ListPosition(int(found[1]), int(found[2]))


def _next(found: Sequence[tuple[Match, ListPosition]]) -> str:
    if len(found) <= _ROWS:
        return ""
    last = found[_ROWS - 1][1]
    return f"{last.at}-{last.number}"


HANDLERS = (offer, change_bookings)
