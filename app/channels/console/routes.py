"""Every route of the console, as one router."""

from collections.abc import Callable

from litestar import Router
from litestar.di import Provide

from app.channels.console import (
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
from app.channels.console.dependencies import ConsoleDependencies
from app.channels.console.site import CONSOLE
from app.pages import account, assets, entry, error_pages
from app.pages.session_guard import SessionGuard

_HANDLERS = (
    *entry.HANDLERS,
    *account.HANDLERS,
    *assets.HANDLERS,
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
_FORM_BYTES = 65_536


def console_router(dependencies: Callable[[], ConsoleDependencies]) -> Router:
    """The console's router; `dependencies` exist only once the application has started."""
    return Router(
        path=CONSOLE.path,
        route_handlers=_HANDLERS,
        middleware=[SessionGuard(lambda: dependencies().people)],
        dependencies={"people": Provide(lambda: dependencies().people, sync_to_thread=False)},
        exception_handlers=error_pages.HANDLERS,
        opt={"open": True, "query": ("done",), "site": CONSOLE},
        request_max_body_size=_FORM_BYTES,
        include_in_schema=False,
    )
