"""Error responses: every refusal as JSON `{detail}`; unexpected exceptions are logged and answered without
their text."""

import re
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, NotFoundException, ValidationException
from litestar.types import Scope

from app.access.rate_limit import UnauthenticatedLimiter, too_many_requests
from app.domain.ids import limits_of
from app.http.auth import client_address, read_api_key
from app.http.headers import request_id
from app.http.request_data import REQUIRED, in_words, named_field, unfit_fields
from app.kit.errors import BadRequest, Field, Invalid, RangeNotSatisfiable, Refusal, Unauthenticated
from app.kit.logging import get_logger

log = get_logger(__name__)
Handler = Callable[[Request[Any, Any, Any], HTTPException], Response[Any]]
#: The framework's message for a parameter that is absent.
_ABSENT = re.compile(r"Missing required (\w+) parameter '([^']+)'")
_DETAILS = {
    404: "There is nothing at this address.",
    405: "This method is not allowed here.",
}
#: The framework's message for a required body that is absent.
_MISSING = "'data'"
_WITH_BODY = ("POST", "PUT", "PATCH")


class Problem(msgspec.Struct, frozen=True):
    """An error body: a sentence, or the offending fields."""

    detail: str | tuple[Field, ...]


def detail_of(error: Refusal) -> str | tuple[Field, ...]:
    """What the body of a refusal says."""
    return error.fields if isinstance(error, Invalid) else error.detail


def refusal(request: Request[Any, Any, Any], error: Refusal) -> Response[Any]:
    """A refusal, with the status of its class."""
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    if isinstance(error, RangeNotSatisfiable):
        headers["Content-Range"] = f"bytes */{error.size}"
    return _response(error.status, detail_of(error), headers)


def invalid(request: Request[Any, Any, Any], error: ValidationException) -> Response[Any]:
    """The framework's own validation errors, in our form and with 422."""
    return _response(422, tuple(_fields(request, error)))


def http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """The framework's other refusals: unknown paths and methods, bodies too large or malformed."""
    detail = _DETAILS.get(error.status_code) or str(error.detail)
    if error.status_code == 404:
        detail += limits_of(request.scope["path"])
    elif error.status_code == 413:
        most = request.route_handler.resolve_request_max_body_size()
        detail = f"This body is too large: at most {most} bytes are read here."
    return _response(error.status_code, detail, dict(error.headers or {}))


def unrouted(
    unauthenticated_limiter: Callable[[], UnauthenticatedLimiter], serves: Callable[[Scope], bool]
) -> Handler:
    """A handler like `http` that counts a request to an unknown path or method as unauthenticated, because
    its key has not been checked. A path that its listener does not `serve` has no methods either."""

    def handler(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
        if error.status_code not in (404, 405) or "auth" in cast(dict[str, object], request.scope):
            return http(request, error)
        if not serves(request.scope):
            error = NotFoundException()
        limiter, address = unauthenticated_limiter(), client_address(request.scope)
        seconds = limiter.retry_after(address)
        limiter.record_refusal(address, "path")
        if seconds:
            return refusal(request, too_many_requests(seconds))
        contradiction = _contradiction(request.scope)
        return refusal(request, contradiction) if contradiction else http(request, error)

    return handler


def _contradiction(scope: Scope) -> BadRequest | None:
    """The refusal of two different keys, which applies to every path, known or not."""
    try:
        read_api_key(scope["headers"])
    except BadRequest as error:
        return error
    except Unauthenticated:
        pass
    return None


def unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """A body that is not UTF-8 or is nested too deeply: the parser raises built-in errors for these."""
    if request.method not in _WITH_BODY:
        return unexpected(request, error)
    return _response(400, "This body cannot be read: it must be JSON in UTF-8, and not nested this deep.")


def unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """An internal error: the traceback is logged, the response has the request's id."""
    name = request_id(request.scope)
    log.error("a request failed", path=request.scope["path"], request_id=name, exc_info=error)
    return _response(500, f"The service failed; tell us the request id {name}.")


def _fields(request: Request[Any, Any, Any], error: ValidationException) -> Iterable[Field]:
    extra = error.extra if isinstance(error.extra, list) else []
    for item in extra:
        source = str(getattr(item.get("source"), "value", "body"))
        key = _outer_name(request, str(item.get("key", "")))
        what = str(item.get("message", "This does not fit.")).replace(_MISSING, "A JSON body is needed.")
        value = None
        if source == "query":
            value = request.query_params.getall(key, [None])[-1]  # the last counts
            what = in_words(request.route_handler, key, what)
        yield named_field(source, key, what, value)
    if not extra:
        absent = _ABSENT.match(str(error.detail))
        if absent and absent[1] == "query":
            yield from unfit_fields(request.scope)
            return
        place = (absent[1], absent[2]) if absent else ("body",)
        yield Field(place, REQUIRED if absent else str(error.detail), "value_error")


def _outer_name(request: Request[Any, Any, Any], key: str) -> str:
    """The parameter's name in the API for the handler's argument `key`: some names are reserved in Python."""
    field = request.route_handler.parsed_fn_signature.parameters.get(key)
    return str(getattr(field and field.kwarg_definition, "name", None) or key)


def _response(
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
