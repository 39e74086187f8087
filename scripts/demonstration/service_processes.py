"""The service's processes: started, restarted when they die, ended together."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, time

from scripts.local_services.processes import ServiceError, Started, find, last_words, launch, stop

from . import run_record as records
from .paths import HOME, LOGS, ROOT
from .run_record import Record

#: A process that dies this often within this many seconds is not started again.
_DEATHS, _WITHIN = 5, 60.0
#: A log grows to this many bytes, then becomes `.old` and begins empty.
_LOG_BYTES = 20_000_000


def is_held(name: str) -> bool:
    """Whether `matchfeed fault` holds the process down; a file has the time until which (Unix s)."""
    try:
        return time() < float((HOME / f"held-{name}").read_text())
    except (FileNotFoundError, ValueError):
        return False


class ServiceProcesses:
    """Processes of `matchfeed`, each a command of its command line with a log of its own."""

    def __init__(self, record: Record, environment: Mapping[str, str], notify: Callable[[str], None]) -> None:
        self._record, self._environment, self._notify = record, environment, notify
        self._commands: dict[str, list[str]] = {}
        self._metrics_ports: dict[str, int] = {}
        self._deaths: dict[str, list[float]] = {}

    def start(self, name: str, *arguments: str, module: str = "app.cli", metrics_port: int = 0) -> Started:
        """Start a command (`module` if not of `matchfeed`) and keep it running."""
        self._commands[name] = [sys.executable, "-m", module, *arguments]
        self._metrics_ports[name] = metrics_port
        self._deaths.setdefault(name, [])
        return self._launch(name)

    def _launch(self, name: str) -> Started:
        started = launch(
            name,
            self._commands[name],
            self.log(name),
            environment={**self._environment, "METRICS_PORT": str(self._metrics_ports[name])},
            directory=ROOT,
        )
        self._record.children[name] = started
        records.save(self._record)
        return started

    def log(self, name: str) -> Path:
        return LOGS / f"{name}.log"

    def alive(self, name: str) -> bool:
        return find(self._record.children[name]) is not None

    def restart_dead(self) -> None:
        """Restart dead processes that are not held. Raises `ServiceError` for one that dies again and
        again."""
        for name in self._commands:
            if self.alive(name) or is_held(name):
                continue
            now = monotonic()
            deaths = [at for at in self._deaths[name] if now - at < _WITHIN] + [now]
            self._deaths[name] = deaths
            if len(deaths) >= _DEATHS:
                why = last_words(self.log(name))
                raise ServiceError(f"the {name} process keeps ending: {why} (all of it in {self.log(name)})")
            self._notify(f"the {name} process has ended; starting it again")
            self._launch(name)

    def trim_logs(self) -> None:
        """Limit the size of each log, the servers' too; in append mode a running writer continues."""
        for log in (*LOGS.glob("*.log"), *(HOME / "log").glob("*.log")):
            if log.stat().st_size > _LOG_BYTES:
                log.with_suffix(".old").write_bytes(log.read_bytes()[-_LOG_BYTES // 10 :])
                with log.open("r+b") as file:
                    file.truncate(0)

    def end(self) -> None:
        """End all of them, the simulator and the bookmaker before those that they connect to."""
        children = self._record.children
        for names in (("simulator", "bookmaker"), ("web", "ingest", "feed")):
            stop([children.pop(name) for name in names if name in children])
            records.save(self._record)
