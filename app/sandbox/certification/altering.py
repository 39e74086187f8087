"""Deliveries with another body, or with other times."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from pamqp import frame, header
from pamqp.body import ContentBody

from app.broker.connection import use_signed_integers
from app.sandbox.certification.deliveries import Delivery

use_signed_integers()  # in headers, as the service itself
_TIMESTAMP = re.compile(rb'(?<= timestamp=")\d+')
#: Headers that are times, in Unix milliseconds.
_TIMES = ("timestamp_in_ms", "x-arrived-at")
_FRAME_OVERHEAD = 8


def altered(delivery: Delivery, body: bytes) -> Delivery:
    """The same delivery with another body."""
    return _rebuilt(delivery, body, _properties(delivery))


def shifted(delivery: Delivery, millis: int) -> Delivery:
    """The same delivery as if the service's clock were so much later."""
    body = _TIMESTAMP.sub(lambda found: b"%d" % (int(found[0]) + millis), delivery.body)
    properties = _properties(delivery)
    headers: dict[str, Any] = dict(properties.headers or {})
    for name in _TIMES:
        if headers.get(name):
            headers[name] = int(headers[name]) + millis
    properties.headers = headers
    if properties.timestamp is not None:
        properties.timestamp += timedelta(milliseconds=millis)
    return replace(_rebuilt(delivery, body, properties), headers=headers)


def _properties(delivery: Delivery) -> Any:
    return cast(header.ContentHeader, frame.unmarshal(delivery.frames[0])[2]).properties


def _rebuilt(delivery: Delivery, body: bytes, properties: Any) -> Delivery:
    """In frames no longer than the broker's were: the client may have agreed on short ones."""
    head = header.ContentHeader(body_size=len(body), properties=properties)
    longest = max(len(each) for each in delivery.frames[1:]) - _FRAME_OVERHEAD
    pieces = [body[begin : begin + longest] for begin in range(0, len(body), longest)]
    frames = (frame.marshal(head, 1), *(frame.marshal(ContentBody(piece), 1) for piece in pieces))
    return replace(delivery, body=body, frames=frames)
