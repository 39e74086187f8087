"""A log body on its way from the sink to the worker."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a match's log, as they were received.

    `id` names the message; `number` is the match's and chooses the queue; `arrived_at` is Unix ms.
    `begin` and `end` are byte offsets in the log of the sender's run `instance`; a sender that does not
    tell them has both None and sends in order.
    """

    id: str
    match_id: UUID
    number: int
    arrived_at: int
    body: bytes
    instance: str = ""
    begin: int | None = None
    end: int | None = None


def headers(batch: Batch) -> dict[str, Any]:
    """What travels beside the body, as AMQP headers."""
    said = {
        "match_id": str(batch.match_id),
        "number": batch.number,
        "arrived_at": batch.arrived_at,
        "instance": batch.instance,
        "begin": batch.begin,
        "end": batch.end,
    }
    return {name: value for name, value in said.items() if value is not None}


def from_message(message_id: str, said: Mapping[str, Any], body: bytes) -> Batch:
    """The batch that a message carries; raises `msgspec.ValidationError` when it carries none."""
    return msgspec.convert({**said, "id": message_id, "body": body}, Batch, strict=False)
