"""The service's processes on this machine: started, ended by any signal, watched."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
import psutil

from app.settings import Settings
from app.store.connections import Store
from scripts.lab.operators import Operators
from scripts.lab.own_data import operator_key
from scripts.lab.record import ROOT
from scripts.local_services import ports
from scripts.local_services.processes import ServiceError, last_words

WEB = ("web-1", "web-2")
PROCESSES = (*WEB, "ingest", "feed")
_STOP_SECONDS, _START_SECONDS = 60.0, 120.0


class Code(NamedTuple):
    """A checkout, and the Python that has its packages."""

    python: Path
    root: Path


OURS = Code(Path(sys.executable), ROOT)


class Complaint(NamedTuple):
    """Lines of a process's log at level error or critical, or that are none of ours, such as a traceback."""

    process: str
    event: str
    times: int


class Processes:
    """Processes by name, which have the variables of `environment` beside ours. Their output is in
    `logs`/NAME.log, or where ours is."""

    def __init__(self, environment: Mapping[str, str], logs: Path | None = None) -> None:
        self.environment = dict(environment)
        self._logs = logs
        self._running: dict[str, psutil.Popen] = {}

    def launch(self, name: str, *arguments: str, code: Code = OURS, **more: str) -> None:
        """Start `matchfeed` with these arguments; `more` are variables of this process."""
        output = self._open_log(name)
        self._running[name] = psutil.Popen(
            [str(code.python), "-m", "app.cli", *arguments],
            cwd=code.root,
            env={**os.environ, **self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
        )
        if output is not None:
            os.close(output)

    async def end(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """Send the signal and wait; kills a process that does not end in a minute, and raises
        `ServiceError`."""
        process = self._running.pop(name)
        if process.poll() is None:
            process.send_signal(how)
        try:
            await asyncio.to_thread(process.wait, _STOP_SECONDS)
        except psutil.TimeoutExpired as error:
            process.kill()
            raise ServiceError(f"{name} did not end within {_STOP_SECONDS:.0f} s of {how.name}") from error

    async def kill_all(self) -> None:
        """End everything at once, by SIGKILL."""
        for name in list(self._running):
            await self.end(name, signal.SIGKILL)

    def send(self, name: str, how: signal.Signals) -> None:
        """Send a signal that ends nothing."""
        self._running[name].send_signal(how)

    def check(self) -> None:
        """Raises `ServiceError` when a process has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                words = f": {last_words(self._logs / f'{name}.log')}" if self._logs else ""
                raise ServiceError(f"{name} has ended by itself, with {process.returncode}{words}")

    def addresses(self, name: str, port: int) -> list[tuple[str, int]]:
        """The own address and port of each TCP connection that the process has to that port."""
        connections = self._running[name].net_connections("tcp")
        return [
            (each.laddr.ip, each.laddr.port) for each in connections if each.raddr and each.raddr.port == port
        ]

    def memory(self) -> dict[str, float]:
        """Resident MiB of each process that runs."""
        return {
            name: process.memory_info().rss / 2**20
            for name, process in self._running.items()
            if process.poll() is None
        }

    def pids(self) -> dict[str, int]:
        """The id of each process that runs."""
        return {name: process.pid for name, process in self._running.items() if process.poll() is None}

    def complaints(self, since: str, *others: str) -> list[Complaint]:
        """What the logs have at level error or critical since a moment (ISO 8601, UTC); not those of
        `others`, whose lines are not ours."""
        assert self._logs
        return [
            Complaint(log.stem, event, times)
            for log in sorted(self._logs.glob("*.log"))
            if log.stem not in others
            for event, times in Counter(_complaints(log, since)).items()
        ]

    def close(self) -> None:
        """End everything that runs. Raises `ServiceError` for what had to be killed."""
        for process in self._running.values():
            process.terminate()
        psutil.wait_procs(list(self._running.values()), timeout=_STOP_SECONDS)
        stubborn = [name for name, process in self._running.items() if process.poll() is None]
        for name in stubborn:
            self._running[name].kill()
        self._running.clear()
        if stubborn:
            raise ServiceError(f"{', '.join(stubborn)} did not end within {_STOP_SECONDS:.0f} s")

    def _open_log(self, name: str) -> int | None:
        if self._logs is None:
            return None
        self._logs.mkdir(parents=True, exist_ok=True)
        return os.open(self._logs / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def _complaints(log: Path, since: str) -> Iterator[str]:
    for line in log.read_bytes().splitlines():
        try:
            fields = msgspec.json.decode(line, type=dict[str, object])
        except msgspec.MsgspecError:
            yield line.decode(errors="replace")[:200]
            continue
        if fields.get("level") in ("error", "critical") and str(fields.get("timestamp")) >= since:
            yield f"{fields.get('event')}: {str(fields.get('error') or fields.get('exception') or '')[-300:]}"


class Service(Processes):
    """Two web processes, one that ingests and one that feeds. `operators` send to one web process each."""

    def __init__(self, settings: Settings, key: str) -> None:
        super().__init__({})
        self.use(settings)
        chosen = ports.free_ports([0, 0])
        self.urls = [f"http://127.0.0.1:{port}" for port in chosen]
        self.operators = [Operators(url, key) for url in self.urls]
        self._commands = {
            **{name: ("serve", "--port", str(port)) for name, port in zip(WEB, chosen, strict=True)},
            "ingest": ("ingest",),
            "feed": ("feed",),
        }

    def use(self, settings: Settings) -> None:
        """What is started from now on has these settings, at the same addresses."""
        values = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
        self.environment = {**values, "LOG_LEVEL": "ERROR"}

    def start(self, name: str) -> None:
        self.launch(name, *self._commands[name])

    async def start_all(self) -> None:
        """Start all four processes, and wait until they are healthy."""
        for name in PROCESSES:
            self.start(name)
        await self.until_healthy()

    async def until_healthy(self) -> None:
        """Wait until each web process reports that all parts are healthy."""
        async with asyncio.timeout(_START_SECONDS):
            for operator in self.operators:
                while not await is_healthy(operator.http):
                    await asyncio.sleep(0.2)


async def is_healthy(client: httpx.AsyncClient) -> bool:
    try:
        response = await client.get("/v1/health")
    except httpx.TransportError:
        return False
    return bool(response.status_code == httpx.codes.OK and response.json()["data"]["status"] == "ok")


@asynccontextmanager
async def open_service(settings: Settings, store: Store) -> AsyncIterator[Service]:
    """All four processes, healthy."""
    service = Service(settings, await operator_key(settings, store))
    try:
        await service.start_all()
        yield service
    finally:
        await asyncio.to_thread(service.close)
        for operator in service.operators:
            await operator.close()
