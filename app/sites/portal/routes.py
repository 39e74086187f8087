"""Every route of the portal, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.pages.router import site_router
from app.sites.portal import (
    amqp,
    claims,
    delivery,
    documentation,
    envelopes,
    keys,
    ledger,
    market_pages,
    offer,
    people,
    recoveries,
    replays,
    selfcheck,
    settlements,
)
from app.sites.portal.dependencies import PortalDependencies
from app.sites.portal.site import PORTAL

_MODULES = (
    delivery,
    offer,
    keys,
    amqp,
    documentation,
    settlements,
    claims,
    ledger,
    market_pages,
    selfcheck,
    envelopes,
    recoveries,
    replays,
    people,
)


def portal_router(dependencies: Callable[[], PortalDependencies]) -> Router:
    """The portal's router; `dependencies` exist only once the application has started."""
    return site_router(PORTAL, _MODULES, lambda: dependencies().people)
