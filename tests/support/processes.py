"""Our own processes, started as in production, for fault tests."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

import msgspec

from app.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


class Process:
    """One `matchfeed` process; `log` is its output."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process, self.log = process, log

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> int:
        """Send it SIGTERM; its exit status (killed after a minute)."""
        if self._process.returncode is None:
            self.resume()
            self._process.terminate()
        try:
            return await asyncio.wait_for(self._process.wait(), 60)
        except TimeoutError:
            await self.kill()
            return -signal.SIGKILL


@asynccontextmanager
async def started(
    command: str, settings: Settings, directory: Path, *arguments: str
) -> AsyncIterator[Process]:
    """`matchfeed <command> <arguments>` with these settings; it has ended when the block has."""
    log = directory / f"{command}-{token_hex(3)}.log"
    environment = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
    with log.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", command, *arguments),
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=sink,
            stderr=sink,
        )
    running = Process(process, log)
    try:
        yield running
    finally:
        await running.end()
