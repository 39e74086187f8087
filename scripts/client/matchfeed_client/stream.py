"""The WebSocket stream: the frames of `Changes`, sent as they happen. It needs the package `websockets`
(`matchfeed-client[stream]`)."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import websockets
from websockets.exceptions import InvalidStatus, WebSocketException

from matchfeed_client.book import Book
from matchfeed_client.rest import ClientError
from matchfeed_client.stored import ChangesFile

log = logging.getLogger("matchfeed_client")
Frame = dict[str, Any]  #: as `docs/stream.md` of the service describes it: `type`, `data`, `meta`
#: `alive` comes every ten seconds: two are missing.
_SILENCE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS, _LAST_PAUSE_SECONDS = 1.0, 30.0
#: A match with all its rounds and events is one frame.
_MOST_BYTES = 64 * 1024 * 1024
_REFUSED = {400, 401, 403, 404, 422}


class Stream:
    """Iterate over it, one iteration at a time: it yields each frame once `book` has it, without end.

    `since` is the number up to which everything was yielded, 0 before the first snapshot; `match` is for the
    stream of one match only, `saved` a file that keeps book and `since` as that of `Changes` does. The book
    is `stale` until everything missed has come, and again from the loss of the connection. Iterating raises
    `ClientError` for a key or a match that is refused.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        book: Book | None = None,
        since: int = 0,
        match: str | None = None,
        saved: str | Path | None = None,
    ) -> None:
        self._file = ChangesFile(saved, match)
        self.book, resumed = self._file.resumed(book, since)
        self.since = resumed or 0
        path = f"/cs2/v1/stream/{match}" if match else "/cs2/v1/stream"
        self._address, self._api_key = base_url.rstrip("/").replace("http", "ws", 1) + path, api_key

    async def __aiter__(self) -> AsyncIterator[Frame]:
        pause = _FIRST_PAUSE_SECONDS
        try:
            while True:
                self.book.stale = True
                self.book.begin_snapshot()
                seconds = pause
                try:
                    async for frame in self._frames():
                        yield frame
                        pause = seconds = _FIRST_PAUSE_SECONDS
                except InvalidStatus as error:
                    if error.response.status_code in _REFUSED:
                        raise ClientError(f"The stream is refused: {_detail(error)}") from error
                    seconds = float(error.response.headers.get("Retry-After", pause))
                    log.warning("the stream is refused with status %s", error.response.status_code)
                except (OSError, TimeoutError, WebSocketException) as error:
                    log.warning("the stream ended (%r), connecting again in %s s", error, seconds)
                self.book.stale = True
                await asyncio.sleep(seconds)
                pause = min(2 * pause, _LAST_PAUSE_SECONDS)
        finally:
            self._file.save(self.book, self.since, at_once=True)

    async def _frames(self) -> AsyncIterator[Frame]:
        """The frames of one connection, applied to the book. What came before the first `alive` may be a part
        of a snapshot: `since` stays where it was."""
        query = {"api_key": self._api_key} | ({"since": self.since} if self.since else {})
        seen = self.since
        async with websockets.connect(
            f"{self._address}?{urlencode(query)}", proxy=None, close_timeout=1, max_size=_MOST_BYTES
        ) as socket:
            while True:
                frame = json.loads(await asyncio.wait_for(socket.recv(), _SILENCE_SECONDS))
                self.book.fold(frame)
                seen = max(seen, frame["meta"].get("seq", 0))
                if frame["type"] == "alive":
                    self.book.stale = False
                yield frame
                if not self.book.stale:
                    self.since = seen
                    self._file.save(self.book, seen)


def _detail(error: InvalidStatus) -> str:
    """What the service says of a refusal."""
    try:
        return str(json.loads(error.response.body or b"")["detail"])
    except (ValueError, KeyError, TypeError):  # of a proxy between us and the service
        return f"status {error.response.status_code}"
