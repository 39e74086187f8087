"""Views of the service's own status, and of the figures of a day beside what is promised."""

import msgspec

from app.domain.delays import Percentiles
from app.domain.ledger_tree import SignedHead
from app.domain.service_status import PART_TITLES, Incident, Maintenance, Part, PartState
from app.kit.clock import iso_millis
from app.wire.text import iso_time_millis


class PartView(msgspec.Struct, frozen=True):
    """A part of the service: `ok`, `maintenance` (announced, nothing else is known to be wrong), `degraded`
    or `down`."""

    part: str
    title: str
    state: PartState


class UpdateView(msgspec.Struct, frozen=True):
    """What became known at that time: `state` is that of the incident's parts from then on, null where only
    words were added."""

    at: str
    state: PartState | None
    text: str


class IncidentView(msgspec.Struct, frozen=True):
    """Something that was wrong from `began_at` until `ended_at` (null: it goes on), and with which parts;
    `updates`, oldest first: the last one says what is known now. `id` is null while it cannot be stored,
    because the database is away."""

    id: int | None
    kind: str
    parts: tuple[str, ...]
    state: PartState
    began_at: str
    ended_at: str | None
    updates: tuple[UpdateView, ...]


class MaintenanceView(msgspec.Struct, frozen=True):
    """Announced maintenance: from when until when these parts may not work, and why. `cancelled_at`: it does
    not take place, or ended then; null otherwise."""

    id: int
    begins_at: str
    ends_at: str
    parts: tuple[str, ...]
    text: str
    announced_at: str
    cancelled_at: str | None


class DelayView(msgspec.Struct, frozen=True):
    """How many there were, and within how many seconds 50, 95 and 99 in a hundred were done; null without
    any."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None


class PromisesView(msgspec.Struct, frozen=True):
    """What the figures of a day should be: `result_seconds` for 95 in a hundred results, `message_seconds`
    for 99 in a hundred messages, `recovery_seconds` for 99 in a hundred recoveries, `availability` of each
    part."""

    result_seconds: float
    message_seconds: float
    recovery_seconds: float
    availability: float


class DayView(msgspec.Struct, frozen=True):
    """The figures of a day (UTC). `complete`: it is over. `results`: from the arrival of the log lines that
    decided it until the broker confirmed the message with the result; `messages`: the same of every message.
    Delays are counted in buckets, and reported as the upper bound of one: at most a quarter too long.
    `availability`: the share of the day in which a part was not down. `kept`: whether each promise was kept,
    null where there was nothing to judge it by."""

    day: str
    complete: bool
    results: DelayView
    results_by_family: dict[str, DelayView]
    messages: DelayView
    recoveries: DelayView
    recoveries_failed: int
    availability: dict[str, float]
    kept: dict[str, bool | None]


class LedgerHeadView(msgspec.Struct, frozen=True):
    """The newest head of the signed ledger: its number, its hash, and when it was signed (Unix ms). Everybody
    sees the same one; compare it with yours."""

    number: int
    hash: str
    time: int


class StatusView(msgspec.Struct, frozen=True):
    """The status at `at`; `state` is the worst of a part. `incidents`: those that go on, and those of the
    last 30 days, the last one first. `maintenance`: what is announced, and that of the last 30 days.
    `days`: today and the last 30 days, newest first. `ledger_head` is null before the first one."""

    at: str
    state: PartState
    parts: tuple[PartView, ...]
    incidents: tuple[IncidentView, ...]
    maintenance: tuple[MaintenanceView, ...]
    promises: PromisesView
    days: tuple[DayView, ...]
    ledger_head: LedgerHeadView | None


def ledger_head_view(signed: SignedHead | None) -> LedgerHeadView | None:
    if signed is None:
        return None
    return LedgerHeadView(signed.head.number, signed.hash.hex(), signed.head.time)


def parts_view(states: dict[Part, PartState]) -> tuple[PartView, ...]:
    return tuple(PartView(part, PART_TITLES[part], states[part]) for part in Part)


def incident_view(one: Incident) -> IncidentView:
    return IncidentView(
        id=one.id or None,
        kind=one.kind,
        parts=one.parts,
        state=one.state,
        began_at=iso_millis(one.began_at),
        ended_at=iso_time_millis(one.ended_at),
        updates=tuple(UpdateView(iso_millis(each.at), each.state, each.text) for each in one.updates),
    )


def maintenance_view(one: Maintenance) -> MaintenanceView:
    return MaintenanceView(
        id=one.id,
        begins_at=iso_millis(one.begins_at),
        ends_at=iso_millis(one.ends_at),
        parts=one.parts,
        text=one.text,
        announced_at=iso_millis(one.announced_at),
        cancelled_at=iso_time_millis(one.cancelled_at),
    )


def delay_view(one: Percentiles) -> DelayView:
    return DelayView(one.count, one.p50, one.p95, one.p99)
