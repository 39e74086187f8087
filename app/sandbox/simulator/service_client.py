"""Clients of the service: one sends a log to the sink as a game server does, the other calls the operator
API.

A log goes in about one body a second, each with the byte range that it has. Unlike a real server the sender
retries when the response is not 200, with the same range, so that an outage of the service loses nothing.
Bodies of one log are sent one after another; many senders may share a client.
"""

import asyncio
import gzip
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.sandbox.simulator.anomalies import LogLine
from app.sandbox.simulator.match_simulation import MatchPlan, Pace

_TIMESTAMP = re.compile(r"(?:L )?(\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d)(?:\.(\d{3}))?")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 1.0
#: First often, for a service that is started at the same time, then for a minute.
_WAITS = (*(0.2,) * 20, 1, 2, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5)


class SinkRefused(Exception):
    """The sink refuses this log, and a retry would not help or has lasted too long."""


@dataclass(frozen=True)
class Timing:
    """The clock (seconds) and how to wait on it; tests replace both."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


@dataclass(frozen=True)
class SendConfig:
    """`batch_seconds`: seconds of lines in one body; `batch_bytes`: its most bytes; `retry_seconds`: how long
    a body is retried."""

    batch_seconds: float = 1.0
    batch_bytes: int = 256 * 1024
    retry_seconds: float = 600.0


class LogSender:
    """Sends one server's log: `instance` is the token of its run, `offset` the bytes of the run that are
    sent. `first_run` is the token of the first one; without it, that of the server. `due` is when the body
    that was sent last was to be sent, by the clock.

    Lines of another run have a token of their own, and their offsets start at 0.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        server: str,
        *,
        first_run: str = "",
        config: SendConfig | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.client, self.url, self.server, self.run = client, url, server, 0
        self._first_run = first_run or server
        self.config, self.timing = config or SendConfig(), timing or Timing()
        self.offset = 0
        self.lines = 0
        self.due = 0.0
        self._started: float | None = None

    @property
    def instance(self) -> str:
        return f"{self._first_run}-{self.run}" if self.run else self._first_run

    async def send(
        self, lines: Iterable[LogLine], pace: Pace, on_body: Callable[[], None] | None = None
    ) -> None:
        """Send the lines, each when it is due; a second call continues where the first ended.

        `on_body` is called after each body. Raises `SinkRefused`.
        """
        if self._started is None:
            self._started = self.timing.clock()
        source = iter(lines)
        pending = next(source, None)
        while pending is not None:
            self.due = self._started + pace.seconds(pending.at) + self.config.batch_seconds
            await self._until(self.due)
            batch, pending = self._due(pending, source, pace, self._started)
            if batch[0].run != self.run:
                self.run, self.offset = batch[0].run, 0
            await self._send_body("".join(f"{line.text}\n" for line in batch), batch[-1].text)
            self.lines += len(batch)
            if on_body:
                on_body()

    def _due(
        self, first: LogLine, source: Iterator[LogLine], pace: Pace, started: float
    ) -> tuple[list[LogLine], LogLine | None]:
        """The lines that are due, at most one body of them, and the one after."""
        now, batch, size = self.timing.clock(), [first], len(first.text)
        for line in source:
            size += len(line.text) + 1
            due = started + pace.seconds(line.at) <= now
            if not due or size > self.config.batch_bytes or line.run != first.run:
                return batch, line
            batch.append(line)
        return batch, None

    async def _until(self, moment: float) -> None:
        wait = moment - self.timing.clock()
        if wait > 0:
            await self.timing.sleep(wait)

    async def _send_body(self, text: str, last: str) -> None:
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
        deadline, wait = self.timing.clock() + self.config.retry_seconds, _FIRST_WAIT
        while problem := await self._try(body, headers):
            if self.timing.clock() > deadline:
                raise SinkRefused(f"the log sink did not accept the log in time: {problem}")
            await self.timing.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
        self.offset = end

    async def _try(self, body: bytes, headers: dict[str, str]) -> str:
        """Send once; what went wrong, or "" when the sink has accepted the body."""
        try:
            response = await self.client.post(self.url, content=body, headers=headers)
        except httpx.TransportError as error:
            return f"{type(error).__name__}: {error}"
        if response.status_code == 200:
            return ""
        problem = f"{response.status_code} {response.text[:200]}"
        if response.status_code < 500 and response.status_code not in (408, 409, 425, 429):
            raise SinkRefused(f"the log sink answers {problem}")
        return problem


