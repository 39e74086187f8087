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

import httpx
import msgspec
from aio_pika.abc import AbstractIncomingMessage

from scripts.demonstration import report as reports
from scripts.demonstration.paths import BOOKMAKER, DESCRIPTION
from scripts.demonstration.report import Check, Look, Recovery, Report, look, now, verdict
from scripts.demonstration.watched_book import WatchedBook
from scripts.lab.feed_client import FeedClient
from scripts.lab.operators import Account
from scripts.local_services.output import print_line

_CHECK_SECONDS, _SOON_SECONDS, _AGAIN_SECONDS = 3.0, 0.5, 1.0
_WRITE_SECONDS = 0.5
_DIFFERS_MILLIS = 10_000


class Bookmaker(FeedClient):
    """Runs without end: consumes, recovers, checks, reports."""

    def __init__(self, description: dict[str, Any]) -> None:
        board = description["board"]
        account = Account(board["slug"], board["amqp_url"], board["api_key"], description["exchange"])
        self.watched = WatchedBook(Report(account.slug))
        self._answered = True
        super().__init__(
            account,
            description["base_url"],
            recording=False,
            seconds=10,
            notify=print_line,
            book=self.watched,
        )

    @property
    def report(self) -> Report:
        return self.watched.report

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for loop in (self._check, self._follow, self._write):
                group.create_task(loop())
            await self._task

    def _on_connected(self) -> None:
        self.report.state = "following"
        self.watched.add_line("connection", "connected to the queue")

    def _on_lost(self, error: BaseException) -> None:
        silent = isinstance(error, TimeoutError)
        if self.report.state in ("following", "recovering"):
            lost = str(error) if silent else f"the connection to the queue is lost: {error!r}"
            self.watched.add_line("silent" if silent else "connection", lost)
            super()._on_lost(error)
        self.report.state = "silent" if silent else "away"

    def _apply(self, message: AbstractIncomingMessage, number: int, previous: int) -> None:
        self.watched.receive_message(message)

    async def _post_recovery(self, after: int, number: str) -> httpx.Response | None:
        response = await super()._post_recovery(after, number)
        if response is None:
            if self._answered:
                self.watched.add_line("recovery", "a recovery was requested, and there is no response")
            self._answered = False
            return None
        self._answered, status = True, response.status_code
        since = (
            f"since {time.strftime('%H:%M:%S', time.localtime(after / 1000))}" if after else "of everything"
        )
        self.watched.add_line("recovery", f"recovery {number} {since}: {status}")
        state = "scheduled" if status == 202 else f"refused ({status})"
        self.report.recovery = Recovery(number, state, now())
        return response

    async def _follow(self) -> None:
        """Follow the present recovery."""
        while True:
            await asyncio.sleep(0.3)
            present = self.report.recovery
            if present is None or present.finished_at or present.state.startswith("refused"):
                continue
            with suppress(httpx.HTTPError):
                answer = await self.request("GET", f"/cs2/v1/recovery/{present.request_id}")
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
            answer = await self.request("POST", "/cs2/v1/selfcheck", json=digest)
        except httpx.HTTPError:
            return None
        if answer.status_code != 200 or not self._quiet():
            return None
        return look(answer.json()["data"], seqs, now())

    def _report_check(self, found: Check) -> None:
        if found.count:
            kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found.kinds.items())
            self.watched.add_line("differs", f"book differs from REST: {kinds}")
        else:
            where = f"{found.markets} markets of {found.matches} matches"
            self.watched.add_line("equal", f"book equals REST: 0 differences ({where})")

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
