"""Every route of the portal, as one router; and its first page."""

from collections.abc import Callable

from litestar import Response, Router

from app.http.handlers import get, handlers_of
from app.sites.pages.rendering import page
from app.sites.pages.routes import site_router
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal import (
    amqp,
    documentation,
    envelopes,
    keys,
    market_pages,
    offer,
    people,
    recoveries,
    selfcheck,
    settlements,
)
from app.sites.portal.dependencies import PortalDependencies
from app.sites.portal.site import PORTAL


@get("/")
async def overview(request: SignedInRequest) -> Response[str]:
    """The first page: what the tenant has, and how its delivery stands."""
    return page(request, "overview.html")


_MODULES = (
    offer,
    keys,
    amqp,
    documentation,
    settlements,
    market_pages,
    selfcheck,
    envelopes,
    recoveries,
    people,
)


def portal_router(dependencies: Callable[[], PortalDependencies]) -> Router:
    """The portal's router; `dependencies` exist only once the application has started."""
    return site_router(PORTAL, (overview, *handlers_of(*_MODULES)), lambda: dependencies().people)
