"""The service's own status: its parts, the incidents that concern them, announced maintenance.

An incident is about one `IncidentKind`; at most one of a kind is open. It says no match's, tenant's or host's
name, and an alert that concerns one tenant alone is none. Its updates are what became known, oldest first:
the last one is its state.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec


class Part(StrEnum):
    """What clients use, and the two servers that all of it rests on."""

    REST = "rest"
    STREAM = "stream"
    FEED = "feed"
    RECOVERIES = "recoveries"
    PRICES = "prices"
    LOGS = "logs"
    DATABASE = "database"
    BROKER = "broker"


class PartState(StrEnum):
    """From best to worst. `maintenance`: announced, and nothing else is known to be wrong."""

    OK = "ok"
    MAINTENANCE = "maintenance"
    DEGRADED = "degraded"
    DOWN = "down"


class IncidentKind(StrEnum):
    """What an incident is about."""

    REST = "rest"
    DATABASE = "database"
    BROKER = "broker"
    INGEST = "ingest"
    FEED = "feed"
    SOURCES = "sources"


PART_TITLES = {
    Part.REST: "REST and the XML facade",
    Part.STREAM: "Stream: WebSocket, server-sent events, changes over HTTP",
    Part.FEED: "Feed: messages over AMQP",
    Part.RECOVERIES: "Recoveries",
    Part.PRICES: "Prices and results",
    Part.LOGS: "Reception of game servers' logs",
    Part.DATABASE: "Database",
    Part.BROKER: "Message broker",
}
KIND_TITLES = {
    IncidentKind.REST: "The service did not answer",
    IncidentKind.DATABASE: "The database was not reached",
    IncidentKind.BROKER: "The message broker was not reached",
    IncidentKind.INGEST: "Logs were not processed",
    IncidentKind.FEED: "Messages over AMQP were late or missing",
    IncidentKind.SOURCES: "Most game servers were silent",
}
#: The parts that an incident of the kind makes `down`, and those that it makes `degraded`.
_DOWN = {
    IncidentKind.REST: (Part.REST, Part.STREAM, Part.LOGS),
    IncidentKind.DATABASE: (
        *(Part.REST, Part.STREAM, Part.FEED, Part.RECOVERIES, Part.PRICES),
        Part.DATABASE,
    ),
    IncidentKind.BROKER: (Part.FEED, Part.RECOVERIES, Part.LOGS, Part.BROKER),
    IncidentKind.INGEST: (Part.PRICES,),
    IncidentKind.FEED: (Part.FEED, Part.RECOVERIES),
    IncidentKind.SOURCES: (),
}
_DEGRADED = {
    IncidentKind.FEED: (Part.FEED,),
    IncidentKind.SOURCES: (Part.PRICES,),
    IncidentKind.BROKER: (Part.FEED, Part.LOGS, Part.BROKER),
}
_ORDER = tuple(PartState)


class IncidentUpdate(msgspec.Struct, frozen=True):
    """What became known at `at` (Unix ms): the `state` of the parts from then on, `ok` where the incident
    ended, None where only words were added. `by`: the operator who wrote it, "" for the service itself; it is
    not published."""

    at: int
    text: str
    state: PartState | None = None
    by: str = ""


class Incident(msgspec.Struct, frozen=True):
    """From when until when (Unix ms, None while it is open) something was wrong. `id` is 0 while it is not
    stored yet."""

    id: int
    kind: IncidentKind
    began_at: int
    ended_at: int | None
    updates: tuple[IncidentUpdate, ...]

    @property
    def state(self) -> PartState:
        """The present state of its parts."""
        return self._states()[-1][1]

    @property
    def said(self) -> IncidentUpdate:
        """The last update that says the state of its parts."""
        return [each for each in self.updates if each.state is not None][-1]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that it concerned at any time, in the order of `Part`."""
        found = {part for _, state in self._states() for part in affected(self.kind, state)}
        return tuple(part for part in Part if part in found)

    def down(self, part: Part, until: int) -> list[tuple[int, int]]:
        """The intervals (Unix ms) in which the part was down, up to `until` at most."""
        states = self._states()
        ends = [*(at for at, _ in states[1:]), until if self.ended_at is None else self.ended_at]
        return [
            (at, min(end, until))
            for (at, state), end in zip(states, ends, strict=True)
            if state is PartState.DOWN and part in _DOWN[self.kind] and at < min(end, until)
        ]

    def _states(self) -> list[tuple[int, PartState]]:
        """Each state with when it began. The first one holds since the incident's beginning."""
        found = [(each.at, each.state) for each in self.updates if each.state is not None]
        return [(self.began_at, found[0][1]), *found[1:]]


class Maintenance(msgspec.Struct, frozen=True):
    """What operators announced: from when until when (Unix ms) these parts may not work, and why."""

    id: int
    begins_at: int
    ends_at: int
    text: str
    parts: tuple[Part, ...]
    announced_at: int
    cancelled_at: int | None = None

    def covers(self, part: Part, now: int) -> bool:
        return part in self.parts and self.cancelled_at is None and self.begins_at <= now < self.ends_at


def affected(kind: IncidentKind, state: PartState) -> tuple[Part, ...]:
    """The parts that an incident of the kind concerns in this state."""
    if state is PartState.DOWN:
        return _DOWN[kind]
    return _DEGRADED.get(kind, ()) if state is PartState.DEGRADED else ()


def part_states(
    incidents: Iterable[Incident], maintenance: Sequence[Maintenance], now: int
) -> dict[Part, PartState]:
    """The state of each part at `now` (Unix ms): the worst that an open incident says."""
    found = {
        part: PartState.MAINTENANCE if any(each.covers(part, now) for each in maintenance) else PartState.OK
        for part in Part
    }
    for each in incidents:
        if each.ended_at is None:
            for part in affected(each.kind, each.state):
                found[part] = worst((found[part], each.state))
    return found


def worst(states: Iterable[PartState]) -> PartState:
    """The worst of these states; `ok` without any."""
    return max(states, key=_ORDER.index, default=PartState.OK)


def down_millis(incidents: Iterable[Incident], part: Part, begin: int, end: int) -> int:
    """For how many ms of [begin, end) the part was down, whichever incidents say so."""
    intervals = sorted(interval for each in incidents for interval in each.down(part, end))
    total, reached = 0, begin
    for since, until in intervals:
        total += max(0, until - max(since, reached))
        reached = max(reached, until)
    return total
