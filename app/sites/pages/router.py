"""The router of a site: its own handlers, those that every site has, and what guards them."""

from collections.abc import Callable

from litestar import Router
from litestar.di import Provide

from app.http.handlers import handlers_in
from app.sites.pages import error_pages
from app.sites.pages.sessions import People, SessionGuard
from app.sites.pages.site import Site

_FORM_BYTES = 65_536


def site_router(site: Site, package: str, people: Callable[[], People]) -> Router:
    """The router with the handlers of a package and those that every site has; `people` exist only once
    the application has started."""
    return Router(
        path=site.path,
        route_handlers=(*handlers_in("app.sites.pages"), *handlers_in(package)),
        middleware=[SessionGuard(people)],
        dependencies={"people": Provide(people, sync_to_thread=False)},
        exception_handlers=error_pages.HANDLERS,
        opt={"open": True, "query": ("done",), "site": site},
        request_max_body_size=_FORM_BYTES,
        include_in_schema=False,
    )
