"""The present status as it is published: views, and bodies that are rendered once for all."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, TypeVar

import msgspec

from app.domain.daily_files import last_complete_day
from app.domain.delays import Percentiles
from app.domain.service_status import Part
from app.kit.clock import iso_millis
from app.status.monitor import ServiceStatus, StatusConfig, StatusMonitor
from app.store.status_days import DayFigures
from app.wire.views.meta import ListMeta, Many, Single
from app.wire.views.status import (
    DayView,
    PromisesView,
    StatusView,
    delay_view,
    incident_view,
    ledger_head_view,
    maintenance_view,
    parts_view,
)

T = TypeVar("T")
CACHING = "public, max-age=5"  #: anybody may store it for so long
_LISTED_DAYS = 31
_encode = msgspec.json.Encoder().encode


class RenderedOnce(Generic[T]):
    """What `render` makes of the present status, made again only once there is another one."""

    def __init__(self, monitor: StatusMonitor, render: Callable[[StatusView], T]) -> None:
        self._monitor, self._render = monitor, render
        self._made: tuple[ServiceStatus, T] | None = None

    def get(self) -> T:
        """Raises `Unavailable` before the first observation."""
        status = self._monitor.status
        if self._made is None or self._made[0] is not status:
            self._made = status, self._render(status_view(status, self._monitor.config))
        return self._made[1]


class JsonText(msgspec.Struct, frozen=True):
    """A body, and a tag that is the same while only the moment of rendering differs."""

    body: bytes
    tag: str


def render_status(view: StatusView) -> JsonText:
    """`GET /v1/status`."""
    return JsonText(_encode(Single(view)), _tag(msgspec.structs.replace(view, at="")))


class StatusTexts:
    """The bodies of the addresses of REST."""

    def __init__(self, monitor: StatusMonitor) -> None:
        self._monitor = monitor
        self._status = RenderedOnce(monitor, render_status)
        self._days: tuple[tuple[DayFigures, ...], JsonText] | None = None

    def status(self) -> JsonText:
        """`GET /v1/status`. Raises `Unavailable` before the first observation."""
        return self._status.get()

    def days(self) -> JsonText:
        """`GET /v1/status/days`: rendered once a minute. Raises `Unavailable` likewise."""
        status = self._monitor.status
        days = status.days
        if self._days is None or self._days[0] is not days:
            views = day_views(days, status.at, self._monitor.config)
            self._days = days, JsonText(_encode(Many(views, ListMeta(len(views)))), _tag(views))
        return self._days[1]


def status_view(status: ServiceStatus, promises: StatusConfig) -> StatusView:
    return StatusView(
        at=iso_millis(status.at),
        state=status.state,
        parts=parts_view(status.parts),
        incidents=tuple(map(incident_view, status.incidents)),
        maintenance=tuple(map(maintenance_view, status.maintenance)),
        promises=PromisesView(
            result_seconds=promises.promised_result_seconds,
            message_seconds=promises.promised_message_seconds,
            recovery_seconds=promises.promised_recovery_seconds,
            availability=promises.promised_availability,
        ),
        days=day_views(status.days[:_LISTED_DAYS], status.at, promises),
        ledger_head=ledger_head_view(status.ledger_head),
    )


def day_views(days: tuple[DayFigures, ...], now: int, promises: StatusConfig) -> tuple[DayView, ...]:
    """The days as they are shown at `now` (Unix ms): those that are over are complete."""
    last = str(last_complete_day(now))
    return tuple(_day(each, promises, complete=each.day <= last) for each in days)


def _day(day: DayFigures, promises: StatusConfig, *, complete: bool) -> DayView:
    availability = {part: round(day.availability(part), 6) for part in Part}
    recoveries = day.recoveries.completed
    return DayView(
        day=day.day,
        complete=complete,
        results=delay_view(day.results),
        results_by_family={family: delay_view(each) for family, each in day.results_by_family.items()},
        messages=delay_view(day.messages),
        recoveries=delay_view(recoveries),
        recoveries_failed=day.recoveries.failed,
        availability={str(part): share for part, share in availability.items()},
        kept={
            "results": _within(day.results, day.results.p95, promises.promised_result_seconds),
            "messages": _within(day.messages, day.messages.p99, promises.promised_message_seconds),
            "recoveries": _within(recoveries, recoveries.p99, promises.promised_recovery_seconds),
            "availability": min(availability.values()) >= promises.promised_availability,
        },
    )


def _within(of: Percentiles, seconds: float | None, promised: float) -> bool | None:
    return None if seconds is None or not of.count else seconds <= promised


def _tag(content: object) -> str:
    return blake2b(_encode(content), digest_size=16).hexdigest()
