"""Both addresses of the stream. Any key of the sport may connect; its scopes decide what it receives."""

from typing import Any

from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.stream.server import StreamServer

_OPT: dict[str, Any] = {"sport": "cs2"}
Socket = WebSocket[Any, Any, Any]


@websocket("/cs2/v1/stream", opt=_OPT)
async def every_match(socket: Socket, stream_server: NamedDependency[StreamServer]) -> None:
    """All matches."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, None)


@websocket("/cs2/v1/stream/{match_id:str}", opt=_OPT)
async def one_match(
    socket: Socket, stream_server: NamedDependency[StreamServer], match_id: FromPath[str]
) -> None:
    """One match, by its UUID or as ``od:match:<n>``."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, match_id)


ROUTES = (every_match, one_match)
