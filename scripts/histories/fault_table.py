"""What can break on a cluster, and how it is mended.

Cuts are made by nftables between hosts, one way or both; slow links by a token bucket; wrong clocks by
`faketime`. A fault of one kind hits one of its hosts.
"""

import signal
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from scripts.clustering import databases, faults, programs
from scripts.clustering.hosts import BROKERS, COUNTERS, DATABASES, FEED, INGEST, WEB
from scripts.clustering.record import Record
from scripts.local_services.processes import find

Act = Callable[[Record, str], None]


class Fault(msgspec.Struct, frozen=True):
    """`breaks` and `mends` are called with the cluster and the host. `separate`: the hosts must be network
    namespaces. `synchronous`: commits must wait for the standby, or some are lost."""

    name: str
    hosts: tuple[str, ...]
    breaks: Act
    mends: Act
    separate: bool = True
    synchronous: bool = False


def start(record: Record, host: str) -> None:
    programs.start_again(record, host, _silently)


def _silently(_: str) -> None: ...


def _signal(number: signal.Signals, record: Record, host: str) -> None:
    for started in record.of_host(host):
        if process := find(started):
            process.send_signal(number)


def _wrong_clock(clock: str, record: Record, host: str) -> None:
    record.kill(host)
    programs.start(record, host, clock=clock)


def _isolate(record: Record, host: str) -> None:
    faults.isolate(record.hosts, host, name=_chain(host))


def _cut(others: tuple[str, ...], ways: str, record: Record, host: str) -> None:
    """`ways`: `both`; `deaf`, what the others send does not reach the host; `mute`, the other way round."""
    for other in others:
        if other != host:
            source, target = (other, host) if ways == "deaf" else (host, other)
            faults.cut(record.hosts, source, target, both=ways == "both", name=_chain(host))


def _rejoin(record: Record, host: str) -> None:
    faults.rejoin(_chain(host))


def _chain(host: str) -> str:
    """The cuts of one fault: no two faults hit the same host at a time."""
    return f"of_{host}"


def _promote(record: Record, _: str) -> None:
    """Kill the primary, whichever it is, and make the standby the primary."""
    record.kill(record.primary)
    databases.promote(record)


def _follow(record: Record, _: str) -> None:
    """The former primary becomes the standby, with a copy of the new one's data."""
    databases.follow(record, _silently)


def _slow(rate: str, record: Record, host: str) -> None:
    faults.slow(record.hosts, host, rate)


def _killed() -> Iterable[Fault]:
    for what, hosts in (
        ("a broker node is killed", BROKERS),
        ("a feed process is killed", FEED),
        ("an ingest process is killed", INGEST),
        ("a web process is killed", WEB),
        ("Redis is killed", (COUNTERS,)),
        ("a database server is killed", DATABASES),
    ):
        yield Fault(what, hosts, Record.kill, start, separate=False)
    for what, hosts in (
        ("a feed process is stopped", FEED),
        ("an ingest process is stopped", INGEST),
    ):
        stopped, resumed = partial(_signal, signal.SIGSTOP), partial(_signal, signal.SIGCONT)
        yield Fault(what, hosts, stopped, resumed, separate=False)
    for what, hosts in (("a feed", FEED), ("an ingest", INGEST), ("a web", WEB)):
        for clock, words in (("+30s", "30 s fast"), ("-30s", "30 s slow")):
            wrong = partial(_wrong_clock, clock)
            yield Fault(f"{what} process' clock is {words}", hosts, wrong, start, separate=False)


def _cut_off() -> Iterable[Fault]:
    for what, hosts in (
        ("a broker node", BROKERS),
        ("a feed process", FEED),
        ("an ingest process", INGEST),
        ("a web process", WEB),
        ("a database server", DATABASES),
    ):
        yield Fault(f"{what} is cut off from all", hosts, _isolate, _rejoin)
    for what, hosts, which, others in (
        ("a feed process", FEED, "the broker", BROKERS),
        ("a feed process", FEED, "the database", DATABASES),
        ("an ingest process", INGEST, "the broker", BROKERS),
        ("an ingest process", INGEST, "the database", DATABASES),
        ("a broker node", BROKERS, "the other nodes", BROKERS),
        ("a web process", WEB, "Redis", (COUNTERS,)),
    ):
        for ways, words in (
            ("both", f"and {which} are cut off"),
            ("deaf", f"hears nothing of {which}"),
            ("mute", f"is not heard by {which}"),
        ):
            yield Fault(f"{what} {words}", hosts, partial(_cut, others, ways), _rejoin)


def _slowed() -> Iterable[Fault]:
    for what, hosts, rate in (
        ("a broker node", BROKERS, "2mbit"),
        ("a feed process", FEED, "1mbit"),
        ("a database server", DATABASES, "4mbit"),
        ("a web process", WEB, "1mbit"),
    ):
        words = f"{what} sends {rate.removesuffix('mbit')} Mbit/s at most"
        yield Fault(words, hosts, partial(_slow, rate), lambda _, host: faults.speed_up(host))


_PROMOTED = Fault(
    "the primary is killed, the standby promoted",
    DATABASES[:1],
    _promote,
    _follow,
    separate=False,
    synchronous=True,
)
#: By name.
FAULTS = {fault.name: fault for fault in (*_killed(), *_cut_off(), *_slowed(), _PROMOTED)}
