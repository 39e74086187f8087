"""Every route of the portal, as one router."""

from collections.abc import Callable

from litestar import Router
from litestar.di import Provide

from app.channels.portal import (
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
from app.channels.portal.dependencies import PortalDependencies
from app.channels.portal.site import PORTAL
from app.pages import account, assets, entry, error_pages
from app.pages.session_guard import SessionGuard

_HANDLERS = (
    *entry.HANDLERS,
    *assets.HANDLERS,
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
    *account.HANDLERS,
)
_FORM_BYTES = 65_536


def portal_router(dependencies: Callable[[], PortalDependencies]) -> Router:
    """The portal's router; `dependencies` exist only once the application has started."""
    return Router(
        path=PORTAL.path,
        route_handlers=_HANDLERS,
        middleware=[SessionGuard(lambda: dependencies().people)],
        dependencies={"people": Provide(lambda: dependencies().people, sync_to_thread=False)},
        exception_handlers=error_pages.HANDLERS,
        opt={"open": True, "query": ("done",), "site": PORTAL},
        request_max_body_size=_FORM_BYTES,
        include_in_schema=False,
    )
