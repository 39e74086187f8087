"""What each fault of a cluster costs a bookmaker: `nox -s cluster`, some ten minutes.

Starts a cluster, a simulated match day and a bookmaker. For each fault: breaks something, waits until the
bookmaker's book equals REST again with open markets, then mends it and waits again. Prints a table; ends with
an error if a book did not become equal.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep, time

import msgspec

from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError, launch

from . import faults, record
from .bookmaker import Look
from .hosts import CLIENT
from .record import DESCRIPTION, HOME, ROOT, Record

_HEAL_SECONDS = 150.0
_EQUAL_LOOKS = 3  #: so many equal comparisons in a row are no coincidence
_QUIET_SECONDS = 5.0
_OUTPUT = HOME / "log" / "bookmaker.jsonl"
Step = Callable[[], None]


class Fault(msgspec.Struct, frozen=True):
    name: str
    breaks: Step
    mends: Step


class Outcome(msgspec.Struct, frozen=True):
    """Seconds until the book equals REST again after the fault, and after its mending; the longest silence of
    the feed in both; None: not in time."""

    name: str
    healed: float | None
    mended: float | None
    silence: float


def main() -> None:
    _command("cluster could not be started")
    try:
        made = record.present()
        _match_day(made)
        _wait_equal(time(), _HEAL_SECONDS)
        outcomes = [_try(fault) for fault in _faults(made)]
    finally:
        _command("cluster could not be ended", "--stop")
    print_line(_table(outcomes))
    if any(each.healed is None or each.mended is None for each in outcomes):
        raise SystemExit("a book did not become equal to REST in time")


def _faults(made: Record) -> list[Fault]:
    verb: Callable[..., Step] = lambda *words: lambda: _command(words[0], *words)  # noqa: E731
    heal, hosts = verb("heal"), made.hosts
    found = [
        Fault(f"{host} is killed", verb("kill", host), verb("start", host))
        for host in ("mq1", "web1", "feed1", "ingest1")
    ]
    if made.separate:
        found += [
            Fault("mq1 cut off", verb("isolate", "mq1"), heal),
            Fault("feed1 cut off from the broker", lambda: _from_brokers(made, "feed1"), heal),
            Fault("feed1 cut off from the database", lambda: faults.cut(hosts, "feed1", made.primary), heal),
            Fault("ingest1 cut off from the broker", lambda: _from_brokers(made, "ingest1"), heal),
            Fault("web1 cut off from Redis", lambda: faults.cut(hosts, "web1", "redis"), heal),
            Fault("mq1 hears nothing of mq2", lambda: faults.cut(hosts, "mq2", "mq1", both=False), heal),
            Fault("mq1 sends 2 Mbit/s at most", verb("slow", "mq1", "2mbit"), heal),
            Fault("the primary cut off, the standby promoted", lambda: _fail_over("db1"), lambda: _rejoin()),
        ]
    return found


def _from_brokers(made: Record, host: str) -> None:
    for broker in ("mq1", "mq2", "mq3"):
        faults.cut(made.hosts, host, broker)


def _fail_over(primary: str) -> None:
    _command("isolate", "isolate", primary)
    _command("promote", "promote")


def _rejoin() -> None:
    _command("heal", "heal")
    _command("rejoin", "rejoin")


def _command(what: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "scripts.clustering", *arguments], cwd=ROOT, check=False)
    if done.returncode:
        raise ServiceError(f"{what}: it ended with {done.returncode}")


def _match_day(made: Record) -> None:
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    simulate = [sys.executable, "-m", "app.cli", "simulate", "--matchday", "--unbooked-for", ""]
    simulate += ["--base-url", described["base_url"], "--operator-url", described["operator_url"]]
    environment = {"MATCHFEED_OPERATOR_KEY": described["operator_key"]}
    bookmaker = [sys.executable, "-m", "scripts.clustering.bookmaker", "acme"]
    for name, command, log in (
        ("simulate", simulate, HOME / "log" / "simulator.log"),
        ("bookmaker", bookmaker, _OUTPUT),
    ):
        _launch(made, name, command, log, environment)


def _launch(made: Record, name: str, command: list[str], log: Path, environment: dict[str, str]) -> None:
    inside = made.hosts.inside(CLIENT, command)
    made.add(
        launch(f"{CLIENT}/{name}", inside, log, directory=ROOT, environment={**os.environ, **environment})
    )


def _try(fault: Fault) -> Outcome:
    print_line(f"{fault.name} …")
    sleep(_QUIET_SECONDS)
    began = time()
    fault.breaks()
    healed = _wait_equal(time(), _HEAL_SECONDS)
    mending = time()
    fault.mends()
    mended = _wait_equal(mending, _HEAL_SECONDS)
    silence = max((look.silence for look in _looks() if look.at > began), default=0.0)
    print_line(f"    equal after {healed} s, after mending {mended} s, silent for {silence} s at most")
    return Outcome(fault.name, healed, mended, silence)


def _wait_equal(since: float, seconds: float) -> float | None:
    """Seconds from `since` until the book equals REST, with open markets, for some looks in a row."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        row: list[Look] = []
        for look in _looks():
            equal = look.at > since + 1 and look.open > 0 and look.compared and look.differences == 0
            row = [*row, look] if equal else []
            if len(row) == _EQUAL_LOOKS:
                return round(row[0].at - since, 1)
        sleep(0.5)
    return None


def _looks() -> list[Look]:
    """The looks so far; the log may have other lines, and a last one that is incomplete."""
    lines = _OUTPUT.read_bytes().splitlines() if _OUTPUT.exists() else []
    found = []
    for line in lines:
        if line.startswith(b"{") and line.endswith(b"}"):
            found.append(msgspec.json.decode(line, type=Look))
    return found


def _table(outcomes: list[Outcome]) -> str:
    head = "| fault | equal after, s | after mending, s | longest silence, s |\n|---|---|---|---|"
    rows = [f"| {each.name} | {each.healed} | {each.mended} | {each.silence} |" for each in outcomes]
    return "\n".join([head, *rows])


if __name__ == "__main__":
    main()
