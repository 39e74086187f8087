"""What a cluster consists of: written at each change, so that a later command finds it and a crash forgets
nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil

from scripts.lab.hosts import Hosts
from scripts.local_services import files
from scripts.local_services.processes import ServiceError, Started, find, launch, stop

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "cluster"
DESCRIPTION = ROOT / "var" / "cluster.json"
_FILE = HOME / "record.json"


class Record(msgspec.Struct):
    """The contents of the file. Processes are in the order of their start, named `HOST/PROGRAM`."""

    separate: bool
    passwords: dict[str, str]
    processes: list[Started] = []
    primary: str = "db1"
    synchronous: bool = False

    @property
    def hosts(self) -> Hosts:
        return Hosts(self.separate)

    def save(self) -> None:
        """Write it, for its owner only: it has passwords."""
        HOME.mkdir(parents=True, exist_ok=True)
        files.replace(_FILE, msgspec.json.format(msgspec.json.encode(self)))

    def launch(
        self, host: str, name: str, command: Sequence[str | Path], log: Path | None = None, **options: Any
    ) -> Started:
        """Start a program on a host, in the checkout unless the `options` of `launch` say otherwise; its
        output is in `log`, or in the host's."""
        command, log = self.hosts.inside(host, command), log or log_of(host)
        started = launch(f"{host}/{name}", command, log, **{"directory": ROOT, **options})
        self.processes.append(started)
        self.save()
        return started

    def of_host(self, host: str) -> list[Started]:
        """The living processes of a host."""
        named = [each for each in self.processes if each.name.startswith(f"{host}/")]
        return [each for each in named if find(each)]

    def kill(self, host: str) -> None:
        """Kill what runs on a host, at once and without an orderly end."""
        killed = self.of_host(host)
        processes = [process for each in killed if (process := find(each))]
        for process in processes:
            process.kill()
        psutil.wait_procs(processes, timeout=10)
        self.processes = [each for each in self.processes if each not in killed]
        self.save()

    def end(self, ended: list[Started]) -> None:
        """End these processes, the last one first."""
        for started in reversed(ended):
            stop([started])
        self.processes = [each for each in self.processes if each not in ended]
        self.save()


def log_of(name: str) -> Path:
    """The log of a host, or of a program with one of its own."""
    return HOME / "log" / f"{name}.log"


def load() -> Record | None:
    """The record of a cluster; None where there is none."""
    try:
        return msgspec.json.decode(_FILE.read_bytes(), type=Record)
    except FileNotFoundError:
        return None


def present() -> Record:
    """The record of the cluster; raises `ServiceError` where there is none."""
    found = load()
    if found is None:
        raise ServiceError("no cluster is running; start one with ./scripts/cluster")
    return found


def remove() -> None:
    for file in (_FILE, DESCRIPTION):
        file.unlink(missing_ok=True)
