"""What can break on a cluster, and how it is mended: processes and servers are killed, stopped or have a
wrong clock; hosts are cut off, one way or both, or slowed down.

Cuts are made by nftables, slow links by a token bucket, wrong clocks by `faketime`. A fault of one kind hits
one of its hosts (`FAULTS`); `Breakage` breaks and mends beside everything else that goes on.
"""

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from scripts.lab import brokers, databases, programs
from scripts.lab.hosts import ALL, BROKERS, COUNTERS, DATABASES, FEED, INGEST, WEB, namespace
from scripts.lab.record import Record
from scripts.local_services.processes import ServiceError, find

_TABLE = "inet matchfeed"
#: Nodes that reach each other again notice within so long that they were separated. On a busy machine one may
#: pause only then, and it begins again by itself.
_RECONNECT_SECONDS, _REUNITE_SECONDS = 3.0, 300.0
_CLEAN_LOOKS = 2  #: so often in turn all nodes answer, and none is separated
_PAUSED_SECONDS = 60.0  #: a node that does not answer for so long does not begin again by itself

Act = Callable[[Record, str], None]


def cut(record: Record, source: str, target: str, *, both: bool = True, of: str = "") -> None:
    """Drop everything that `source` sends to `target`; with `both`, and the other way. The cut is one `of` a
    host (of `source`, if none is named), which `rejoin` ends."""
    _require_separate(record)
    chain = _chain(of or source)
    _drop(target, record.hosts.address(source), chain)
    if both:
        _drop(source, record.hosts.address(target), chain)


def isolate(record: Record, host: str) -> None:
    """Cut a host off from all others."""
    for other in ALL:
        if other != host:
            cut(record, host, other)


def cut_off(others: Sequence[str], ways: str, record: Record, host: str) -> None:
    """`ways`: `both`; `deaf`, what the others send does not reach the host; `mute`, the other way round."""
    for other in others:
        if other != host:
            source, target = (other, host) if ways == "deaf" else (host, other)
            cut(record, source, target, both=ways == "both", of=host)


def rejoin(_: Record, host: str) -> None:
    """End the cuts of this host; others stay: no two faults hit the same host at a time."""
    for each in ALL:
        chain = _chain(host)
        _nft(each, f"add table {_TABLE}; add {chain}; flush {chain}; delete {chain}")


def heal(record: Record) -> None:
    """End every cut and every slow link."""
    _require_separate(record)
    for host in ALL:
        _nft(host, f"add table {_TABLE}; delete table {_TABLE}")
        speed_up(record, host)


def slow(rate: str, record: Record, host: str) -> None:
    """Limit what a host sends to `rate` (such as `1mbit`), with a queue of 400 ms."""
    _require_separate(record)
    _tc(host, "replace", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")


def speed_up(_: Record, host: str) -> None:
    """End the slow link of a host."""
    _tc(host, "del", check=False)


def _chain(host: str) -> str:
    return f"chain {_TABLE} of_{host}"


def _drop(at: str, sender: str, chain: str) -> None:
    hook = "{ type filter hook input priority 0; }"
    added = chain.removeprefix("chain ")
    _nft(at, f"add table {_TABLE}; add {chain} {hook}; add rule {added} ip saddr {sender} drop")


def _require_separate(record: Record) -> None:
    if not record.separate:
        raise ServiceError("the hosts are addresses of loopback, which cannot be cut off; run as root")


def _nft(host: str, commands: str) -> None:
    _run(["ip", "netns", "exec", namespace(host), "nft", commands])


def _tc(host: str, action: str, *what: str, check: bool = True) -> None:
    command = ["tc", "-n", namespace(host), "qdisc", action, "dev", "eth0", "root", *what]
    _run(command, check=check)


def _run(command: list[str], *, check: bool = True) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise ServiceError(f"{' '.join(command)}: {done.stderr.strip()}")


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


def _promote(record: Record, _: str) -> None:
    """Kill the primary, whichever it is, and make the standby the primary."""
    record.kill(record.primary)
    databases.promote(record)


def _follow(record: Record, _: str) -> None:
    """The former primary becomes the standby, with a copy of the new one's data."""
    databases.follow(record, _silently)


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
        yield Fault(f"{what} is cut off from all", hosts, isolate, rejoin)
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
            yield Fault(f"{what} {words}", hosts, partial(cut_off, others, ways), rejoin)


def _slowed() -> Iterable[Fault]:
    for what, hosts, rate in (
        ("a broker node", BROKERS, "2mbit"),
        ("a feed process", FEED, "1mbit"),
        ("a database server", DATABASES, "4mbit"),
        ("a web process", WEB, "1mbit"),
    ):
        words = f"{what} sends {rate.removesuffix('mbit')} Mbit/s at most"
        yield Fault(words, hosts, partial(slow, rate), speed_up)


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


class Breakage:
    """`failures`: what could not be broken or mended; `mended`: when the last fault was (Unix seconds)."""

    def __init__(self, record: Record) -> None:
        self.failures = list[str]()
        self.mended = time.time()
        self._record = record

    async def hit(self, fault: Fault, host: str, seconds: float) -> None:
        """Break, wait, mend, also when it is cancelled; returns when that is mended."""
        await self._act(f"breaking: {fault.name}", fault.breaks, host)
        try:
            await asyncio.sleep(seconds)
        finally:
            await self._act(f"mending: {fault.name}", fault.mends, host)
            if host in BROKERS:
                await self._reunite()
            self.mended = time.time()

    async def restart(self) -> None:
        """Start again what has ended: an earlier run may have left it so."""
        ended = [each for each in self._record.processes if not find(each)]
        hosts = {each.name.partition("/")[0] for each in ended}
        self._record.end(ended)
        for host in (*BROKERS, *DATABASES, COUNTERS, *WEB, *INGEST, *FEED):
            if host in hosts or not self._record.of_host(host):
                await self._act("starting again", start, host)

    async def _reunite(self) -> None:
        """As operators do by docs/scaling.md."""
        deadline, clean = time.monotonic() + _REUNITE_SECONDS, 0
        silent = dict[str, float]()  #: since when nodes have not answered
        while clean < _CLEAN_LOOKS:
            await asyncio.sleep(_RECONNECT_SECONDS)
            now = time.monotonic()
            if now > deadline:
                self.failures.append(f"the broker's nodes are not together after {_REUNITE_SECONDS:.0f} s")
                return
            silent = {host: silent.get(host, now) for host in await asyncio.to_thread(self._silent)}
            if silent:
                host = next((host for host, since in silent.items() if now - since > _PAUSED_SECONDS), "")
            else:
                host = await asyncio.to_thread(brokers.separated, self._record)
            clean = 0 if silent or host else clean + 1
            if host:
                silent.pop(host, None)
                await asyncio.to_thread(self._record.kill, host)
                await self._act("restarting a node that is separated or paused", start, host)

    def _silent(self) -> list[str]:
        return [host for host in BROKERS if not brokers.answers(self._record, host)]

    async def _act(self, what: str, act: Act, host: str) -> None:
        try:
            await asyncio.to_thread(act, self._record, host)
        except ServiceError as error:
            self.failures.append(f"{what} ({host}): {error}")
