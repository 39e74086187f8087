"""Refusals as pages: a sentence that says what to do, with the status of the refusal."""

from collections.abc import Callable, Sequence
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.response import Redirect
from litestar.types import Scope

from app.http.errors import Handler
from app.http.headers import request_id
from app.kit.errors import Field, Invalid, Refusal
from app.kit.logging import get_logger
from app.sites.pages.event_streams import ended_response
from app.sites.pages.rendering import HEADERS, page, texts_for
from app.sites.pages.session_guard import SignInRequired
from app.sites.pages.site import Site, find_site

log = get_logger(__name__)
_KNOWN = {404: "errors.not_found", 405: "errors.not_allowed", 413: "errors.too_large"}


def refused(request: Request[Any, Any, Any], error: Refusal) -> Response[Any]:
    """A refusal as a page; without a session, the way to the page for signing in."""
    if isinstance(error, SignInRequired):
        if request.scope["route_handler"].opt.get("stream"):
            return ended_response()
        if request.headers.get("hx-request"):  # htmx would show the page inside this one
            return Response(None, status_code=204, headers=HEADERS | {"HX-Redirect": error.location})
        return Redirect(error.location, status_code=303, headers=dict(HEADERS))
    response = page(request, "error.html", status=error.status, sentences=sentences(request, error))
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def sentences(request: Request[Any, Any, Any], error: Refusal) -> list[str]:
    """What a refusal says, in the user's language where that has a text for it."""
    if isinstance(error, Invalid):
        return [_field_sentence(request, field) for field in error.fields]
    values = {"retry_after": error.retry_after} | error.values
    return [_sentence(request, error.code, error.detail, values)]


def http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """The framework's refusals."""
    texts = texts_for(request)
    found = texts(_KNOWN.get(error.status_code, "errors.unreadable"))
    return page(request, "error.html", status=error.status_code, sentences=[found])


def unrouted(sites: Sequence[Site], otherwise: Handler, serves: Callable[[Scope], bool]) -> Handler:
    """A handler of refusals of unknown addresses and methods: below the address of a site as a page, with
    the status that `otherwise` gives, which handles all others. `serves`: the listener has the address."""

    def handler(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
        response = otherwise(request, error)
        if response.status_code not in (404, 405) or not serves(request.scope):
            return response
        return response if find_site(request.scope, sites) is None else http(request, error)

    return handler


def unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A form that no browser sends: not UTF-8, or malformed."""
    return page(request, "error.html", status=400, sentences=[texts_for(request)("errors.unreadable")])


def unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """An internal error: the traceback is logged, the page has the request's id."""
    name = request_id(request.scope)
    log.error("a request failed", path=request.scope["path"], request_id=name, exc_info=error)
    return page(request, "error.html", status=500, sentences=[texts_for(request)("errors.failed", id=name)])


def _field_sentence(request: Request[Any, Any, Any], field: Field) -> str:
    values = {"field": field.loc[-1] if field.loc else "", "input": field.input}
    return _sentence(request, field.type, field.msg, values | (field.ctx or {}))


def _sentence(request: Request[Any, Any, Any], code: str, otherwise: str, values: dict[str, Any]) -> str:
    texts, name = texts_for(request), f"errors.{code}"
    command = f"commands.{values.get('command', '')}"
    if texts.has(command):  # as the title of its form
        values = values | {"command": texts(command)}
    return texts(name, **values) if texts.has(name) else otherwise


HANDLERS: dict[type[Exception] | int, Any] = {
    Refusal: refused,
    ValidationException: unreadable,
    HTTPException: http,
    UnicodeDecodeError: unreadable,
    RecursionError: unreadable,
    Exception: unexpected,
}
