"""The client that is certified: started by a command, or by somebody who has read what it needs; and what it
reports."""

import asyncio
import os
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.sandbox.certification import reports
from app.sandbox.certification.ending import undisturbed
from app.sandbox.certification.reports import Report

_END_SECONDS = 10.0


@dataclass(frozen=True)
class Received:
    """A report, and when it came (monotonic seconds)."""

    report: Report
    at: float


class Clients:
    """Processes of the client by number, from 1 on. `environment` gives what each is started with, beside the
    variables of this process but those `withheld`: the settings of the installation, secrets among them.
    Without a command they are started by others, and cannot be restarted."""

    def __init__(
        self,
        command: str,
        directory: Path,
        environment: Callable[[int], Mapping[str, str]],
        withheld: Collection[str] = (),
    ) -> None:
        self.command, self._directory, self._environment = command, directory, environment
        self._withheld = withheld
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self.received: dict[int, Received] = {}
        self._read: dict[int, bytes] = {}
        self.name = self.version = ""
        self.running = {1}

    @property
    def can_restart(self) -> bool:
        return bool(self.command)

    def file(self, number: int) -> Path:
        """Where the process may write its report instead of sending it."""
        return self._directory / f"report-{number}.json"

    def state(self, number: int) -> Path:
        """A directory for what the process stores from one run to the next."""
        found = self._directory / f"client-{number}"
        found.mkdir(exist_ok=True)
        return found

    def forget(self) -> None:
        """Remove what the first process has stored."""
        shutil.rmtree(self.state(1))

    def take(self, raw: bytes, number: int = 1) -> str:
        """Take a report; what is wrong with it, or ""."""
        try:
            report = reports.decode(raw)
        except msgspec.DecodeError as error:
            return f"this is no report: {error}".replace('"', "'")
        self.name, self.version = report.name or self.name, report.version or self.version
        self.received[number] = Received(report, time.monotonic())
        return ""

    def read_files(self) -> None:
        """Take reports that were written to files since they were last read."""
        for number in self.running:
            with suppress(FileNotFoundError):
                raw = self.file(number).read_bytes()
                if raw != self._read.get(number):
                    self._read[number] = raw
                    self.take(raw, number)

    def take_digest(self, raw: bytes) -> None:
        """Take the body of a self-check as a report of the book, from a client that reports nothing else."""
        known = self.received.get(1)
        if known is None or known.report.results is None:
            self.take(raw)

    async def start(self, number: int = 1) -> None:
        """Start the process, if that is ours to do."""
        self.received.pop(number, None)
        self._read.pop(number, None)
        self.file(number).unlink(missing_ok=True)
        self.running.add(number)
        if self.command:
            await undisturbed(self._start(number))

    async def _start(self, number: int) -> None:
        given = {name: value for name, value in os.environ.items() if name not in self._withheld}
        with (self._directory / f"client-{number}.log").open("ab") as log:
            self._processes[number] = await asyncio.create_subprocess_exec(
                *shlex.split(self.command),
                env={**given, **self._environment(number)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ended(self, number: int) -> int | None:
        """The status with which the process has ended by itself; None while it runs."""
        process = self._processes.get(number)
        return None if process is None else process.returncode

    async def stop(self, number: int = 1, *, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process; it is killed if it does not end within ten seconds."""
        self.running.discard(number)
        self.received.pop(number, None)
        process = self._processes.get(number)
        if process is None:
            return
        _send(process, signal.SIGCONT)
        _send(process, how)
        try:
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
        except TimeoutError:
            _send(process, signal.SIGKILL)
            await process.wait()
        del self._processes[number]

    def pause(self) -> None:
        for process in self._processes.values():
            _send(process, signal.SIGSTOP)

    def resume(self) -> None:
        for process in self._processes.values():
            _send(process, signal.SIGCONT)

    async def stop_all(self) -> None:
        """End every process, and what it has started and left in its group."""
        for number, process in list(self._processes.items()):
            await self.stop(number)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
