"""The log sink, to which game servers send their logs; on the public listener.

Each request becomes a message with an id, by which a redelivery of the broker is recognised. A sender that
repeats a request (after a 503 the batch may be queued all the same, or the address is registered twice) is
recognised by its offsets; without them the id follows from the lines, and lines that come twice in a row are
one batch.
"""

from hashlib import blake2b
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
from litestar import MediaType, Request, Response, post
from litestar.datastructures import Headers
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from app.access import log_tokens
from app.http.auth import client_address
from app.http.request_data import refuse_encoded
from app.ingest.batches import Batch, stated_range
from app.ingest.queues import IngestQueues
from app.kit.clock import Clock
from app.kit.errors import Field, Invalid

_LOG: dict[str, Any] = {"open": True, "query": ("token",), "takes": "text/plain"}
_INSTANCE, _UNIQUE = "x-server-instance-token", "x-server-unique-token"
_ADDRESS, _MAP = "x-server-addr", "x-game-map"
_BEGIN, _END = "x-logbytes-beginoffset", "x-logbytes-endoffset"


class LogSink(msgspec.Struct, frozen=True):
    """The dependencies of the log sink. `secret` signs log tokens."""

    queues: IngestQueues
    clock: Clock
    secret: str


@post(
    "/ops/v1/matches/{match_id:uuid}/log",
    opt=_LOG,
    status_code=200,
    media_type=MediaType.TEXT,
    response_class=Response,
)
async def log_sink(
    request: Request[Any, Any, Any],
    sink: NamedDependency[LogSink],
    match_id: Annotated[UUID, PathParameter(description="The match, by its UUID.")],
    token: Annotated[str, QueryParameter(description="The token from the match's log sink address.")],
) -> str:
    """Receive lines of a game server's log; answered once they are stored in a durable queue."""
    number = log_tokens.check(sink.secret, match_id, token)
    _refuse_unreadable(request.headers)
    body = await request.body()
    offsets = _offset(request.headers.get(_BEGIN)), _offset(request.headers.get(_END))
    begin, end = stated_range(*offsets, len(body))
    batch = Batch(
        id=_batch_id(match_id, body) if begin is None else uuid4().hex,
        match_id=match_id,
        number=number,
        arrived_at=sink.clock(),
        body=body,
        instance=request.headers.get(_INSTANCE, ""),
        address=request.headers.get(_ADDRESS, ""),
        unique=request.headers.get(_UNIQUE, ""),
        peer=client_address(request.scope),
        map=request.headers.get(_MAP, ""),
        begin=begin,
        end=end,
    )
    await sink.queues.publish(batch)
    return "OK"


def _batch_id(match_id: UUID, body: bytes) -> str:
    """One id for lines that come twice. A single line may be written twice in a second."""
    if b"\n" not in body.strip():
        return uuid4().hex
    return blake2b(match_id.bytes + body, digest_size=16).hexdigest()


def _refuse_unreadable(headers: Headers) -> None:
    """Raise `Invalid` for lines that cannot be read: encoded ones, and those of no stated length, as some
    HTTP/1.0 clients send them, which end with the connection."""
    refuse_encoded("log", headers)
    if "content-length" not in headers and "transfer-encoding" not in headers:
        what = "Send the number of bytes in Content-Length, or the lines in chunks."
        raise Invalid(Field(("header", "content-length"), what, "content_length"))


def _offset(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


ROUTES = (log_sink,)
