"""Rendered responses: what a handler returns, as bytes in the negotiated format.

A returned view is rendered by `ViewResponse`: JSON, or XML without a schema. A handler with its own XML shape
returns `RenderedResponse[View]`, made with `as_json` or `as_xml`; the annotation declares the JSON schema.
A route that only sends XML needs only `as_xml`:

    return response.as_xml(envelopes.entrants.player_profile(player))

On a cached route (see `response_cache`), `invalidated_by` is the subject whose changes invalidate the
response; without it the response is not stored.
"""

from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.response.base import ASGIResponse

from app.http import response_cache
from app.http.content_negotiation import Format, response_format
from app.http.response_body import BodyResponse
from app.http.response_body import ResponseBody as ResponseBody
from app.wire import mechanical

T = TypeVar("T")
ROOT = "response"  #: the root of XML without a schema
_encode = msgspec.json.Encoder().encode


class RenderedResponse(Response[T]):
    """A response whose body is rendered, whatever format was negotiated."""

    def __init__(
        self, body: ResponseBody, status_code: int | None = None, *, invalidated_by: UUID | None = None
    ) -> None:
        super().__init__(cast(Any, body.plain), media_type=body.form.value, status_code=status_code)
        self.body = body
        self.invalidated_by = invalidated_by

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        status = self.status_code or options.get("status_code") or 200
        if self.invalidated_by is not None and status == 200:
            response_cache.put(request.scope, self.body, self.invalidated_by)
        return BodyResponse(self.body, status)


class ViewResponse(Response[T], Generic[T]):
    """The application's `response_class`: renders a view that a handler returns."""

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        if self.status_code == 204:
            return ASGIResponse(status_code=204)
        return BodyResponse(_rendered(request, self.content), self.status_code or 200)


def negotiated(
    request: Request[Any, Any, Any], view: T, *, invalidated_by: UUID | None = None
) -> RenderedResponse[T]:
    """A view in the negotiated format, XML without a schema: as `ViewResponse` renders it, for cached
    routes."""
    return RenderedResponse(_rendered(request, view), invalidated_by=invalidated_by)


def as_json(view: T, *, invalidated_by: UUID | None = None) -> RenderedResponse[T]:
    """A view as JSON."""
    return RenderedResponse(ResponseBody(_encode(view), Format.JSON), invalidated_by=invalidated_by)


def as_xml(
    document: bytes, status_code: int | None = None, *, invalidated_by: UUID | None = None
) -> RenderedResponse[Any]:
    """A finished XML document."""
    return RenderedResponse(ResponseBody(document, Format.XML), status_code, invalidated_by=invalidated_by)


def _rendered(request: Request[Any, Any, Any], view: Any) -> ResponseBody:
    form = response_format(request.scope)
    return ResponseBody(_encode(view) if form is Format.JSON else mechanical.render(view, ROOT), form)
