"""Which market types the tenant is offered: switched off and on, several at once."""

from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency

from app.access.feed_selection import market_types_of, set_market_types
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.error_pages import sentences
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.portal.dependencies import PortalDependencies, SignedInRequest
from app.sites.portal.permissions import Permission

_PATH = "/portal/market-types"
_TRADERS: dict[str, Any] = {"permission": Permission.OFFER}


@get("/market-types")
async def list_market_types(
    request: SignedInRequest, portal: NamedDependency[PortalDependencies]
) -> Response[str]:
    """Every market type, and whether it is on for the tenant."""
    return await _types_page(request, portal)


@post("/market-types", opt=_TRADERS)
async def switch_market_types(
    request: SignedInRequest, portal: NamedDependency[PortalDependencies]
) -> Response[Any]:
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
    return redirect(_PATH, "types_on" if on else "types_off")


async def _types_page(
    request: SignedInRequest, portal: PortalDependencies, refusal: Refusal | None = None
) -> Response[str]:
    async with portal.store.autocommit() as tx:
        states = await market_types_of(tx, request.auth.tenant.slug)
    language = texts_for(request).language
    return page(
        request,
        "market_types.html",
        status=refusal.status if refusal else 200,
        states=[(each, each.type.name.get("ru" if language == "ru" else "en")) for each in states],
        sentences=sentences(request, refusal) if refusal else [],
    )


def _type_id(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise Invalid(Field(("type",), "This is no market type.", "market_type", value[:100]))
    return int(value)


HANDLERS = (list_market_types, switch_market_types)
