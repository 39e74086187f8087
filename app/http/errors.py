"""Every refusal as JSON `{detail}`, in one place; what nobody expected is logged and says nothing."""

import re
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import Scope

from app.access.rate_limit import UnauthenticatedLimiter, too_many_requests
from app.http import request_id
from app.http.auth import client_address, read_api_key
from app.kit.errors import BadRequest, Field, Invalid, Refusal, Unauthenticated
from app.kit.logging import get_logger

log = get_logger(__name__)
Handler = Callable[[Request[Any, Any, Any], HTTPException], Response[Any]]
#: How the framework says that a parameter was not given.
_ABSENT = re.compile(r"Missing required (\w+) parameter '([^']+)'")
_PART = re.compile(r"[^.\[\]]+")
#: A field that is missing or unknown is named in the words only.
_NAMED = re.compile(r"(?:missing required|contains unknown) field `(\w+)`")
_WORDS = {
    404: "There is nothing at this address.",
    405: "This method is not allowed here.",
    413: "This body is too large.",
}
#: What the framework says of a body that is missing where one is needed.
_MISSING = "'data'"
_WITH_BODY = ("POST", "PUT", "PATCH")


class Problem(msgspec.Struct, frozen=True):
    """An error body: a sentence, or the offending fields."""

    detail: str | tuple[Field, ...]


def refusal(request: Request[Any, Any, Any], error: Refusal) -> Response[Any]:
    """An expected refusal, with the status that its class means."""
    detail = error.fields if isinstance(error, Invalid) else error.detail
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return _answer(error.status, detail, headers)


def invalid(request: Request[Any, Any, Any], error: ValidationException) -> Response[Any]:
    """The framework's own validation, in our words and with 422."""
    return _answer(422, tuple(_fields(request, error)))


def http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """What the framework refuses: unknown paths and methods, bodies too large or malformed."""
    detail = _WORDS.get(error.status_code) or str(error.detail)
    headers = dict(error.headers or {})
    if "GET" in headers.get("allow", ""):
        headers["allow"] += ", HEAD"
    return _answer(error.status_code, detail, headers)


def unrouted(limiter: UnauthenticatedLimiter) -> Handler:
    """A handler for `http` that counts a request to an address or a method that there is not as one without a
    valid key: nobody has looked at its key."""

    def answer(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
        if error.status_code not in (404, 405) or "auth" in cast(dict[str, object], request.scope):
            return http(request, error)
        address = client_address(request.scope)
        seconds = limiter.retry_after(address)
        limiter.record_refusal(address, "path")
        if seconds:
            return refusal(request, too_many_requests(seconds))
        contradiction = _contradiction(request.scope)
        return refusal(request, contradiction) if contradiction else http(request, error)

    return answer


def _contradiction(scope: Scope) -> BadRequest | None:
    """Two different keys are refused at any address, whatever there is."""
    try:
        read_api_key(scope["headers"])
    except BadRequest as error:
        return error
    except Unauthenticated:
        pass
    return None


def unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A body that is no text, or nested beyond all measure: the parser does not call these its own errors."""
    if request.method not in _WITH_BODY:
        return unexpected(request, error)
    return _answer(400, "This body cannot be read: it must be JSON in UTF-8, and not nested this deep.")


def unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A fault of ours: the log has the trace, the answer has the request's id."""
    name = request_id.of(request.scope)
    log.error("a request failed", path=request.scope["path"], request_id=name, exc_info=error)
    return _answer(500, f"The service failed; tell us the request id {name}.")


def _fields(request: Request[Any, Any, Any], error: ValidationException) -> Iterable[Field]:
    extra = error.extra if isinstance(error.extra, list) else []
    for item in extra:
        source = str(getattr(item.get("source"), "value", "body"))
        key = _outer_name(request, str(item.get("key", "")))
        what = str(item.get("message", "This does not fit.")).replace(_MISSING, "A JSON body is needed.")
        given = request.query_params.getall(key, [None])[-1] if source == "query" else None  # that counts
        yield named_field(source, key, what, given)
    if not extra:
        absent = _ABSENT.match(str(error.detail))
        place = (absent[1], absent[2]) if absent else ("body",)
        yield Field(place, "This is required." if absent else str(error.detail), "value_error")


def _outer_name(request: Request[Any, Any, Any], key: str) -> str:
    """What the interface calls the handler's argument `key`: some words are taken in Python."""
    field = request.route_handler.parsed_fn_signature.parameters.get(key)
    return str(getattr(field and field.kwarg_definition, "name", None) or key)


def named_field(source: str, key: str, what: str, given: str | None = None) -> Field:
    """What is wrong, with its place: `key` as the framework and msgspec write it."""
    return Field((source, *_path(key), *_NAMED.findall(what)), what, "value_error", given)


def _path(key: str) -> Iterable[str | int]:
    """``streams[0].url`` as its parts; the body itself has none."""
    parts = _PART.findall(key) if key != "data" else []
    return (int(part) if part.isdigit() else part for part in parts)


def _answer(
    status: int, detail: str | tuple[Field, ...], headers: dict[str, str] | None = None
) -> Response[Any]:
    return Response(
        msgspec.json.encode(Problem(detail)),
        status_code=status,
        media_type=MediaType.JSON,
        headers={"Cache-Control": "no-store"} | (headers or {}),
    )


HANDLERS: dict[int | type[Exception], Any] = {
    Refusal: refusal,
    ValidationException: invalid,
    HTTPException: http,
    UnicodeDecodeError: unreadable,
    RecursionError: unreadable,
    Exception: unexpected,
}
