"""Refusals as pages: a sentence that says what to do, with the status of the refusal."""

from collections.abc import Callable, Sequence
from typing import Any

from litestar import Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.response import Redirect
from litestar.types import Scope

from app.http import headers
from app.http.errors import Handler
from app.kit.errors import Refusal
from app.kit.logging import get_logger
from app.sites.pages.event_streams import ended_response
from app.sites.pages.rendering import HEADERS, page, texts_for
from app.sites.pages.sessions import AnyRequest, SignInRequired
from app.sites.pages.site import Site, find_site

log = get_logger(__name__)
_KNOWN = {404: "errors.not_found", 405: "errors.not_allowed", 413: "errors.too_large"}


def refused(request: AnyRequest, error: Refusal) -> Response[Any]:
    """A refusal as a page; without a session, the way to the page for signing in."""
    if not isinstance(error, SignInRequired):
        return page(request, "error.html", error)
    if request.scope["route_handler"].opt.get("stream"):
        return ended_response()
    if request.headers.get("hx-request"):  # htmx would show the page inside this one
        return Response(None, status_code=204, headers=HEADERS | {"HX-Redirect": error.location})
    return Redirect(error.location, status_code=303, headers=dict(HEADERS))


def http(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """The framework's refusals."""
    return _page(request, error.status_code, _KNOWN.get(error.status_code, "errors.unreadable"))


def unrouted(sites: Sequence[Site], otherwise: Handler, serves: Callable[[Scope], bool]) -> Handler:
    """A handler of refusals of unknown addresses and methods: below the address of a site as a page, with the
    status that `otherwise` returns, which handles all others. `serves`: the listener has the address."""

    def handler(request: AnyRequest, error: HTTPException) -> Response[Any]:
        response = otherwise(request, error)
        if response.status_code not in (404, 405) or not serves(request.scope):
            return response
        return response if find_site(request.scope, sites) is None else http(request, error)

    return handler


def unreadable(request: AnyRequest, error: Exception) -> Response[Any]:
    """A form that no browser sends: not UTF-8, or malformed."""
    return _page(request, 400, "errors.unreadable")


def unexpected(request: AnyRequest, error: Exception) -> Response[Any]:
    """An internal error: the traceback is logged, the page has the request's id."""
    name = headers.request_id(request.scope)
    log.error("a request failed", path=request.scope["path"], request_id=name, exc_info=error)
    return _page(request, 500, "errors.failed", id=name)


def _page(request: AnyRequest, status: int, text: str, **values: Any) -> Response[str]:
    return page(request, "error.html", status=status, sentences=[texts_for(request)(text, **values)])


HANDLERS: dict[type[Exception] | int, Any] = {
    Refusal: refused,
    ValidationException: unreadable,
    HTTPException: http,
    UnicodeDecodeError: unreadable,
    RecursionError: unreadable,
    Exception: unexpected,
}
