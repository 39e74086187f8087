"""Observes the facts each second, begins, updates and ends incidents by them, and holds the present status in
memory: every web process does so.

While the database does not answer, the status of before stands, with an incident about that; it is written
when the database is back. When no web process has observed anything for a while, the next one to start writes
the incident about that.
"""

import asyncio

import msgspec

from app.domain.daily_files import DAY_MILLIS, day_of
from app.domain.ledger_tree import SignedHead
from app.domain.service_status import (
    Incident,
    IncidentKind,
    IncidentUpdate,
    Maintenance,
    Part,
    PartState,
    affected,
    part_states,
    worst,
)
from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.status import days, facts
from app.status.facts import Condition, HeartbeatMemory, Patience
from app.store import incidents, ledger, status_days
from app.store.connections import Store
from app.store.status_days import DayFigures
from app.store.transaction import Tx

_EVERY_SECONDS, _TIMEOUT_SECONDS = 1.0, 5.0
_GAP_MILLIS = 10_000  #: so long without an observation is an incident
_OUTAGE_MILLIS = 3_000  #: so long without the database is one, too
_STALE_MILLIS = 20_000  #: an observation takes five seconds at most, and is made each second
_DAYS_MILLIS = 60_000  #: how old figures may be
_SHOWN_MILLIS, _SHOWN_INCIDENTS, _SHOWN_MAINTENANCE = 30 * DAY_MILLIS, 100, 50
_RESOLVED = "Nothing is wrong any more."
_GAP = "No process of the service answered: no REST, no stream; game servers' logs were refused."
_AWAY = "The database does not answer. What this page knew last stands; requests are answered with 503."
_BACK = "The database answers again."
log = get_logger(__name__)


class StatusConfig(msgspec.Struct, frozen=True):
    """What the figures of a day should be: 95 in a hundred results and 99 in a hundred messages within so
    many seconds of the log lines behind them, 99 in a hundred recoveries within so many seconds of their
    request, and each part not down for this share of the day at least. Processes of a kind are dead when none
    has sent a heartbeat for `ingest_dead_seconds`; `alive_seconds` is between two `alive`."""

    promised_result_seconds: float
    promised_message_seconds: float
    promised_recovery_seconds: float
    promised_availability: float
    ingest_dead_seconds: int
    alive_seconds: int


class ServiceStatus(msgspec.Struct, frozen=True):
    """The status at `at` (Unix ms). Incidents: those that are open, and those that ended within 30 days, the
    last to begin first. Maintenance: what has not ended, or ended within 30 days. `days`: the figures of
    today, and of days before, newest first. `ledger_head`: the newest one of the signed ledger, None before
    the first."""

    at: int
    parts: dict[Part, PartState]
    incidents: tuple[Incident, ...]
    maintenance: tuple[Maintenance, ...]
    days: tuple[DayFigures, ...]
    ledger_head: SignedHead | None

    @property
    def state(self) -> PartState:
        """The worst state of a part."""
        return worst(self.parts.values())


