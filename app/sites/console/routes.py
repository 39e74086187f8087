"""Every route of the console, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.console import (
    alerts,
    commands,
    consents,
    live,
    market_page,
    match_page,
    records,
    settlements,
    tenants,
)
from app.sites.console.dependencies import ConsoleDependencies
from app.sites.console.site import CONSOLE
from app.sites.pages.router import site_router

_HANDLERS = (
    *live.HANDLERS,
    *alerts.HANDLERS,
    *match_page.HANDLERS,
    *market_page.HANDLERS,
    *commands.HANDLERS,
    *consents.HANDLERS,
    *settlements.HANDLERS,
    *tenants.HANDLERS,
    *records.HANDLERS,
)


def console_router(dependencies: Callable[[], ConsoleDependencies]) -> Router:
    """The console's router; `dependencies` exist only once the application has started."""
    return site_router(CONSOLE, _HANDLERS, lambda: dependencies().people)
