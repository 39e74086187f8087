"""Rendered answers: what a handler returns, as bytes in the format that `media` settled.

A view is rendered by `Rendered`: JSON, or XML without a schema. A handler whose XML has a shape of its own
returns `Answer[View]`, made with `as_json` or `as_xml`; the annotation says what its JSON looks like.
`as_xml` alone is what a route needs that speaks nothing but XML:

    return answer.as_xml(envelopes.entrants.player_profile(player))

On a route that keeps bodies (see `kept`), `about` says what the answer changes with.
"""

from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.response.base import ASGIResponse

from app.http import kept, media
from app.http.media import Format
from app.http.sending import Body as Body
from app.http.sending import Sent
from app.wire import mechanical

T = TypeVar("T")
ROOT = "response"  #: the root of XML without a schema
_encode = msgspec.json.Encoder().encode


class Answer(Response[T]):
    """An answer that is rendered already, whatever format was asked for."""

    def __init__(self, body: Body, status_code: int | None = None, *, about: UUID | None = None) -> None:
        super().__init__(cast(Any, body.plain), media_type=body.form.value, status_code=status_code)
        self.body = body
        self.about = about

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **said: Any) -> ASGIResponse:
        status = self.status_code or said.get("status_code") or 200
        if self.about is not None and status == 200:
            kept.done(request.scope, self.body, self.about)
        return Sent(self.body, status)


class Rendered(Response[T], Generic[T]):
    """What becomes of a view that a handler returns. The application's `response_class`."""

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **said: Any) -> ASGIResponse:
        if self.status_code == 204:
            return ASGIResponse(status_code=204)
        return Sent(_rendered(request, self.content), self.status_code or 200)


def as_asked(request: Request[Any, Any, Any], view: T, *, about: UUID | None = None) -> Answer[T]:
    """A view in the format that was asked for, XML without a schema: what becomes of a plain view, for routes
    that keep bodies."""
    return Answer(_rendered(request, view), about=about)


def as_json(view: T, *, about: UUID | None = None) -> Answer[T]:
    """A view as JSON."""
    return Answer(Body(_encode(view), Format.JSON), about=about)


def as_xml(document: bytes, status_code: int | None = None, *, about: UUID | None = None) -> Answer[Any]:
    """A finished XML document."""
    return Answer(Body(document, Format.XML), status_code, about=about)


def _rendered(request: Request[Any, Any, Any], view: Any) -> Body:
    form = media.of(request.scope)
    return Body(_encode(view) if form is Format.JSON else mechanical.render(view, ROOT), form)
