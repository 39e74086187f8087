"""Posting a log as a game server does: about one body a second, each naming the byte range it covers.

Unlike a real server it asks again when the answer is not 200, with the same range, so that an outage of
the service costs nothing. Bodies of one log go one after another; many senders may share a client.
"""

import asyncio
import gzip
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from app.sandbox.simulator.oddities import Line
from app.sandbox.simulator.pace import Pace

_STAMP = re.compile(r"(?:L )?(\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d)(?:\.(\d{3}))?")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 3.0


class SinkRefused(Exception):
    """The sink will not take this log, however often it is asked."""


@dataclass(frozen=True)
class Timing:
    """The clock (seconds) and how to wait on it; tests turn both by hand."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


@dataclass(frozen=True)
class Manner:
    """`every`: seconds of lines in one body; `size`: its most bytes; `patience`: seconds of retries."""

    every: float = 1.0
    size: int = 256 * 1024
    patience: float = 600.0


class Sender:
    """One server's log: its run's instance token, how many bytes of the run are sent, when the log began.

    Lines of another run go under a token of their own, their offsets counted anew.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        instance: str,
        *,
        manner: Manner | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.client, self.url, self.server, self.run = client, url, instance, 0
        self.manner, self.timing = manner or Manner(), timing or Timing()
        self.offset = 0
        self.lines = 0
        self._started: float | None = None

    @property
    def instance(self) -> str:
        return f"{self.server}-{self.run}" if self.run else self.server

    async def send(self, lines: Iterable[Line], pace: Pace, told: Callable[[], None] | None = None) -> None:
        """Send the lines, each when it is due; a second call goes on where the first ended.

        `told` is called after each body. Raises `SinkRefused`.
        """
        if self._started is None:
            self._started = self.timing.clock()
        source = iter(lines)
        held = next(source, None)
        while held is not None:
            await self._until(self._started + pace.seconds(held.at) + self.manner.every)
            batch, held = self._due(held, source, pace, self._started)
            if batch[0].run != self.run:
                self.run, self.offset = batch[0].run, 0
            await self._post("".join(f"{line.text}\n" for line in batch), batch[-1].text)
            self.lines += len(batch)
            if told:
                told()

    def _due(
        self, first: Line, source: Iterator[Line], pace: Pace, started: float
    ) -> tuple[list[Line], Line | None]:
        """The lines whose time has come, at most one body of them, and the one after."""
        now, batch, size = self.timing.clock(), [first], len(first.text)
        for line in source:
            size += len(line.text) + 1
            due = started + pace.seconds(line.at) <= now
            if not due or size > self.manner.size or line.run != first.run:
                return batch, line
            batch.append(line)
        return batch, None

    async def _until(self, moment: float) -> None:
        wait = moment - self.timing.clock()
        if wait > 0:
            await self.timing.sleep(wait)

    async def _post(self, text: str, last: str) -> None:
        body = text.encode("utf-8", "surrogateescape")
        end = self.offset + len(body)
        headers = {
            "Content-Type": "text/plain",
            "User-Agent": "Valve/Steam HTTP Client 1.0 (730)",
            "X-Server-Instance-Token": self.instance,
            "X-Server-Unique-Token": self.server,
            "X-Logbytes-Beginoffset": str(self.offset),
            "X-Logbytes-Endoffset": str(end),
            "X-Timestamp": _timestamp(last),
        }
        patient_until, wait = self.timing.clock() + self.manner.patience, _FIRST_WAIT
        while problem := await self._try(body, headers):
            if self.timing.clock() > patient_until:
                raise SinkRefused(f"the log sink did not take the log in time: {problem}")
            await self.timing.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
        self.offset = end

    async def _try(self, body: bytes, headers: dict[str, str]) -> str:
        """Post once; what went wrong, or "" when the body is safe."""
        try:
            answer = await self.client.post(self.url, content=body, headers=headers)
        except httpx.TransportError as error:
            return f"{type(error).__name__}: {error}"
        if answer.status_code == 200:
            return ""
        problem = f"{answer.status_code} {answer.text[:200]}"
        if answer.status_code < 500 and answer.status_code not in (408, 409, 425, 429):
            raise SinkRefused(f"the log sink answers {problem}")
        return problem


def sink_address(base_url: str, log_sink_url: str) -> str:
    """The sink's path and token under the address that we reach the service at ourselves."""
    parts = urlsplit(log_sink_url)
    return f"{base_url.rstrip('/')}{parts.path}{'?' + parts.query if parts.query else ''}"


def read_log(path: Path) -> Iterator[Line]:
    """The lines of a log file (plain or gzip), timed by their own stamps from the first one on.

    A line without a stamp, or one that goes back in time, counts as simultaneous with the line before.
    Raises `OSError` when the file cannot be read.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        first, at = None, 0.0
        for raw in file:
            moment = _moment(raw)
            if moment is not None:
                first = moment if first is None else first
                at = max(at, moment - first)
            yield Line(at, raw.rstrip("\r\n"))


def _moment(line: str) -> float | None:
    found = _STAMP.match(line)
    if found is None:
        return None
    when = datetime.strptime(found[1], "%m/%d/%Y - %H:%M:%S").replace(tzinfo=UTC)
    return when.timestamp() + int(found[2] or 0) / 1000


def _timestamp(line: str) -> str:
    found = _STAMP.match(line)
    return f"{found[1]}.{found[2] or '000'}" if found else ""
