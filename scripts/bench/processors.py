"""What each part of a running service takes of the processor while something is measured."""

import time
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

import psutil


class Processors:
    """The processor's time by part, from its creation on. `parts` are process ids by name; `servers` are
    URLs by name, of this machine's servers: the process that listens there and all its children. A server
    that cannot be inspected (another user's, another machine's) is left out."""

    def __init__(self, parts: Mapping[str, int], servers: Mapping[str, str]) -> None:
        self._parts = parts
        found = {name: (_listener(url), urlsplit(url).path[1:]) for name, url in servers.items()}
        self._servers = {name: (process, of) for name, (process, of) in found.items() if process}
        self._begun = time.perf_counter()
        self._before = self._used()

    def cores(self) -> dict[str, float]:
        """Mean number of cores that each part has kept busy."""
        seconds = time.perf_counter() - self._begun
        used = self._used()
        return {name: (used[name] - self._before[name]) / seconds for name in used}

    def _used(self) -> dict[str, float]:
        alone = {name: processor_seconds(process) for name, process in self._parts.items()}
        return alone | {name: _with_children(process, of) for name, (process, of) in self._servers.items()}


def _listener(url: str) -> int | None:
    port = urlsplit(url).port
    listening = (each for each in psutil.net_connections("tcp") if each.status == psutil.CONN_LISTEN)
    return next((each.pid for each in listening if each.laddr.port == port), None)


def processor_seconds(process: int) -> float:
    """What a process has used of the processor so far."""
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def _with_children(process: int, database: str) -> float:
    """Of the process and its living children; those of PostgreSQL that serve another database are left out,
    for others may use the server too."""
    parent, total = psutil.Process(process), 0.0
    for each in (parent, *parent.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # a session may have ended meanwhile
            title = " ".join(each.cmdline())
            if not (title.startswith("postgres: ") and "(" in title and f" {database} " not in title):
                total += processor_seconds(each.pid)
    return total
