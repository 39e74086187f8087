"""Every route of the console, as one router."""

from collections.abc import Callable

from litestar import Router

from app.sites.console.site import CONSOLE, ConsoleDependencies
from app.sites.pages.router import site_router


def console_router(dependencies: Callable[[], ConsoleDependencies]) -> Router:
    """The console's router; `dependencies` exist only once the application has started."""
    return site_router(CONSOLE, "app.sites.console", lambda: dependencies().people)
