"""Changes over HTTP, for clients without a queue: pages, which the service holds until there is something, or
server-sent events. Both continue where the last answer ended, however it was cut off.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from matchfeed_client.book import Book
from matchfeed_client.rest import Rest, Retry
from matchfeed_client.stored import ChangesFile

log = logging.getLogger("matchfeed_client")
Frame = dict[str, Any]  #: as `docs/stream.md` of the service describes it: `type`, `data`, `meta`
_FIRST_PAUSE_SECONDS, _LAST_PAUSE_SECONDS = 1.0, 30.0


class Changes:
    """Iterate over it, one iteration at a time: it yields each frame once `book` has it, without end.

    `since` is the number up to which everything was yielded, None before the first snapshot. Begin with one
    only if you have what was yielded up to it; with an empty book begin without. A frame may come again after
    an interruption; it then says the same or something newer. `events` requests server-sent events instead of
    pages, `match` the changes of one match only. `saved` is a file that keeps book and `since` from one run
    to the next, at most a second old; it never has what was not yielded. The book is `stale` from the
    beginning, and again from the loss of the connection, until everything missed has come.

    Iterating raises `ClientError` for a key or a match that is refused. `rest` must be open.
    """

    def __init__(
        self,
        rest: Rest,
        *,
        book: Book | None = None,
        since: int | None = None,
        events: bool = False,
        match: str | None = None,
        wait_seconds: int = 20,
        page_size: int = 1000,
        saved: str | Path | None = None,
    ) -> None:
        self._file = ChangesFile(saved, match)
        self.book, self.since = self._file.resumed(book, since)
        self._rest, self._by_events, self._match = rest, events, match
        self._wait_seconds, self._page_size = wait_seconds, page_size
        self._cursor: str | None = None
        self._more = False

    async def __aiter__(self) -> AsyncIterator[Frame]:
        pause = _FIRST_PAUSE_SECONDS
        self.book.stale = True  # also when the iteration before was left
        try:
            while True:
                try:
                    async for frame in self._events() if self._by_events else self._page():
                        self.book.fold(frame)
                        if frame["type"] == "alive" and not self._more:
                            self.book.stale = False
                        yield frame
                        pause = _FIRST_PAUSE_SECONDS
                except (httpx.RequestError, Retry) as error:
                    self.book.stale = True
                    seconds = getattr(error, "seconds", 0) or pause
                    log.warning("changes are interrupted, continuing in %s s (%r)", seconds, error)
                    await asyncio.sleep(seconds)
                    pause = min(2 * pause, _LAST_PAUSE_SECONDS)
        finally:
            self._file.save(self.book, self.since, at_once=True)

    async def _page(self) -> AsyncIterator[Frame]:
        """The frames of the next page."""
        if self._cursor is None:
            self.book.begin_snapshot()
        place = {"cursor": self._cursor} if self._cursor else {"since_seq": self.since}
        page = await self._rest.page_of_changes(
            {**place, "match": self._match, "limit": self._page_size, "wait": self._wait_seconds},
            self._wait_seconds,
        )
        meta = page["meta"]
        self._more = meta["more"]  # also behind the end of a snapshot: what changed while it was sent
        self.book.stale = self.book.stale or self._more
        for frame in page["data"]:
            yield frame
        self._cursor = meta.get("next_cursor")
        self._reached(meta.get("next_since_seq", self.since))

    async def _events(self) -> AsyncIterator[Frame]:
        """The frames of an event stream, until it ends; raises `Retry` then."""
        self.book.begin_snapshot()
        begun = {"since_seq": self.since, "match": self._match}
        number: int | None = None
        async with self._rest.stream_of_changes(begun) as lines:
            async for line in lines:
                field, _, value = line.partition(": ")
                if field == "id":
                    number = int(value)
                elif field == "data":
                    frame = json.loads(value)
                    if "type" not in frame:
                        raise Retry(f"the service closed the stream: {frame['reason']}")
                    yield frame
                    self._reached(self.since if number is None else number)
                elif not line:
                    number = None
        raise Retry("the stream ended")

    def _reached(self, since: int | None) -> None:
        """Everything up to this number was yielded."""
        self.since = since
        self._file.save(self.book, since)
