"""The service's own status: incidents, announced maintenance, and what was measured each day."""

from piccolo.columns import BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Computed, Json


class Incident(Table, tablename="incident", db=DIALECT):
    """`domain.service_status.Incident`, one column per field; `updates` as JSON, `ended_at` is null while it
    is open."""

    id = Computed(primary_key=True)
    kind = Text()
    began_at = BigInt()
    ended_at = BigInt(null=True, default=None)
    updates = Json()


class Maintenance(Table, tablename="maintenance", db=DIALECT):
    """`domain.service_status.Maintenance`, one column per field; `parts` as JSON."""

    id = Computed(primary_key=True)
    begins_at = BigInt()
    ends_at = BigInt()
    text = Text()
    parts = Json()
    announced_at = BigInt()
    cancelled_at = BigInt(null=True, default=None)


class StatusObservation(Table, tablename="status_observation", db=DIALECT):
    """The one row (`id` 1): when a web process observed the status for the first time, and when last."""

    id = Integer(primary_key=True)
    first_at = BigInt()
    at = BigInt()


class DelayCount(Table, tablename="delay_count", db=DIALECT):
    """How many delays of a `figure` a process has counted on a day (`2031-04-02`) in each bucket
    (`domain.delays`), as JSON; `total` is their sum. The key is the first three."""

    day = Text(primary_key=True)
    process = Text()
    figure = Text()
    total = BigInt()
    counts = Json()


class StatusDay(Table, tablename="status_day", db=DIALECT):
    """The figures of a day that is over: `store.status_days.DayFigures` as JSON."""

    day = Text(primary_key=True)
    body = Json()
