"""Incidents of the service and announced maintenance, as the status shows them; and when the status was
observed.

Several web processes observe the same facts. What changes because of them is changed under `lock`, so that an
incident begins and ends once.
"""

from typing import Any

import msgspec
from piccolo.query import Delete, Select

from app.domain.service_status import Incident, IncidentKind, IncidentUpdate, Maintenance, Part
from app.kit.logging import get_logger
from app.store.prepared import reading_optional_number, reading_row, reading_rows, writing
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import literals
from app.store.statements import server, writes
from app.store.tables.status import Incident as IncidentTable
from app.store.tables.status import Maintenance as MaintenanceTable
from app.store.tables.status import StatusObservation
from app.store.transaction import Tx

_LOCK = 7232657
_encode = msgspec.json.Encoder().encode
_UPDATES = Stored(_encode, msgspec.json.Decoder(tuple[IncidentUpdate, ...]).decode)
_PARTS = Stored(_encode, msgspec.json.Decoder(tuple[Part, ...]).decode)
_INCIDENTS = RowMapping(IncidentTable, Incident, stored={"updates": _UPDATES})
_MAINTENANCE = RowMapping(MaintenanceTable, Maintenance, stored={"parts": _PARTS})
_KNOWN = IncidentTable.kind.is_in(literals(list(IncidentKind)))  # a newer version may have written others
log = get_logger(__name__)


async def lock(tx: Tx) -> None:
    """Wait until no other transaction changes incidents."""
    await tx.execute(server.LOCK, _LOCK)


@reading_rows(_INCIDENTS.read)
def opened() -> Select[Any]:
    """The open incidents, oldest first."""
    query = IncidentTable.select(*_INCIDENTS.columns).where(_KNOWN, IncidentTable.ended_at.is_null())
    return query.order_by(IncidentTable.id)


@reading_rows(_INCIDENTS.read)
def ended_since(since: int, /, *, limit: int) -> Select[Any]:
    """The newest `limit` incidents that ended from `since` (Unix ms) on, the last one to end first."""
    query = IncidentTable.select(*_INCIDENTS.columns).where(_KNOWN, IncidentTable.ended_at >= since)
    return query.order_by(IncidentTable.ended_at, IncidentTable.id, ascending=False).limit(limit)


@reading_row(_INCIDENTS.read)
def incident(incident_id: int, /) -> Select[Any]:
    """The incident with that id, locked until the transaction ends; None without one."""
    query = IncidentTable.select(*_INCIDENTS.columns).where(IncidentTable.id == incident_id, _KNOWN)
    return query.lock_rows("UPDATE")


async def add(tx: Tx, new: Incident) -> None:
    """Store an incident, open or ended; its `id` is the next one."""
    row = IncidentTable(
        kind=new.kind, began_at=new.began_at, ended_at=new.ended_at, updates=_encode(new.updates)
    )
    await tx.change(IncidentTable.insert(row))
    log.warning("incident", kind=str(new.kind), since=new.began_at, text=new.updates[0].text)


async def save(tx: Tx, one: Incident) -> None:
    """Write what has changed of an incident."""
    await tx.change(_INCIDENTS.update(one, "began_at", "ended_at", "updates"))
    log.info("incident updated", kind=str(one.kind), incident=one.id, text=one.updates[-1].text)


@writing
def prune(before: int, /) -> Delete:
    """Delete the incidents that ended before then (Unix ms); how many."""
    return IncidentTable.delete().where(IncidentTable.ended_at < before)


@reading_rows(_MAINTENANCE.read)
def maintenance_since(since: int, /, *, limit: int) -> Select[Any]:
    """Announced maintenance that ends after `since` (Unix ms), cancelled or not, by its beginning."""
    query = MaintenanceTable.select(*_MAINTENANCE.columns).where(MaintenanceTable.ends_at > since)
    return query.order_by(MaintenanceTable.begins_at, MaintenanceTable.id).limit(limit)


@reading_row(_MAINTENANCE.read)
def maintenance(maintenance_id: int, /) -> Select[Any]:
    """The maintenance with that id, locked until the transaction ends; None without one."""
    query = MaintenanceTable.select(*_MAINTENANCE.columns).where(MaintenanceTable.id == maintenance_id)
    return query.lock_rows("UPDATE")


async def announce(tx: Tx, new: Maintenance) -> Maintenance:
    """Store maintenance; returns it with its id."""
    row = MaintenanceTable(
        begins_at=new.begins_at,
        ends_at=new.ends_at,
        text=new.text,
        parts=_encode(new.parts),
        announced_at=new.announced_at,
    )
    number = await tx.one_value(MaintenanceTable.insert(row).returning(MaintenanceTable.id))
    return msgspec.structs.replace(new, id=number)


async def save_maintenance(tx: Tx, one: Maintenance) -> None:
    """Write whether it is cancelled."""
    await tx.change(_MAINTENANCE.update(one, "cancelled_at"))


@writing
def prune_maintenance(before: int, /) -> Delete:
    """Delete maintenance that ended before then (Unix ms); how many."""
    return MaintenanceTable.delete().where(MaintenanceTable.ends_at < before)


async def observe(tx: Tx, now: int) -> int:
    """Record that a process observes the status at `now` (Unix ms); returns when one did for the first
    time."""
    first: int = await tx.value(writes.OBSERVE_STATUS, now)
    return first


@reading_optional_number
def observed_at() -> Select[Any]:
    """When a process observed the status last (Unix ms); None if none ever did."""
    return StatusObservation.select(StatusObservation.at)


@reading_optional_number
def observed_since() -> Select[Any]:
    """When a process observed the status for the first time (Unix ms); None if none ever did."""
    return StatusObservation.select(StatusObservation.first_at)
