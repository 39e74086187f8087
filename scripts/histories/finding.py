"""Something that is not as it must be."""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """`lost`: published, and neither received nor recovered. `invented`: received, and not published so.
    `order`: first received after something newer. `ledger`, `log`: wrong in themselves. `book`: what a client
    has differs from what REST shows. `failure`: an internal error."""

    LOST = "lost"
    INVENTED = "invented"
    ORDER = "order"
    LEDGER = "ledger"
    LOG = "log"
    BOOK = "book"
    FAILURE = "failure"


class Finding(msgspec.Struct, frozen=True):
    """`subject` is the tenant, or the part of the service."""

    kind: Kind
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}: {self.text}"
