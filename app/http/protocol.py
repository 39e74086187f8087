"""The server's HTTP/1.1, with refusals in the form that all of ours have.

What cannot be read as a request reaches no application. It is answered here, and the connection closed.
"""

from secrets import token_hex
from typing import cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_BYTES = 65_536  #: a request's head may come in parts up to this size
_UNREADABLE = "This is no HTTP request that can be read: something in it is malformed or too large."
_BODY = msgspec.json.encode({"detail": _UNREADABLE})


class Protocol(HttpToolsProtocol):
    """One connection. For `uvicorn.Config(http=Protocol)`."""

    _pending = 0  #: bytes of a head that has not ended yet

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if "path" in cast(dict[str, object], self.scope):  # put there when the head has ended
            self._pending = 0
            return
        self._pending += len(data)
        if self._pending > _HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(_UNREADABLE)

    def send_400_response(self, msg: str) -> None:
        """The server calls this with words of its own, which are for its log."""
        head = [b"HTTP/1.1 400 Bad Request"]
        head += [name + b": " + value for name, value in self.server_state.default_headers]
        head += [
            b"content-type: application/json",
            b"content-length: %d" % len(_BODY),
            b"cache-control: no-store",
            b"x-request-id: " + token_hex(16).encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", _BODY]))
        self.transport.close()
