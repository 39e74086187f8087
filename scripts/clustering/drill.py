"""What each fault of a cluster costs a bookmaker, some ten minutes.

    nox -s cluster -- [--only WORDS]

Starts a cluster, a simulated match day and a bookmaker. For each fault: breaks something, waits until the
bookmaker's book equals REST again with open markets, then mends it and waits again. Prints a table; ends with
an error if a book did not become equal.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from time import monotonic, sleep, time

import msgspec

from scripts.lab import brokers, databases, faults, record
from scripts.lab.hosts import BROKERS, CLIENT, COUNTERS, INGEST, WEB
from scripts.lab.record import DESCRIPTION, HOME, ROOT, Record, log_of
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError

from .bookmaker import Look

_HEAL_SECONDS = 150.0
_EQUAL_LOOKS = 3  #: so many equal comparisons in a row are no coincidence
QUIET_SECONDS = 5.0
_NEW_MESSAGES = 5  #: received since a fault, so that an equal book is one of after it
SLUG = "acme"
_OUTPUT = HOME / "log" / "bookmaker.jsonl"


class Fault(msgspec.Struct, frozen=True):
    """`breaks` returns the host that it hit, which `mends` receives."""

    name: str
    breaks: Callable[[], str]
    mends: Callable[[str], None]


class Outcome(msgspec.Struct, frozen=True):
    """Seconds until the book equals REST again after the fault, and after its mending; the longest silence of
    the feed in both; None: not in time."""

    name: str
    healed: float | None
    mended: float | None
    silence: float


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="faults whose names have these words only")
    only = parser.parse_args().only
    command("cluster could not be started")
    try:
        made = record.present()
        match_day(made)
        wait_equal(time())
        outcomes = [_try(fault) for fault in _faults() if only in fault.name]
    finally:
        command("cluster could not be ended", "--stop")
    print_line(_table(outcomes))
    if any(each.healed is None or each.mended is None for each in outcomes):
        raise SystemExit("a book did not become equal to REST in time")


def _faults() -> list[Fault]:
    """Each hits what serves the bookmaker at the moment it happens: a second process or node may not."""
    found = [
        Fault("its broker node is killed", lambda: _verb("kill", _broker()), _start),
        Fault("its feed process is killed", lambda: _verb("kill", _feed()), _start),
        Fault("a web process is killed", lambda: _verb("kill", WEB[0]), _start),
        Fault("an ingest process is killed", lambda: _verb("kill", INGEST[0]), _start),
    ]
    if not record.present().separate:
        return found
    return [
        *found,
        Fault("its broker node is cut off", lambda: _verb("isolate", _broker()), _heal),
        Fault("its feed process is cut off", lambda: _verb("isolate", _feed()), _heal),
        Fault("its feed process without the broker", lambda: _without(_feed(), *BROKERS), _heal),
        Fault("its feed process without the database", lambda: _without(_feed(), _primary()), _heal),
        Fault("an ingest process without the broker", lambda: _without(INGEST[0], *BROKERS), _heal),
        Fault("all web processes without Redis", lambda: _without(COUNTERS, *WEB), _heal),
        Fault("a broker node hears nothing of another", _deafened, _heal),
        Fault("its broker node sends 2 Mbit/s at most", lambda: _verb("slow", _broker(), "2mbit"), _heal),
        Fault("the primary cut off, the standby promoted", _failed_over, _rejoined),
    ]


def _verb(verb: str, host: str, *more: str) -> str:
    command(verb, verb, host, *more)
    return host


def _start(host: str) -> None:
    command("start", "start", host)


def _heal(_: str) -> None:
    command("heal", "heal")


def _without(host: str, *others: str) -> str:
    for other in others:
        faults.cut(record.present(), host, other)
    return host


def _deafened() -> str:
    faults.cut(record.present(), BROKERS[1], BROKERS[0], both=False)
    return BROKERS[0]


def _failed_over() -> str:
    former = _verb("isolate", _primary())
    command("promote", "promote")
    return former


def _rejoined(former: str) -> None:
    _heal(former)
    command("rejoin", "rejoin")


def _primary() -> str:
    return record.present().primary


def _feed() -> str:
    """The host whose feed process holds the bookmaker's lease: the holder's name has its process id."""
    made = record.present()
    query = f"SELECT holder FROM tenant_cursor JOIN tenant ON tenant.id = tenant_id WHERE slug = '{SLUG}'"
    pid = int(databases.run(made, made.primary, query, "matchfeed").split("-")[-2])
    (name,) = [each.name for each in made.processes if each.pid == pid]
    return name.partition("/")[0]


def _broker() -> str:
    """The node to which the bookmaker is connected."""
    made = record.present()
    for host in BROKERS:
        if brokers.answers(made, host):
            listed = brokers.control(made, host, "list_connections", "pid", "user")
            rows = [line.split("\t") for line in listed.splitlines()]
            return next(row[0].strip("<").partition("@")[0] for row in rows if row[-1] == f"op-{SLUG}")
    raise ServiceError("no node of the broker answers")


def command(what: str, *arguments: str) -> None:
    """Run `./scripts/cluster` with these arguments."""
    done = subprocess.run([sys.executable, "-m", "scripts.lab.cluster", *arguments], cwd=ROOT, check=False)
    if done.returncode:
        raise ServiceError(f"{what}: it ended with {done.returncode}")


def match_day(made: Record) -> None:
    """Start the simulated matches and the bookmaker on the client's host."""
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    simulate = [sys.executable, "-m", "app.cli", "simulate", "--matchday", "--unbooked-for", ""]
    simulate += ["--base-url", described["base_url"], "--operator-url", described["operator_url"]]
    environment = {**os.environ, "MATCHFEED_OPERATOR_KEY": described["operator_key"]}
    made.launch(CLIENT, "simulate", simulate, log_of("simulator"), environment=environment)
    bookmaker = [sys.executable, "-m", "scripts.clustering.bookmaker", SLUG]
    made.launch(CLIENT, "bookmaker", bookmaker, _OUTPUT)


def _try(fault: Fault) -> Outcome:
    print_line(f"{fault.name} …")
    sleep(QUIET_SECONDS)
    began = time()
    host = fault.breaks()
    healed = wait_equal(time())
    mending = time()
    fault.mends(host)
    mended = wait_equal(mending)
    silence = max((look.silence for look in looks() if look.at > began), default=0.0)
    print_line(
        f"    on {host}: equal after {healed} s, after mending {mended} s, silent for {silence} s at most"
    )
    return Outcome(fault.name, healed, mended, silence)


def wait_equal(since: float) -> float | None:
    """Seconds from `since` until the book equals REST, with open markets, for some looks in a row. Messages
    count from the first look after it: those before it may have been on their way."""
    deadline = monotonic() + _HEAL_SECONDS
    while monotonic() < deadline:
        row: list[Look] = []
        later = [look for look in looks() if look.at > since]
        for look in later:
            new = look.messages >= later[0].messages + _NEW_MESSAGES
            equal = new and look.open > 0 and look.compared and look.differences == 0
            row = [*row, look] if equal else []
            if len(row) == _EQUAL_LOOKS:
                return round(row[0].at - since, 1)
        sleep(0.5)
    return None


def looks() -> list[Look]:
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
