"""Samples of the delivery to tenants, one for each minute (`delivery_minute`).

A feed process writes the samples of its tenants once a minute. A row is of one lease, which only one process
has: so the rows of a minute in which a lease moved add up, and one that is written again is as it was.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Delete, Select
from piccolo.query.functions import Max, Sum

from app.store.prepared import reading_rows, writing
from app.store.sql import columns_of
from app.store.statements import writes
from app.store.tables.tenant import DeliveryMinute as MinuteTable
from app.store.transaction import Tx

RETAINED_MILLIS = 6 * 3_600_000
MINUTE_MILLIS = 60_000


class DeliveryMinute(msgspec.Struct):
    """What was published to a tenant under the lease of `epoch` in the minute that begins at `minute` (Unix
    ms): `published` live envelopes that the broker confirmed, the longest `lag` (ms) from the timestamp of
    one until its confirm or until now, the messages that the tenant's queues `dropped`, and the loss
    `notices` (`alive subscribed="0"`)."""

    tenant_id: UUID
    minute: int
    epoch: int
    published: int = 0
    lag: int = 0
    dropped: int = 0
    notices: int = 0


class MinuteTotal(msgspec.Struct, frozen=True, array_like=True):
    """`DeliveryMinute` of all leases of a tenant together."""

    minute: int
    published: int
    lag: int
    dropped: int
    notices: int


async def save(tx: Tx, samples: Collection[DeliveryMinute]) -> None:
    """Write samples. What is stored never falls: a statement whose caller has stopped waiting may be executed
    after a later one."""
    await tx.execute(writes.SAVE_DELIVERY_MINUTES, *columns_of(map(msgspec.structs.astuple, samples)))


@reading_rows(lambda row: MinuteTotal(**{name: int(value) for name, value in row.items()}))
def totals(tenant_id: UUID, since: int, /) -> Select[Any]:
    """The tenant's minutes from `since` (Unix ms) on, in order. One in which no process published to it has
    no row."""
    table = MinuteTable
    query = table.select(
        table.minute,
        Sum(table.published, alias="published"),
        Max(table.lag, alias="lag"),
        Sum(table.dropped, alias="dropped"),
        Sum(table.notices, alias="notices"),
    )
    query = query.where(table.tenant_id == tenant_id, table.minute >= since)
    return query.group_by(table.minute).order_by(table.minute)


@writing
def prune(before: int, /) -> Delete:
    """Delete the minutes before `before` (Unix ms); how many rows."""
    return MinuteTable.delete().where(MinuteTable.minute < before)
