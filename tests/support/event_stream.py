"""A stream of server-sent events as a browser with scripts receives it, from an application in this process.

The client of `support.web.serving` returns a response when it has ended, so it cannot read one that goes on.
"""

import asyncio
from typing import Any, Self
from urllib.parse import urlencode

import httpx

from app.sites.pages.event_streams import NOTHING_NEW


class EventStream:
    """`status` is known once it is open; `next` reads on, `leave` closes the connection."""

    def __init__(self, client: httpx.AsyncClient, path: str, **query: str) -> None:
        transport: Any = client._transport
        self._app, self._path = transport.app, path
        self._query = urlencode(query).encode()
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        self._headers = [(b"host", b"matchfeed.test"), (b"cookie", cookies.encode())]
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._left = asyncio.Event()
        self._text = ""
        self.status = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._app(self._scope(), self._receive, self._sent.put))
        self.status = (await self._sent.get())["status"]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def next(self) -> str:
        """The next event as it was sent, other than that nothing is new; empty when the stream has ended.
        Fails after a minute without one."""
        async with asyncio.timeout(60):
            while True:
                block, complete, rest = self._text.partition("\n\n")
                if complete:
                    self._text = rest
                    if block and f"{block}\n\n" != NOTHING_NEW.decode():
                        return block
                    continue
                message = await self._sent.get()
                self._text += message.get("body", b"").decode()
                if not message.get("more_body") and not self._text:
                    return ""

    async def until_ended(self) -> None:
        """Read on until the server says that the stream has ended."""
        while (found := await self.next()).startswith("data: "):
            pass
        assert found == "event: ended\ndata:"

    async def leave(self) -> None:
        """Close the connection, and wait until the application has noticed."""
        self._left.set()
        async with asyncio.timeout(60):
            await self._task

    async def _receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": self._query,
            "root_path": "",
            "headers": self._headers,
            "server": ("matchfeed.test", 80),
            "client": ("127.0.0.1", 4711),
        }
