"""What is wrong with the service now, by what its processes record in the database."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from app.domain.service_status import Incident, IncidentKind, PartState
from app.store import alerts, cursors, heartbeats, listings
from app.store.alerts import AlertKind
from app.store.transaction import Tx

DEGRADED, DOWN = PartState.DEGRADED, PartState.DOWN
_LATE_MILLIS = 5_000  #: a message that waits for longer is late
_WEB_MILLIS = 5_000  #: a web process that announced itself within this time is alive
_LEAST_SILENT = 2  #: matches
_SHORT_MILLIS, _START_MILLIS = 2_000, 10_000  #: a blip; the start of a feed process
#: An incident is over when nothing has been wrong for so long: longer than messages wait until they are late,
#: or an outage in which there are few would be several.
_OVER_MILLIS = 8_000


class Condition(NamedTuple):
    """Something that is wrong since `since` (Unix ms), and what an incident says of it. It is one once the
    condition has lasted for so many ms."""

    kind: IncidentKind
    state: PartState
    text: str
    since: int
    lasting: int = 0


class Facts(msgspec.Struct, frozen=True):
    """What the database says. `ingest_at` and `feed_at`: the newest heartbeat of a process of the kind (Unix
    ms). Pairs are how many, and of how many: tenants that wait for a late message, tenants that have received
    no `alive` for twice its interval, web processes that do not reach the broker, matches in play whose log
    source is silent."""

    ingest_at: int
    feed_at: int
    late: tuple[int, int] = (0, 0)
    without_alive: tuple[int, int] = (0, 0)
    without_broker: tuple[int, int] = (0, 0)
    silent: tuple[int, int] = (0, 0)


async def read(tx: Tx, now: int, alive_seconds: int) -> Facts:
    """The facts at `now` (Unix ms)."""
    web = await heartbeats.alive_since(tx, heartbeats.WEB, now - _WEB_MILLIS)
    open_alerts, live = await alerts.open_count(tx), len(await listings.live_versions(tx))
    return Facts(
        ingest_at=await heartbeats.latest(tx, heartbeats.INGEST),
        feed_at=await heartbeats.latest(tx, heartbeats.FEED),
        late=await cursors.late_count(tx, _LATE_MILLIS),
        without_alive=await cursors.silent_count(tx, 2 * alive_seconds * 1000),
        without_broker=(sum(not reached for reached in web.values()), len(web)),
        silent=(min(live, open_alerts.get(AlertKind.SILENT_SOURCE, 0)), live),
    )


def conditions(facts: Facts, now: int, dead_seconds: int) -> Iterable[Condition]:
    """What is wrong, by these facts at `now` (Unix ms): at most one condition of a kind, the worst."""
    dead_millis = dead_seconds * 1000
    if now - facts.ingest_at >= dead_millis:
        text = "No process applies logs. Every market is suspended; logs wait and are not lost."
        yield Condition(IncidentKind.INGEST, DOWN, text, facts.ingest_at)
    if now - facts.feed_at >= dead_millis:
        text = "No process publishes messages over AMQP. REST and the stream are not affected."
        yield Condition(IncidentKind.FEED, DOWN, text, facts.feed_at)
    elif _most(facts.late):
        text = "Messages over AMQP are more than five seconds late for most tenants."
        yield Condition(IncidentKind.FEED, DEGRADED, text, now - _LATE_MILLIS)
    elif _most(facts.without_alive):
        text = "Most tenants receive no alive: their clients count the producer as down."
        yield Condition(IncidentKind.FEED, DEGRADED, text, now, _START_MILLIS)
    if _most(facts.without_broker):
        text = "The message broker does not answer: nothing is published, and game servers' logs are refused."
        yield Condition(IncidentKind.BROKER, DOWN, text, now, _SHORT_MILLIS)
    if _most(facts.silent) and facts.silent[0] >= _LEAST_SILENT:
        text = "The game servers of most matches in play send nothing; these matches are suspended."
        yield Condition(IncidentKind.SOURCES, DEGRADED, text, now, _SHORT_MILLIS)


def _most(found: tuple[int, int]) -> bool:
    some, of_all = found
    return some > of_all / 2


class Patience:
    """Passes on the conditions that have held for long enough, each with when it began, and remembers for how
    long a kind has had none."""

    def __init__(self) -> None:
        self._since: dict[IncidentKind, int] = {}
        self._absent: dict[IncidentKind, int] = {}

    def lasting(self, found: Iterable[Condition], now: int) -> dict[IncidentKind, Condition]:
        """The conditions of this moment that are incidents."""
        present = {each.kind: each for each in found}
        self._since = {kind: self._since.get(kind, one.since) for kind, one in present.items()}
        self._absent = {kind: self._absent.get(kind, now) for kind in IncidentKind if kind not in present}
        return {
            kind: one._replace(since=self._since[kind])
            for kind, one in present.items()
            if now - self._since[kind] >= one.lasting
        }

    def over_since(self, one: Incident, now: int) -> int | None:
        """Since when (Unix ms) the kind of an incident has had no condition; None while that may be a moment
        only. It is over so long after its last state, too: another process, whose clock may be ahead of ours,
        has seen its condition then, and we may not have seen it yet."""
        since = self._absent.get(one.kind)
        if since is None or now - max(since, one.said.at) < _OVER_MILLIS:
            return None
        return since


class HeartbeatMemory:
    """The newest heartbeat that this process has seen of each kind, for one that ends in good order deletes
    its own. Before the first one, time counts from our own start. While an incident says that none is alive,
    only a heartbeat ends that, and no start of a web process."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._seen = {IncidentKind.INGEST: 0, IncidentKind.FEED: 0}
        self._began, self._anew = clock(), 0

    def begin_anew(self, now: int) -> None:
        """The database was away until `now` (Unix ms): heartbeats could not be written, and time counts from
        now."""
        self._anew = now

    def complete(self, facts: Facts, opened: Iterable[Incident]) -> Facts:
        """The facts with the newest heartbeats that were ever seen; `opened` are the open incidents."""
        for kind, at in ((IncidentKind.INGEST, facts.ingest_at), (IncidentKind.FEED, facts.feed_at)):
            self._seen[kind] = max(self._seen[kind], at)
        down = {one.kind: one.began_at for one in opened if one.state is DOWN}
        newest = {
            kind: max(seen, down[kind]) if kind in down else max(seen, self._anew) or self._began
            for kind, seen in self._seen.items()
        }
        return msgspec.structs.replace(
            facts, ingest_at=newest[IncidentKind.INGEST], feed_at=newest[IncidentKind.FEED]
        )
