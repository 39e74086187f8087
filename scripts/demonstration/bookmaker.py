"""The demonstration's own customer: the reference client's book, with a report.

.venv/bin/python -m scripts.demonstration.bookmaker     (the demo starts it)

It keeps a book as `scripts/consumer.py` does and never looks at the database. Messages, their latency,
recoveries and whether its book equals what the service has on offer are reported to a file that the boards
show.
"""

import asyncio
import signal
import time
from contextlib import suppress
from typing import Any

import aio_pika
import httpx
import msgspec
from aio_pika.abc import AbstractIncomingMessage

from scripts.consumer import recover
from scripts.demonstration import report as reports
from scripts.demonstration.comparison import Look, look, verdict
from scripts.demonstration.paths import BOOKMAKER, DESCRIPTION
from scripts.demonstration.report import Check, Recovery, Report, now
from scripts.demonstration.watched_book import WatchedBook
from scripts.http_client import client

_SILENT_SECONDS = 20.0
_CHECK_SECONDS, _SOON_SECONDS, _AGAIN_SECONDS = 3.0, 0.5, 1.0
_WRITE_SECONDS = 0.5
_DIFFERS_MILLIS = 10_000
_CONNECT_SECONDS = 2.0
_BUSY_SECONDS = 3.0


class Bookmaker:
    """Runs without end: consumes, recovers, checks, reports."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.exchange: str = description["exchange"]
        board = description["board"]
        self.url: str = board["amqp_url"]
        self._answered = True
        self.book = WatchedBook(Report(board["slug"]))
        self.rest = client(description["base_url"], board["api_key"], 10)

    @property
    def report(self) -> Report:
        return self.book.report

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for loop in (self._listen, self._check, self._follow, self._write):
                group.create_task(loop())

    async def _listen(self) -> None:
        while True:
            try:
                await self._consume()
            except* (aio_pika.exceptions.AMQPError, OSError, TimeoutError) as lost:
                if self.report.state in ("following", "recovering") and not isinstance(
                    _first(lost), TimeoutError
                ):
                    self.book.add_line("connection", f"the connection to the queue is lost: {_first(lost)!r}")
                    self.book.suspend()
                self.report.state = "silent" if isinstance(_first(lost), TimeoutError) else "away"
            await asyncio.sleep(_CONNECT_SECONDS)

    async def _consume(self) -> None:
        """Until the connection ends, or is silent for too long; then it raises."""
        async with await aio_pika.connect(self.url, timeout=10) as connection, asyncio.TaskGroup() as group:
            queue = await (await connection.channel()).declare_queue(exclusive=True)
            await queue.bind(self.exchange, "#")
            self.report.state = "following"
            self.book.add_line("connection", "connected to the queue")
            self.book.suspend()
            group.create_task(recover(self.book, self._request_recovery))
            incoming: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
            connection.close_callbacks.add(lambda *_: incoming.put_nowait(None))
            await queue.consume(incoming.put, no_ack=True)
            while message := await self._next(incoming):
                self.book.receive_message(message)
            raise ConnectionError("it was closed")

    async def _next(
        self, incoming: asyncio.Queue[AbstractIncomingMessage | None]
    ) -> AbstractIncomingMessage | None:
        """The next message, None once the connection has ended. Raises `TimeoutError` after the silence in
        which not even `alive` came: then no price is valid, and the client connects again."""
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                return await incoming.get()
        except TimeoutError:
            self.book.add_line("silent", f"nothing received for {_SILENT_SECONDS:.0f} s, not even alive")
            self.book.suspend()
            raise

    async def _request_recovery(self, after: int, request_id: str) -> tuple[int, float]:
        """Request a recovery; status, and seconds to wait before the next request."""
        try:
            answer = await self.rest.post(
                "/cs2/v1/recovery/initiate_request", params={"after": after, "request_id": request_id}
            )
        except httpx.HTTPError:
            if self._answered:
                self.book.add_line("recovery", "a recovery was requested, and there is no response")
            self._answered = False
            return 503, 1.0
        self._answered, status = True, answer.status_code
        since = (
            f"since {time.strftime('%H:%M:%S', time.localtime(after / 1000))}" if after else "of everything"
        )
        self.book.add_line("recovery", f"recovery {request_id} {since}: {status}")
        state = "scheduled" if status == 202 else f"refused ({status})"
        self.report.recovery = Recovery(request_id, state, now())
        # The Retry-After of a 409 is the other recovery's limit, minutes; it is mostly over in seconds.
        return status, _BUSY_SECONDS if status == 409 else float(answer.headers.get("Retry-After") or 1)

    async def _follow(self) -> None:
        """Follow the present recovery."""
        while True:
            await asyncio.sleep(0.3)
            present = self.report.recovery
            if present is None or present.finished_at or present.state.startswith("refused"):
                continue
            with suppress(httpx.HTTPError):
                answer = await self.rest.get(f"/cs2/v1/recovery/{present.request_id}")
                if answer.status_code == 200 and self.report.recovery is present:
                    self.report.recovery = _progress(present, answer.json()["data"])

    async def _check(self) -> None:
        """Compare the book with the service's; report when it is equal again, and sometimes what differs."""
        before: Check | None = None
        while True:
            found = await self._compared()
            if found is not None:
                if before is None or _is_new(before, found):
                    self._report_check(found)
                self.report.check = before = found
            elif not self._quiet():
                before = None
            await asyncio.sleep(_CHECK_SECONDS if found and not found.count else _SOON_SECONDS)

    def _quiet(self) -> bool:
        return self.report.state == "following" and not self.book.request

    async def _compared(self) -> Check | None:
        """The result of the self-check; if it finds differences, those that remain a second later. None
        during a recovery, without a response, or while differences are explained by messages on their way."""
        first = await self._look()
        if first is None or not first.found:
            return verdict(first, first) if first else None
        await asyncio.sleep(_AGAIN_SECONDS)
        second = await self._look()
        return verdict(first, second) if second else None

    async def _look(self) -> Look | None:
        if not self._quiet():
            return None
        seqs, digest = dict(self.book.seqs), self.book.digest()
        try:
            answer = await self.rest.post("/cs2/v1/selfcheck", json=digest)
        except httpx.HTTPError:
            return None
        if answer.status_code != 200 or not self._quiet():
            return None
        return look(answer.json()["data"], seqs, now())

    def _report_check(self, found: Check) -> None:
        if found.count:
            kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found.kinds.items())
            self.book.add_line("differs", f"book differs from REST: {kinds}")
        else:
            where = f"{found.markets} markets of {found.matches} matches"
            self.book.add_line("equal", f"book equals REST: 0 differences ({where})")

    async def _write(self) -> None:
        while True:
            self.report.at = now()
            if self.report.state in ("following", "recovering"):
                self.report.state = "recovering" if self.book.request else "following"
            reports.write(BOOKMAKER, self.report)
            await asyncio.sleep(_WRITE_SECONDS)


def _is_new(before: Check, found: Check) -> bool:
    """Whether a check's result was not reported lately."""
    return bool(before.count) != bool(found.count) or (
        found.count > 0 and found.at - before.at > _DIFFERS_MILLIS
    )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    failure: BaseException = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


def _progress(present: Recovery, data: dict[str, Any]) -> Recovery:
    return msgspec.structs.replace(
        present,
        state=data["state"],
        steps=data["progress"]["steps"],
        steps_done=data["progress"]["steps_done"],
        envelopes=data["progress"]["envelopes"],
        finished_at=data.get("finished_at"),
    )


async def main() -> None:
    bookmaker = Bookmaker(msgspec.json.decode(DESCRIPTION.read_bytes()))
    task = asyncio.create_task(bookmaker.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


if __name__ == "__main__":
    asyncio.run(main())
