"""Every route of the console, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.console import (
    claims,
    commands,
    consents,
    live,
    market_page,
    match_chart,
    match_page,
    profiles,
    reports,
    tenant_profiles,
)
from app.sites.console.site import CONSOLE, ConsoleDependencies
from app.sites.pages.router import site_router

_MODULES = (
    live,
    match_page,
    market_page,
    match_chart,
    commands,
    consents,
    claims,
    reports,
    profiles,
    tenant_profiles,
)


def console_router(dependencies: Callable[[], ConsoleDependencies]) -> Router:
    """The console's router; `dependencies` exist only once the application has started."""
    return site_router(CONSOLE, _MODULES, lambda: dependencies().people)
