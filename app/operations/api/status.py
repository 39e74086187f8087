"""What operators add to the status of the service, under /ops/v1: maintenance, and words on incidents."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from app.domain.service_status import Part
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.operations.api.dependencies import (
    LIMITED,
    OPERATOR,
    Limit,
    Operators,
    audit_fields,
    invalid_in_body,
)
from app.status import announcements
from app.status.announcements import Words
from app.store import incidents
from app.wire.views.meta import Many, Single, many
from app.wire.views.status import IncidentView, MaintenanceView, incident_view, maintenance_view

_MAINTENANCE = "/ops/v1/maintenance"
_Moment = Annotated[datetime, Meta(tz=True)]


class NewMaintenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From when until when (ISO 8601 with an offset) these parts may not work, and what clients shall read of
    it."""

    begins_at: _Moment
    ends_at: _Moment
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
    text: Words


class NewWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What clients shall read."""

    text: Words


@post(_MAINTENANCE, opt=OPERATOR, status_code=201)
async def announce_maintenance(
    request: AuthenticatedRequest, ops: Operators, data: JSONBody[NewMaintenance]
) -> Single[MaintenanceView]:
    """Announce maintenance: anybody reads it at /status from now on."""
    times = _millis(data.begins_at), _millis(data.ends_at)
    with invalid_in_body():
        async with ops.store.transaction() as tx:
            made = await announcements.announce(
                tx, *times, data.parts, data.text, **audit_fields(request, ops.clock)
            )
    return Single(maintenance_view(made))


@get(_MAINTENANCE, opt=LIMITED)
async def show_maintenance(ops: Operators, limit: Limit = 100) -> Many[MaintenanceView]:
    """Maintenance that is announced, goes on, or is over, by its beginning."""
    async with ops.store.autocommit() as tx:
        found = await incidents.maintenance_since(tx, 0, limit=limit)
    return many(map(maintenance_view, found))


@post(f"{_MAINTENANCE}/{{maintenance_id:int}}/cancel", opt=OPERATOR, status_code=200)
async def cancel_maintenance(
    request: AuthenticatedRequest, ops: Operators, maintenance_id: FromPath[int]
) -> Single[MaintenanceView]:
    """Cancel announced maintenance, or end it before its time."""
    async with ops.store.transaction() as tx:
        found = await announcements.cancel(tx, maintenance_id, **audit_fields(request, ops.clock))
    return Single(maintenance_view(found))


@get("/ops/v1/incidents", opt=LIMITED)
async def show_incidents(ops: Operators, limit: Limit = 100) -> Many[IncidentView]:
    """Incidents as anybody reads them at /status: those that go on, then the ended ones, newest first."""
    async with ops.store.autocommit() as tx:
        found = [*await incidents.opened(tx), *await incidents.ended_since(tx, 0, limit=limit)]
    return many(map(incident_view, found[:limit]))


@post("/ops/v1/incidents/{incident_id:int}/notes", opt=OPERATOR, status_code=200)
async def note_incident(
    request: AuthenticatedRequest, ops: Operators, incident_id: FromPath[int], data: JSONBody[NewWords]
) -> Single[IncidentView]:
    """Add words to an incident; they are published at once."""
    with invalid_in_body():
        async with ops.store.transaction() as tx:
            noted = await announcements.note(tx, incident_id, data.text, **audit_fields(request, ops.clock))
    return Single(incident_view(noted))


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
