"""The service's processes: two that serve, one that ingests, one that feeds; ended and restarted."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import psutil

from app.settings import Settings
from scripts import http_client
from scripts.bench.feed_rig import ROOT, is_healthy
from scripts.local_services import ports

WEB = ("web-1", "web-2")
PROCESSES = (*WEB, "ingest", "feed")
_STOP_SECONDS, _START_SECONDS = 60.0, 120.0


class SoakedService:
    """`clients` are an operator's, one for each web process, in the order of WEB."""

    def __init__(self, settings: Settings, key: str) -> None:
        chosen = ports.free_ports([0, 0])
        self.clients = [http_client.client(f"http://127.0.0.1:{port}", key) for port in chosen]
        self._commands = {
            **{name: ("serve", "--port", str(port)) for name, port in zip(WEB, chosen, strict=True)},
            "ingest": ("ingest",),
            "feed": ("feed",),
        }
        self.use(settings)
        self._running: dict[str, asyncio.subprocess.Process] = {}

    def use(self, settings: Settings) -> None:
        """What is started from now on has these settings, at the same addresses."""
        values = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
        self.environment = {**os.environ, **values, "LOG_LEVEL": "ERROR"}

    async def start_all(self) -> None:
        """Start all four processes, and wait until they are healthy."""
        for name in PROCESSES:
            await self.start(name)
        await self.until_healthy()

    async def kill_all(self) -> None:
        """End everything at once, by SIGKILL."""
        for name in list(self._running):
            await self.end(name, signal.SIGKILL)

    async def start(self, name: str) -> None:
        self._running[name] = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", *self._commands[name]), cwd=ROOT, env=self.environment
        )

    async def end(self, name: str, how: signal.Signals) -> None:
        """Send the signal and wait; kills a process that does not end in a minute, and raises
        `TimeoutError`."""
        process = self._running.pop(name)
        if process.returncode is None:
            process.send_signal(how)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError as error:
            process.kill()
            raise TimeoutError(f"{name} did not end within {_STOP_SECONDS:.0f} s of {how.name}") from error

    def send(self, name: str, how: signal.Signals) -> None:
        """Send a signal that ends nothing."""
        self._running[name].send_signal(how)

    def addresses(self, name: str, port: int) -> list[tuple[str, int]]:
        """The own address and port of each TCP connection that the process has to that port."""
        connections = psutil.Process(self._running[name].pid).net_connections("tcp")
        return [
            (each.laddr.ip, each.laddr.port) for each in connections if each.raddr and each.raddr.port == port
        ]

    def check(self) -> None:
        """Raises `RuntimeError` when a process has ended by itself."""
        for name, process in self._running.items():
            if process.returncode is not None:
                raise RuntimeError(f"the process {name} has ended by itself, with {process.returncode}")

    def memory(self) -> dict[str, float]:
        """Resident MiB of each process that runs."""
        return {
            name: psutil.Process(process.pid).memory_info().rss / 2**20
            for name, process in self._running.items()
            if process.returncode is None
        }

    async def until_healthy(self) -> None:
        """Wait until each web process reports that all parts are healthy."""
        async with asyncio.timeout(_START_SECONDS):
            for client in self.clients:
                while not await is_healthy(client):
                    await asyncio.sleep(0.2)

    async def close(self) -> None:
        """Shut down everything that runs."""
        for name in list(self._running):
            await self.end(name, signal.SIGTERM)
        for client in self.clients:
            await client.aclose()


@asynccontextmanager
async def open_service(settings: Settings, key: str) -> AsyncIterator[SoakedService]:
    """All four processes, healthy. `key` is an operator's."""
    service = SoakedService(settings, key)
    try:
        await service.start_all()
        yield service
    finally:
        await service.close()
