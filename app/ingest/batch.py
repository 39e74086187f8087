"""A log body as the sink queues it for the worker."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec

from app.kit.logging import get_logger

_SLACK_BYTES = 1024
_MAX_BYTES = 200  #: of a sender's text in an AMQP header; all headers must fit into one frame
_MAX_MAP = 120  #: characters of a map's name
_MAX_OFFSET = 2**63 - 1
log = get_logger(__name__)


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a match's log, as they were received.

    `id` is the message's; `number` is the match's and determines the queue; `arrived_at` is Unix ms.
    `begin` and `end` are byte offsets in the log of the sender's run `instance`; both are None for a sender
    without offsets, which sends in order. `address`, `unique` and `map` come from the server's headers,
    `peer` is the address that it sends from; "" where unknown.
    """

    id: str
    match_id: UUID
    number: int
    arrived_at: int
    body: bytes
    instance: str = ""
    address: str = ""
    unique: str = ""
    peer: str = ""
    map: str = ""
    begin: int | None = None
    end: int | None = None


def headers(batch: Batch) -> dict[str, Any]:
    """The AMQP headers of a batch."""
    fields = {
        "match_id": str(batch.match_id),
        "number": batch.number,
        "arrived_at": batch.arrived_at,
        "instance": _bounded(batch.instance),
        "address": _bounded(batch.address),
        "unique": _bounded(batch.unique),
        "peer": batch.peer,
        "map": batch.map[:_MAX_MAP],
        "begin": batch.begin,
        "end": batch.end,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _bounded(name: str) -> str:
    """A name that is only compared: itself, or its digest if it is too long."""
    written = name.encode(errors="surrogateescape")
    return name if len(written) <= _MAX_BYTES else f"blake2b:{blake2b(written, digest_size=32).hexdigest()}"


def from_message(message_id: str, headers: Mapping[str, Any], body: bytes) -> Batch:
    """The batch of a message; raises `msgspec.ValidationError` when it is none."""
    return msgspec.convert({**headers, "id": message_id, "body": body}, Batch, strict=False)


def stated_range(begin: int | None, end: int | None, size: int) -> tuple[int, int] | tuple[None, None]:
    """The byte range in the headers of a body of `size` bytes, or none when it is implausible: one absurd end
    would make every later batch look like a repeat. Senders may count line ends differently."""
    if begin is None or end is None:
        return None, None
    if 0 <= begin <= end <= _MAX_OFFSET and end - begin <= 2 * size + _SLACK_BYTES:
        return begin, end
    log.warning("implausible offsets of a log batch ignored", begin=begin, end=end, size=size)
    return None, None
