"""The routes of a site, as one router."""

from collections.abc import Callable
from typing import Any

from litestar import Router
from litestar.di import Provide

from app.sites.pages import account, assets, entry, error_pages
from app.sites.pages.people import People
from app.sites.pages.session_guard import SessionGuard
from app.sites.pages.site import Site

_FORM_BYTES = 65_536


def site_router(site: Site, handlers: tuple[Any, ...], people: Callable[[], People]) -> Router:
    """The router with these handlers and those that every site has; `people` exist only once the application
    has started."""
    return Router(
        path=site.path,
        route_handlers=(*entry.HANDLERS, *account.HANDLERS, *assets.HANDLERS, *handlers),
        middleware=[SessionGuard(people)],
        dependencies={"people": Provide(people, sync_to_thread=False)},
        exception_handlers=error_pages.HANDLERS,
        opt={"open": True, "query": ("done",), "site": site},
        request_max_body_size=_FORM_BYTES,
        include_in_schema=False,
    )
