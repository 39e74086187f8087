"""What the facade's handlers depend on, and how they respond."""

from typing import Any
from uuid import UUID

import msgspec

from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse, as_xml
from app.kit.clock import Clock
from app.store.connections import Store
from app.wire.xml import responses
from app.wire.xml.dialect import Dialect
from app.wire.xml.dictionaries import Producer
from app.wire.xml.responses import NotFoundRoot


class FacadeDependencies(msgspec.Struct, frozen=True):
    """The store, the clock, the deployment's producer, the URL of the category's icon, and the dialect of the
    address that received the request."""

    store: Store
    clock: Clock
    producer: Producer
    icon_url: str
    dialect: Dialect

    def body(self, document: bytes) -> ResponseBody:
        """A document with its moment of rendering, which is not part of the tag."""
        tag = ResponseBody(document, Format.XML).tag
        return ResponseBody(responses.with_generated_at(document, self.clock()), Format.XML, tag=tag)

    def respond(self, document: bytes, invalidated_by: UUID | None = None) -> RenderedResponse[Any]:
        """A document; on a cached route it is stored until a change of `invalidated_by`."""
        return RenderedResponse(self.body(document), invalidated_by=invalidated_by)


def not_found(root: NotFoundRoot) -> RenderedResponse[Any]:
    """404 with the resource's own root and the mark that it does not exist."""
    return as_xml(responses.not_found(root), 404)
