"""The running demo as a command sees it: its processes, which it may end for a while, and its bookmaker."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

_NOT_HERE = (
    "this breaks things on purpose, so it works on a demo only: start one with ./scripts/demo, "
    "then say `. var/demo.env` in this shell"
)


class Line(msgspec.Struct, frozen=True):
    id: int
    at: int
    kind: str
    text: str


class Recovery(msgspec.Struct, frozen=True):
    request_id: str
    state: str
    asked_at: int
    steps: int
    steps_done: int
    envelopes: int
    finished_at: int | None


class Check(msgspec.Struct, frozen=True):
    at: int
    count: int
    markets: int
    matches: int


class Report(msgspec.Struct, frozen=True):
    """What the demo's bookmaker tells of itself, as far as it matters here."""

    state: str
    active: int
    story: tuple[Line, ...]
    recovery: Recovery | None
    check: Check | None


class Child(msgspec.Struct, frozen=True):
    name: str
    pid: int


class _Record(msgspec.Struct, frozen=True):
    children: dict[str, Child]


class _Servers(msgspec.Struct, frozen=True):
    processes: tuple[Child, ...]


class Demo:
    """The demo whose settings this shell has. Raises `ClickException` where there is none."""

    def __init__(self, environment: dict[str, str]) -> None:
        if "MATCHFEED_DEMO" not in environment:
            raise click.ClickException(_NOT_HERE)
        self._var = Path(environment["MATCHFEED_DEMO"])
        self._home = self._var / "demo"
        if not (self._var / "demo.json").exists():
            raise click.ClickException(f"no demo runs in {self._var}: start it with ./scripts/demo")
        self.description: dict[str, Any] = msgspec.json.decode((self._var / "demo.json").read_bytes())

    def report(self) -> Report | None:
        """None for a moment while the bookmaker is being started again."""
        try:
            return msgspec.json.decode((self._home / "bookmaker.json").read_bytes(), type=Report)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def end(self, *names: str, away: float) -> None:
        """Kill processes of the service, and keep them away for `away` seconds."""
        children = [self._child(name) for name in names]
        for child in children:
            self._held(child.name).write_text(str(time.time() + away))
        for child in children:
            os.kill(child.pid, signal.SIGKILL)

    def bring_back(self, name: str) -> None:
        self._held(name).unlink(missing_ok=True)

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """Stop a process as a debugger does; it goes on at the end of the block, whatever happens."""
        child = self._child(name)
        os.kill(child.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(child.pid, signal.SIGCONT)

    def end_private_broker(self) -> bool:
        """Kill the broker, if it is the demo's own; whether it was."""
        servers = msgspec.json.decode((self._home / "services.json").read_bytes(), type=_Servers)
        own = [each for each in servers.processes if each.name == "rabbitmq" and _runs(each.pid, "rabbit")]
        for each in own:
            os.kill(each.pid, signal.SIGKILL)
        return bool(own)

    def _child(self, name: str) -> Child:
        record = msgspec.json.decode((self._home / "record.json").read_bytes(), type=_Record)
        child = record.children.get(name)
        if child is None or not _runs(child.pid, "app.cli" if name != "bookmaker" else "bookmaker"):
            raise click.ClickException(f"the demo's {name} process is not running at this moment; try again")
        return child

    def _held(self, name: str) -> Path:
        return self._home / f"held-{name}"


def _runs(pid: int, what: str) -> bool:
    """Whether that process runs and is still the one that we mean: numbers are used again."""
    try:
        return what.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
