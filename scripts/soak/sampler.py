"""Measurements at a steady beat: memory, processors, delays, lag, response times, the database's size."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import asyncpg
import httpx
import msgspec
import psutil

from scripts.bench.histogram import quantile
from scripts.bench.processors import Processors
from scripts.lab.feed_client import FeedClient
from scripts.lab.local_faults import FaultRecord
from scripts.lab.service import Service

BEAT_SECONDS = 5.0
_STALL_SECONDS = 0.05
_LOOP_TURNS = 200_000  #: some 5 ms
TABLES = ("match", "timeline_event", "ledger_entry", "change")
#: As PostgreSQL counts them itself: to count a million rows at every beat would be a load of its own.
_ROWS = "SELECT relname, n_live_tup FROM pg_stat_user_tables WHERE relname = ANY($1)"
_PAGES = ("/cs2/v1/matches?status=live&limit=50", "/v1/sports/en/schedules/live/schedule")


class Sample(msgspec.Struct, frozen=True):
    """One beat. `at` in seconds since the day began; `memory` in MiB by process; `cores` that each process,
    the servers and this process (`clients`) kept busy over the beat, none where one of them began or ended;
    `p50` and `p99` in ms from log line to queue, and `envelopes` a second and tenant, over the beat; `behind`
    envelopes and seconds of the tenant that is furthest behind; `rest` the slowest of a few responses in ms;
    `database` in MiB; `rows` by table; `stall` the longest that this process itself was late in the beat, in
    ms, which delays and response times include; `loop` the ms of the processor that a fixed loop takes: how
    fast the machine is. None where nothing was to be measured, as where a fault kept the service from
    responding."""

    at: float
    memory: dict[str, float]
    cores: dict[str, float]
    envelopes: float
    p50: float | None
    p99: float | None
    behind: int | None
    behind_seconds: float | None
    rest: float | None
    database: float
    rows: dict[str, int]
    stall: float
    loop: float


class Sampler:
    """Samples at every beat; each goes to `file` at once, so that an interrupted day can be examined.
    `servers` are the URLs of PostgreSQL (`database`) and others by name."""

    def __init__(
        self,
        service: Service,
        everyone: Sequence[FeedClient],
        record: FaultRecord,
        servers: Mapping[str, str],
    ) -> None:
        self._service, self._everyone, self._record = service, everyone, record
        self._servers = servers
        self._processors = self._new_processors()
        self._beat = record.now()
        self._received = 0
        self._stall = 0.0
        self.samples: list[Sample] = []

    async def run(self, file: Path) -> None:
        """Without end."""
        file.parent.mkdir(parents=True, exist_ok=True)
        connection = await asyncpg.connect(self._servers["database"])
        try:
            with file.open("wb") as written:
                while True:
                    await asyncio.sleep(BEAT_SECONDS)
                    self.samples.append(await self._sample(connection))
                    written.write(msgspec.json.encode(self.samples[-1]) + b"\n")
                    written.flush()
        finally:
            await connection.close()

    async def watch_stalls(self) -> None:
        """Measure how late this process is, without end."""
        while True:
            due = time.perf_counter() + _STALL_SECONDS
            await asyncio.sleep(_STALL_SECONDS)
            self._stall = max(self._stall, (time.perf_counter() - due) * 1000)

    async def _sample(self, connection: asyncpg.Connection) -> Sample:
        delays = [delay for each in self._everyone for delay in each.delays]
        received, now = sum(each.received for each in self._everyone), self._record.now()
        rate = (received - self._received) / len(self._everyone) / (now - self._beat)
        for each in self._everyone:
            each.delays.clear()
        self._received, self._beat = received, now
        behind, rest = await self._responses(now)
        stall, self._stall = self._stall, 0.0
        return Sample(
            at=now,
            memory=self._service.memory(),
            cores=self._cores(),
            envelopes=rate,
            p50=quantile(delays, 0.5) if delays else None,
            p99=quantile(delays, 0.99) if delays else None,
            behind=max((count for count, _ in behind), default=None),
            behind_seconds=max((seconds for _, seconds in behind), default=None),
            rest=rest,
            database=await connection.fetchval("SELECT pg_database_size(current_database())") / 2**20,
            rows=dict(await connection.fetch(_ROWS, TABLES)),
            stall=stall,
            loop=_loop_millis(),
        )

    def _new_processors(self) -> Processors:
        return Processors({"clients": os.getpid(), **self._service.pids()}, self._servers)

    def _cores(self) -> dict[str, float]:
        try:
            found = self._processors.cores()
        except psutil.NoSuchProcess:  # a fault ended it
            found = {}
        self._processors = self._new_processors()
        return {name: cores for name, cores in found.items() if cores >= 0}

    async def _responses(self, now: float) -> tuple[list[tuple[int, float]], float | None]:
        """How far behind each tenant is, and the slowest response; nothing where a fault prevents it."""
        try:
            status = (
                (await self._service.operators[0].http.get("/ops/v1/feed")).raise_for_status().json()["data"]
            )
            rest = max([await self._millis(each, page) for each in self._everyone[:2] for page in _PAGES])
        except httpx.HTTPError:
            if not self._record.touched(now):
                raise
            return [], None
        return [(one["behind"], one["behind_seconds"]) for one in status if one["tenant"] != "house"], rest

    async def _millis(self, each: FeedClient, page: str) -> float:
        """How long the service takes to respond to a tenant; raises if it fails."""
        began = time.perf_counter()
        (await each.request("GET", page)).raise_for_status()
        return (time.perf_counter() - began) * 1000


def _loop_millis() -> float:
    began = time.process_time()
    for _ in range(_LOOP_TURNS):
        pass
    return (time.process_time() - began) * 1000
