"""Every route of the portal, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.pages.router import site_router
from app.sites.portal.dependencies import PortalDependencies
from app.sites.portal.site import PORTAL


def portal_router(dependencies: Callable[[], PortalDependencies]) -> Router:
    """The portal's router; `dependencies` exist only once the application has started."""
    return site_router(PORTAL, "app.sites.portal", lambda: dependencies().people)
