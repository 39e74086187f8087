"""What the facade's handlers work with, and how they answer."""

from typing import Any
from uuid import UUID

import msgspec

from app.http.answer import Answer, Body, as_xml
from app.http.media import Format
from app.kit.clock import Clock
from app.store.connections import Store
from app.wire.envelopes import answers
from app.wire.envelopes.answers import NotFoundRoot
from app.wire.envelopes.dictionaries import Producer


class Facade(msgspec.Struct, frozen=True):
    """The store, the clock, and what the deployment says of itself: its producer and the address of the
    category's picture."""

    store: Store
    clock: Clock
    producer: Producer
    icon_url: str

    def body(self, document: bytes) -> Body:
        """A document with the moment of its rendering, which is left out of its tag."""
        tag = Body(document, Format.XML).tag
        return Body(answers.generated(document, self.clock()), Format.XML, tag=tag)

    def answer(self, document: bytes, about: UUID | None = None) -> Answer[Any]:
        """A document; kept until what it is `about` changes, where its route keeps any."""
        return Answer(self.body(document), about=about)


def missing(root: NotFoundRoot) -> Answer[Any]:
    """The mark that there is no such thing."""
    return as_xml(answers.not_found(root), 404)
