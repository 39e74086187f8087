"""A running demo: its processes, which a fault kills or stops, and the report of its bookmaker."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

_NO_DEMO = (
    "this breaks things on purpose, so it works on a demo only: start one with ./scripts/demo, "
    "then run `. var/demo.env` in this shell"
)


class DemoUnavailable(Exception):
    """There is no demo, or a part of it that is needed does not run at this moment."""


class StoryLine(msgspec.Struct, frozen=True):
    """One line of the bookmaker's story; `at` is Unix ms."""

    id: int
    at: int
    kind: str
    text: str


class ReportedRecovery(msgspec.Struct, frozen=True):
    request_id: str
    state: str
    asked_at: int
    steps: int
    steps_done: int
    envelopes: int
    finished_at: int | None


class BookCheck(msgspec.Struct, frozen=True):
    """The bookmaker's last comparison of its book with REST: `count` differences."""

    at: int
    count: int
    markets: int
    matches: int


class BookmakerReport(msgspec.Struct, frozen=True):
    """The fields of `var/demo/bookmaker.json` that faults need."""

    state: str
    active: int
    story: tuple[StoryLine, ...]
    recovery: ReportedRecovery | None
    check: BookCheck | None


class _DemoProcess(msgspec.Struct, frozen=True):
    name: str
    pid: int


class _Record(msgspec.Struct, frozen=True):
    children: dict[str, _DemoProcess]


class _Servers(msgspec.Struct, frozen=True):
    processes: tuple[_DemoProcess, ...]


class RunningDemo:
    """The demo that `MATCHFEED_DEMO` in `environment` names. Raises `DemoUnavailable` where there is none."""

    def __init__(self, environment: dict[str, str]) -> None:
        if "MATCHFEED_DEMO" not in environment:
            raise DemoUnavailable(_NO_DEMO)
        self._var = Path(environment["MATCHFEED_DEMO"])
        self._home = self._var / "demo"
        if not (self._var / "demo.json").exists():
            raise DemoUnavailable(f"no demo runs in {self._var}: start it with ./scripts/demo")
        self.description: dict[str, Any] = msgspec.json.decode((self._var / "demo.json").read_bytes())

    def report(self) -> BookmakerReport | None:
        """None for a moment while the bookmaker is being restarted."""
        try:
            return msgspec.json.decode((self._home / "bookmaker.json").read_bytes(), type=BookmakerReport)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def kill(self, *names: str, seconds: float) -> None:
        """Kill processes of the service; the demo restarts them after `seconds` at the earliest."""
        processes = [self._process(name) for name in names]
        for process in processes:
            self._hold_file(process.name).write_text(str(time.time() + seconds))
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)

    def allow_restart(self, name: str) -> None:
        self._hold_file(name).unlink(missing_ok=True)

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """Stop a process with SIGSTOP; it continues at the end of the block, whatever happens."""
        process = self._process(name)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process.pid, signal.SIGCONT)

    def kill_private_broker(self) -> bool:
        """Kill the broker if it is the demo's own; whether it was."""
        servers = msgspec.json.decode((self._home / "services.json").read_bytes(), type=_Servers)
        own = [each for each in servers.processes if each.name == "rabbitmq" and _runs(each.pid, "rabbit")]
        for each in own:
            os.kill(each.pid, signal.SIGKILL)
        return bool(own)

    def _process(self, name: str) -> _DemoProcess:
        record = msgspec.json.decode((self._home / "record.json").read_bytes(), type=_Record)
        process = record.children.get(name)
        if process is None or not _runs(process.pid, "app.cli" if name != "bookmaker" else "bookmaker"):
            raise DemoUnavailable(f"the demo's {name} process is not running at this moment; try again")
        return process

    def _hold_file(self, name: str) -> Path:
        """While this file names a later time, the demo does not restart the process."""
        return self._home / f"held-{name}"


def _runs(pid: int, command: str) -> bool:
    """Whether the process runs and is still the same one: process ids are used again."""
    try:
        return command.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