class StatusMonitor:
    """Run it with `run`; what it promises is in `config`."""

    def __init__(self, store: Store, clock: Clock, config: StatusConfig) -> None:
        self.config = config
        self._store, self._clock = store, clock
        self._status: ServiceStatus | None = None
        self._patience, self._heartbeats = Patience(), HeartbeatMemory(clock)
        self._failing_since: int | None = None
        self._began = False
        self._days: tuple[DayFigures, ...] = ()
        self._days_at = 0

    @property
    def status(self) -> ServiceStatus:
        """The present status. Raises `Unavailable` before the first observation, and while there is none for
        an unknown reason: nothing old is passed off as present."""
        if self._status is None or self._clock() - self._status.at > _STALE_MILLIS:
            raise Unavailable("The status is not known now; try again.", retry_after=1)
        return self._status

    async def run(self) -> None:
        """Observe each second, until cancelled."""
        while True:
            await self.observe()
            await asyncio.sleep(_EVERY_SECONDS)

    async def observe(self) -> None:
        """Observe once."""
        now = self._clock()
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                self._status = await self._read(now)
            self._failing_since = None
        except (Unavailable, TimeoutError) as error:
            if self._failing_since is None:
                log.warning("the status cannot be read", error=str(error))
                self._failing_since = now
            self._note_outage(self._clock(), self._failing_since)

    async def _read(self, now: int) -> ServiceStatus:
        async with self._store.transaction() as tx:
            if self._failing_since is not None:
                self._heartbeats.begin_anew(now)
            opened = await incidents.opened(tx)
            found = await facts.read(tx, now, self.config.alive_seconds)
            found = self._heartbeats.complete(found, opened)
            wrong = self._patience.lasting(facts.conditions(found, now, self.config.ingest_dead_seconds), now)
            if not self._began or self._failing_since is not None or self._changes(opened, wrong, now):
                await incidents.lock(tx)
                await self._write_gaps(tx, now)
                opened = await self._write(tx, wrong, now)
            first_at = await incidents.observe(tx, now)
            if not 0 <= now - self._days_at < _DAYS_MILLIS or day_of(now) != day_of(self._days_at):
                stored = await status_days.days(tx, limit=days.RETAINED_DAYS)
                self._days = (*await days.so_far(tx, stored, first_at, now), *stored)
                self._days_at = now
            ended = await incidents.ended_since(tx, now - _SHOWN_MILLIS, limit=_SHOWN_INCIDENTS)
            maintenance = await incidents.maintenance_since(tx, now - _SHOWN_MILLIS, limit=_SHOWN_MAINTENANCE)
            head = await ledger.newest_head(tx)
        self._began = True
        listed = sorted((*opened, *ended), key=lambda each: each.began_at, reverse=True)
        states = part_states(opened, maintenance, now)
        return ServiceStatus(now, states, tuple(listed), tuple(maintenance), self._days, head)

    def _changes(self, opened: list[Incident], wrong: dict[IncidentKind, Condition], now: int) -> bool:
        """Whether an incident begins, becomes another one, or ends."""
        known = {each.kind: each for each in opened}
        begins = any(kind not in known or _differs(known[kind], one) for kind, one in wrong.items())
        return begins or any(self._patience.over_since(each, now) is not None for each in opened)

    async def _write(self, tx: Tx, wrong: dict[IncidentKind, Condition], now: int) -> list[Incident]:
        """Begin, update and end incidents, and return those that are open then."""
        known = {each.kind: each for each in await incidents.opened(tx)}
        for kind, one in wrong.items():
            update = IncidentUpdate(now, one.text, one.state)
            if kind not in known:
                await incidents.add(tx, Incident(0, kind, min(one.since, now), None, (update,)))
            elif _differs(known[kind], one):
                await incidents.save(tx, _updated(known[kind], update))
        for each in known.values():
            if (over_since := self._patience.over_since(each, now)) is not None:
                ended_at = max(over_since, each.updates[-1].at)
                update = IncidentUpdate(ended_at, _RESOLVED, PartState.OK)
                await incidents.save(tx, msgspec.structs.replace(_updated(each, update), ended_at=ended_at))
        return await incidents.opened(tx)

    async def _write_gaps(self, tx: Tx, now: int) -> None:
        """Write the incidents about the time in which nothing could be written."""
        if self._failing_since is not None and now - self._failing_since >= _OUTAGE_MILLIS:
            await _write_outage(tx, IncidentKind.DATABASE, self._failing_since, now, _AWAY, _BACK)
        observed_at = await incidents.observed_at(tx)
        if not self._began and observed_at and now - observed_at >= _GAP_MILLIS:
            await _write_outage(tx, IncidentKind.REST, observed_at, now, _GAP, "The service answers again.")

    def _note_outage(self, now: int, since: int) -> None:
        """The database has not answered since then: the status of before, with that incident. What else is
        open is not known to have ended."""
        if self._status is None or now - since < _OUTAGE_MILLIS:
            return
        away = Incident(
            0, IncidentKind.DATABASE, since, None, (IncidentUpdate(since, _AWAY, PartState.DOWN),)
        )
        before = [each for each in self._status.incidents if each.id]
        parts = dict(self._status.parts)
        for part in affected(away.kind, away.state):
            parts[part] = PartState.DOWN
        self._status = msgspec.structs.replace(self._status, at=now, parts=parts, incidents=(away, *before))


async def _write_outage(tx: Tx, kind: IncidentKind, begin: int, end: int, what: str, after: str) -> None:
    """Write an incident that is over. If another process has written one of that time, that is extended: what
    one of them observed as an outage is one."""
    ended = await incidents.ended_since(tx, begin, limit=_SHOWN_INCIDENTS)
    for each in ended:
        if each.kind is kind:
            over = each.said
            last = max(over.at, end)
            updates = tuple(
                msgspec.structs.replace(one, at=last) if one is over else one for one in each.updates
            )
            began_at = min(each.began_at, begin)
            longer = msgspec.structs.replace(each, began_at=began_at, ended_at=last, updates=updates)
            await incidents.save(tx, longer)
            return
    updates = IncidentUpdate(begin, what, PartState.DOWN), IncidentUpdate(end, after, PartState.OK)
    await incidents.add(tx, Incident(0, kind, begin, end, updates))


def _differs(one: Incident, condition: Condition) -> bool:
    """Whether the condition is another one than the incident says."""
    return (one.said.state, one.said.text) != (condition.state, condition.text)


def _updated(one: Incident, update: IncidentUpdate) -> Incident:
    return msgspec.structs.replace(one, updates=(*one.updates, update))
