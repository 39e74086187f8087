"""Our own processes: the commands that production runs, forked instead of started."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from app.settings import Settings
from tests.support import forked
from tests.support.forked import Forked

ROOT = Path(__file__).resolve().parents[2]


class Process:
    """One `matchfeed` process; `log` is its output."""

    def __init__(self, process: Forked, log: Path) -> None:
        self._process, self.log = process, log

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> int:
        """Send it SIGTERM; its exit status (killed after a minute)."""
        if self.running:
            self.resume()
            self._process.terminate()
        try:
            return await asyncio.wait_for(self._process.wait(), 60)
        except TimeoutError:
            await self.kill()
            return -signal.SIGKILL

    def logged(self, text: str) -> bool:
        return text in self.log.read_text()

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The log lines of an event, oldest first."""
        written = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in written if line["event"] == event]


def environment(settings: Settings) -> dict[str, str]:
    """What a process reads these settings from."""
    return {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}


def fork(words: Sequence[str], settings: Settings, log: Path, **overrides: str) -> Process:
    """`matchfeed` with these words and settings, but for the `overrides`, forked (`support.forked`)."""
    variables = {**os.environ, **environment(settings), **overrides}
    return Process(forked.fork(words, ROOT, variables, log), log)


def output(*command: str | Path, **options: Any) -> str:
    """What a program prints that is run to its end, which must be good."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@asynccontextmanager
async def started(
    command: str, settings: Settings, directory: Path, *arguments: str
) -> AsyncIterator[Process]:
    """`matchfeed <command> <arguments>` with these settings; it has ended when the block has."""
    running = fork((command, *arguments), settings, directory / f"{command}-{token_hex(3)}.log")
    try:
        yield running
    finally:
        await running.end()