def sink_address(base_url: str, log_sink_url: str) -> str:
    """The sink's path and token at `base_url`, which may differ from the public address."""
    parts = urlsplit(log_sink_url)
    return f"{base_url.rstrip('/')}{parts.path}{'?' + parts.query if parts.query else ''}"


def read_log(path: Path) -> Iterator[LogLine]:
    """The lines of a log file (plain or gzip), timed by their own timestamps from the first one on.

    A line without a timestamp, or one that goes back in time, counts as simultaneous with the line before.
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
            yield LogLine(at, raw.rstrip("\r\n"))


def _moment(line: str) -> float | None:
    found = _TIMESTAMP.match(line)
    if found is None:
        return None
    when = datetime.strptime(found[1], "%m/%d/%Y - %H:%M:%S").replace(tzinfo=UTC)
    return when.timestamp() + int(found[2] or 0) / 1000


def _timestamp(line: str) -> str:
    found = _TIMESTAMP.match(line)
    return f"{found[1]}.{found[2] or '000'}" if found else ""


class OperatorRequestFailed(Exception):
    """The service refuses the request, or was unreachable for too long."""


@dataclass(frozen=True)
class CreatedMatch:
    """A match as the service returns it: its UUID, its number, and where its log goes."""

    id: str
    number: int
    log_sink_url: str


class OperatorClient:
    """Calls with an operator's key, which `headers` has; a call that fails because the service is unreachable
    is retried.

    `operator_url` is where `/ops/v1` is served, unless that is `base_url`, the public address."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        base_url: str,
        key: str,
        *,
        operator_url: str = "",
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.client, self.base_url, self.sleep = client, base_url.rstrip("/"), sleep
        self._operator_url = operator_url.rstrip("/") or self.base_url
        self.headers = {"X-Api-Key": key}

    async def create(self, plan: MatchPlan, event: str, *, scheduled_at: int, reference: str) -> CreatedMatch:
        """Create the plan's match (`scheduled_at`: Unix ms); `reference` is its idempotency key."""
        body = {
            "team_a": plan.home.name,
            "team_b": plan.away.name,
            "event": event,
            "bo_type": f"bo{plan.best_of}",
            "scheduled_at": scheduled_at,
            "home_strength": plan.home.points,
            "away_strength": plan.away.points,
            "request_id": reference,
        }
        data = await self.call("POST", "/ops/v1/matches", body)
        return CreatedMatch(data["id"], data["number"], data["log_sink_url"])

    async def cancel(self, match_id: str) -> None:
        await self.call("POST", f"/ops/v1/matches/{match_id}/cancel", {})

    async def set_booked(self, slug: str, match_id: str, booked: bool) -> None:
        await self.call("PUT", f"/ops/v1/tenants/{slug}/bookings/{match_id}", {"booked": booked})

    async def import_references(self, prices: list[dict[str, Any]]) -> None:
        """Import other bookmakers' prices of matches."""
        await self.call("POST", "/ops/v1/references", prices)

    async def trim(self, keep_finished: int) -> None:
        """Have the service remove all but the newest finished matches."""
        await self.call("POST", "/ops/v1/trim", {"keep_finished": keep_finished})

    async def unfinished(self) -> list[dict[str, Any]]:
        """Matches that are upcoming or live, as the public list shows them."""
        found: list[dict[str, Any]] = []
        for status in ("live", "upcoming"):
            found.extend(await self.call("GET", f"/cs2/v1/matches?status={status}&limit=100", None))
        return found

    async def call(self, method: str, path: str, body: Any) -> Any:
        """The data of an answer. Raises `OperatorRequestFailed`."""
        problem = ""
        url = (self._operator_url if path.startswith("/ops/") else self.base_url) + path
        for wait in _WAITS:
            try:
                response = await self.client.request(method, url, json=body, headers=self.headers)
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.status_code < 300:
                    return response.json().get("data") if response.content else None
                problem = f"{response.status_code} {response.text[:300]}"
                if response.status_code < 500 and response.status_code != 429:
                    break
            await self.sleep(wait)
        raise OperatorRequestFailed(f"{method} {path}: {problem}")
