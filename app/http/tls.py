"""TLS for one listener of the web process: uvicorn has it for all of a server's listeners, or for none."""

import asyncio
import socket
import ssl
from functools import partial
from typing import Any, cast

import uvicorn

from app.http.listening import Listening


class TlsListener:
    """A socket on which clients speak TLS, and what they see. A handshake must be over within
    `handshake_seconds`."""

    def __init__(self, listener: socket.socket, context: ssl.SSLContext, handshake_seconds: float) -> None:
        self.listener, self.context, self.handshake_seconds = listener, context, handshake_seconds


class Server(uvicorn.Server):
    """A server with a TLS listener beside the plain ones that `run` is given. It sets in `listening` while it
    accepts connections."""

    def __init__(self, config: uvicorn.Config, tls: TlsListener | None, listening: Listening) -> None:
        super().__init__(config)
        self._tls, self._listening = tls, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._tls:
            protocol = partial(
                cast(Any, self.config.http_protocol_class),
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            server = await asyncio.get_running_loop().create_server(
                protocol,
                sock=self._tls.listener,
                ssl=self._tls.context,
                ssl_handshake_timeout=self._tls.handshake_seconds,
                backlog=self.config.backlog,
            )
            self.servers.append(server)
        self._listening.accepting = self.started

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._listening.accepting = False
        await super().shutdown(sockets)


def server_context(certificate_file: str, private_key_file: str) -> ssl.SSLContext:
    """What a server needs to speak TLS 1.2 or later; raises `OSError` (`ssl.SSLError` is one) for files that
    do not fit."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate_file, private_key_file)
    return context
