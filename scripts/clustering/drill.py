"""What each fault of a cluster costs a bookmaker, some ten minutes.

    nox -s cluster -- [--only WORDS]

Starts a cluster, a simulated match day and a bookmaker. For each fault: breaks something, waits until the
bookmaker's book equals REST again with open markets, then mends it and waits again. Prints a table; ends with
an error if a book did not become equal.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable
from functools import partial
from time import time

import msgspec

from scripts.clustering.bookmaker import SLUG, Bookmaker, described, match_day
from scripts.lab import brokers, cluster, databases, faults, record
from scripts.lab.faults import FAULTS, Fault, rejoin
from scripts.lab.hosts import BROKERS, COUNTERS, INGEST, WEB
from scripts.lab.record import Record
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError

QUIET_SECONDS = 5.0


class Trial(msgspec.Struct, frozen=True):
    """A fault of the host that `where` finds when it begins."""

    name: str
    where: Callable[[Record], str]
    fault: Fault


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
    if cluster.on_client():
        asyncio.run(_run(only))
        return
    with cluster.running():
        raise SystemExit(cluster.run_on_client("scripts.clustering.drill", sys.argv[1:]))


async def _run(only: str) -> None:
    made = record.present()
    match_day(made)
    async with Bookmaker(described()) as bookmaker:
        await bookmaker.seconds_until_equal(time())
        chosen = [each for each in TRIALS if only in each.name and (made.separate or not each.fault.separate)]
        outcomes = [await _try(made, each, bookmaker) for each in chosen]
    print_line(_table(outcomes))
    if any(each.healed is None or each.mended is None for each in outcomes):
        raise SystemExit("a book did not become equal to REST in time")


def _fail_over(made: Record, host: str) -> None:
    faults.isolate(made, host)
    made.kill(host)
    cluster.promote(made)


def _rejoin(made: Record, host: str) -> None:
    rejoin(made, host)
    databases.follow(made, print_line)


def _primary(made: Record) -> str:
    return made.primary


def _feed(made: Record) -> str:
    """The host whose feed process holds the bookmaker's lease: the holder's name has its process id."""
    query = f"SELECT holder FROM tenant_cursor JOIN tenant ON tenant.id = tenant_id WHERE slug = '{SLUG}'"
    pid = int(databases.run(made, made.primary, query, "matchfeed").split("-")[-2])
    (name,) = [each.name for each in made.processes if each.pid == pid]
    return name.partition("/")[0]


def _broker(made: Record) -> str:
    """The node to which the bookmaker is connected."""
    for host in BROKERS:
        if brokers.answers(made, host):
            listed = brokers.control(made, host, "list_connections", "pid", "user")
            rows = [line.split("\t") for line in listed.splitlines()]
            return next(row[0].strip("<").partition("@")[0] for row in rows if row[-1] == f"op-{SLUG}")
    raise ServiceError("no node of the broker answers")


def _always(host: str) -> Callable[[Record], str]:
    return lambda _: host


def _deafen(made: Record, host: str) -> None:
    faults.cut(made, BROKERS[1], host, both=False, of=host)


_REDIS = Fault("Redis and the web processes are cut off", (), partial(faults.cut_off, WEB, "both"), rejoin)
_DEAF = Fault("a broker node hears nothing of another", (), _deafen, rejoin)
_FAIL_OVER = Fault("the primary is cut off, the standby promoted", (), _fail_over, _rejoin)
#: Each hits what serves the bookmaker at the moment it happens: a second process or node may not.
TRIALS = (
    Trial("its broker node is killed", _broker, FAULTS["a broker node is killed"]),
    Trial("its feed process is killed", _feed, FAULTS["a feed process is killed"]),
    Trial("a web process is killed", _always(WEB[0]), FAULTS["a web process is killed"]),
    Trial("an ingest process is killed", _always(INGEST[0]), FAULTS["an ingest process is killed"]),
    Trial("its broker node is cut off", _broker, FAULTS["a broker node is cut off from all"]),
    Trial("its feed process is cut off", _feed, FAULTS["a feed process is cut off from all"]),
    Trial("its feed process without the broker", _feed, FAULTS["a feed process and the broker are cut off"]),
    Trial(
        "its feed process without the database", _feed, FAULTS["a feed process and the database are cut off"]
    ),
    Trial(
        "an ingest process without the broker",
        _always(INGEST[0]),
        FAULTS["an ingest process and the broker are cut off"],
    ),
    Trial("all web processes without Redis", _always(COUNTERS), _REDIS),
    Trial("a broker node hears nothing of another", _always(BROKERS[0]), _DEAF),
    Trial("its broker node sends 2 Mbit/s at most", _broker, FAULTS["a broker node sends 2 Mbit/s at most"]),
    Trial("the primary cut off, the standby promoted", _primary, _FAIL_OVER),
)


async def _try(made: Record, trial: Trial, bookmaker: Bookmaker) -> Outcome:
    print_line(f"{trial.name} …")
    await asyncio.sleep(QUIET_SECONDS)
    began = time()
    host = await asyncio.to_thread(trial.where, made)
    await asyncio.to_thread(trial.fault.breaks, made, host)
    healed = await bookmaker.seconds_until_equal(time())
    mending = time()
    await asyncio.to_thread(trial.fault.mends, made, host)
    mended = await bookmaker.seconds_until_equal(mending)
    silence = bookmaker.silence(began)
    print_line(
        f"    on {host}: equal after {healed} s, after mending {mended} s, silent for {silence} s at most"
    )
    return Outcome(trial.name, healed, mended, silence)


def _table(outcomes: list[Outcome]) -> str:
    head = "| fault | equal after, s | after mending, s | longest silence, s |\n|---|---|---|---|"
    rows = [f"| {each.name} | {each.healed} | {each.mended} | {each.silence} |" for each in outcomes]
    return "\n".join([head, *rows])


if __name__ == "__main__":
    main()
