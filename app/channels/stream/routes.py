"""Both addresses of the stream. Any key of the sport may connect: what it hears is up to its scopes."""

from typing import Any

from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.stream.streams import Streams

_OPT: dict[str, Any] = {"sport": "cs2"}
Socket = WebSocket[Any, Any, Any]


@websocket("/cs2/v1/stream", opt=_OPT)
async def every_match(socket: Socket, streams: NamedDependency[Streams]) -> None:
    """All matches."""
    await streams.serve(socket.scope, socket.receive, socket.send, None)


@websocket("/cs2/v1/stream/{match_id:str}", opt=_OPT)
async def one_match(socket: Socket, streams: NamedDependency[Streams], match_id: FromPath[str]) -> None:
    """One match, named by its UUID or as ``od:match:<n>``."""
    await streams.serve(socket.scope, socket.receive, socket.send, match_id)


ROUTES = (every_match, one_match)
