"""A client that `matchfeed certify` runs: it reports its book and its results whenever they have changed.

    matchfeed certify --channel amqp --client "python -m matchfeed_client.reporting"

Copy what `Reporter` does into a client of your own; the rest is the client package as everybody uses it.
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from matchfeed_client import Book, Changes, Client, Rest, Results
from matchfeed_client.stream import Stream
from matchfeed_client.version import VERSION

log = logging.getLogger("matchfeed_client")
NAME = "matchfeed-client"
_PAUSE_SECONDS, _LEDGER_PAUSE_SECONDS = 0.1, 1.0


class Reporter:
    """Sends the book and the results, in the shapes that docs/certify.md describes."""

    def __init__(self, url: str, results: Results, saved: Path) -> None:
        self._url, self._results, self._saved = url, results, saved
        self._reported: dict[str, Any] = {}
        self.book = Book()

    async def run(self) -> None:
        async with httpx.AsyncClient(trust_env=False) as http:
            while True:
                report = self._report()
                if report != self._reported:
                    with suppress(httpx.HTTPError):
                        (await http.put(self._url, json=report)).raise_for_status()
                        self._reported = report
                        self.save()
                await asyncio.sleep(_PAUSE_SECONDS)

    def _report(self) -> dict[str, Any]:
        book = {"matches": []} if self.book.stale else self.book.digest()
        return {"name": NAME, "version": VERSION, **book, "results": list(self._results.rows())}

    def save(self) -> None:
        """Results of the last seconds come again with the recovery that follows a restart."""
        new = self._saved.with_suffix(".new")
        new.write_text(json.dumps(self._results.to_json()))
        new.replace(self._saved)


def load_results(saved: Path) -> Results:
    return Results.from_json(json.loads(saved.read_text())) if saved.exists() else Results()


async def follow_queue(environment: Mapping[str, str], reporter: Reporter, results: Results) -> None:
    """AMQP: the book and the results from messages."""
    async with Client(
        environment["CERTIFY_AMQP_URL"],
        environment["CERTIFY_BASE_URL"],
        environment["CERTIFY_API_KEY"],
        exchange=environment["CERTIFY_EXCHANGE"],
        saved=Path(environment["CERTIFY_STATE"]) / "book.json",
    ) as client:
        reporter.book = client.book
        async for update in client:
            results.receive(update.message)


async def follow_changes(
    environment: Mapping[str, str], reporter: Reporter, results: Results, *, events: bool
) -> None:
    """Changes over HTTP, by pages or by server-sent events."""
    async with Rest(environment["CERTIFY_BASE_URL"], environment["CERTIFY_API_KEY"]) as rest:
        changes = Changes(rest, events=events, saved=Path(environment["CERTIFY_STATE"]) / "changes.json")
        await _follow_frames(changes, rest, reporter, results)


async def _read_ledger(rest: Rest, results: Results) -> None:
    """From the last entry on that the results have, until there are no more, however often it breaks off."""
    while True:
        try:
            async for entry in rest.settlements(results.last_id):
                results.fold_entry(entry)
            return
        except httpx.HTTPError as error:
            log.warning("the ledger cannot be read now (%r), trying again", error)
            await asyncio.sleep(_LEDGER_PAUSE_SECONDS)


async def follow_stream(environment: Mapping[str, str], reporter: Reporter, results: Results) -> None:
    """WebSocket: the book and the results from frames."""
    base_url, api_key = environment["CERTIFY_BASE_URL"], environment["CERTIFY_API_KEY"]
    stream = Stream(base_url, api_key, saved=Path(environment["CERTIFY_STATE"]) / "changes.json")
    async with Rest(base_url, api_key) as rest:
        await _follow_frames(stream, rest, reporter, results)


async def _follow_frames(frames: Changes | Stream, rest: Rest, reporter: Reporter, results: Results) -> None:
    """A snapshot has no results: those that were missed are in the ledger. So are those that the process
    before had received, but not stored yet when it ended."""
    reporter.book = frames.book
    missed = True
    async for frame in frames:
        results.fold(frame)
        if frame["type"] == "alive" and (missed or frame["meta"].get("snapshot")):
            await _read_ledger(rest, results)
            missed = False


async def main() -> None:
    environment = os.environ
    saved = Path(environment["CERTIFY_STATE"]) / "results.json"
    results = load_results(saved)
    reporter = Reporter(environment["CERTIFY_REPORT_URL"], results, saved)
    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "amqp": lambda: follow_queue(environment, reporter, results),
        "http": lambda: follow_changes(environment, reporter, results, events=False),
        "events": lambda: follow_changes(environment, reporter, results, events=True),
        "websocket": lambda: follow_stream(environment, reporter, results),
    }

    async def both() -> None:
        reporting = asyncio.create_task(reporter.run())
        try:
            await ways[environment["CERTIFY_CHANNEL"]]()
        finally:
            reporting.cancel()
            reporter.save()

    task = asyncio.create_task(both())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


if __name__ == "__main__":
    asyncio.run(main())
