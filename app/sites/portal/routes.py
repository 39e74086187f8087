"""Every route of the portal, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.pages.router import site_router
from app.sites.portal import (
    amqp,
    documentation,
    envelopes,
    feed,
    keys,
    market_pages,
    market_types,
    offer,
    overview,
    people,
    recoveries,
    selfcheck,
    settlements,
)
from app.sites.portal.dependencies import PortalDependencies
from app.sites.portal.site import PORTAL

_HANDLERS = (
    *overview.HANDLERS,
    *offer.HANDLERS,
    *keys.HANDLERS,
    *amqp.HANDLERS,
    *documentation.HANDLERS,
    *settlements.HANDLERS,
    *market_pages.HANDLERS,
    *selfcheck.HANDLERS,
    *feed.HANDLERS,
    *envelopes.HANDLERS,
    *recoveries.HANDLERS,
    *market_types.HANDLERS,
    *people.HANDLERS,
)


def portal_router(dependencies: Callable[[], PortalDependencies]) -> Router:
    """The portal's router; `dependencies` exist only once the application has started."""
    return site_router(PORTAL, _HANDLERS, lambda: dependencies().people)
