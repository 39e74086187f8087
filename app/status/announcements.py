"""What operators add to the status: maintenance, and words on incidents; each is audited."""

from typing import Annotated

import msgspec
from msgspec import Meta

from app.domain.service_status import Incident, IncidentUpdate, Maintenance, Part
from app.kit.control_characters import has_control_characters
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.store import audit, incidents
from app.store.audit import AuditRecord
from app.store.transaction import Tx

MAX_TEXT = 500
Words = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
_LARGEST = 2**31 - 1  #: the largest number that the database gives them
_MAX_MILLIS = 7 * 86_400_000  #: a longer one is a mistake


async def announce(
    tx: Tx, begins_at: int, ends_at: int, parts: tuple[Part, ...], text: str, *, by: str, now: int
) -> Maintenance:
    """Announce maintenance of these parts, from when until when (Unix ms). Raises `Invalid`."""
    wrong = []
    if ends_at <= max(begins_at, now):
        wrong.append(Field(("ends_at",), "It must be after the beginning, and in the future.", "ends_at"))
    elif ends_at - begins_at > _MAX_MILLIS:
        wrong.append(Field(("ends_at",), "Maintenance may last seven days at most.", "ends_at"))
    if not parts:
        wrong.append(Field(("parts",), f"Name one part at least: {', '.join(Part)}.", "parts"))
    _check_words(text, wrong)
    if wrong:
        raise Invalid(*wrong)
    ordered = tuple(part for part in Part if part in parts)
    new = await incidents.announce(tx, Maintenance(0, begins_at, ends_at, text.strip(), ordered, now))
    details = {"begins_at": begins_at, "ends_at": ends_at, "parts": list(ordered), "text": new.text}
    await audit.add(tx, AuditRecord(now, by, "maintenance.announce", str(new.id), details=details))
    return new


async def cancel(tx: Tx, maintenance_id: int, *, by: str, now: int) -> Maintenance:
    """Cancel announced maintenance, or end it before its time. Raises `NotFound`, and `Conflict` once it is
    over."""
    found = await incidents.maintenance(tx, maintenance_id) if 0 < maintenance_id <= _LARGEST else None
    if found is None:
        raise NotFound(f"There is no maintenance {maintenance_id}.")
    if found.cancelled_at is not None or found.ends_at <= now:
        raise Conflict(f"Maintenance {maintenance_id} is over or cancelled already.")
    cancelled = msgspec.structs.replace(found, cancelled_at=now)
    await incidents.save_maintenance(tx, cancelled)
    await audit.add(tx, AuditRecord(now, by, "maintenance.cancel", str(maintenance_id)))
    return cancelled


async def note(tx: Tx, incident_id: int, text: str, *, by: str, now: int) -> Incident:
    """Add words to an incident, open or ended. Raises `NotFound`, `Invalid`."""
    wrong: list[Field] = []
    _check_words(text, wrong)
    if wrong:
        raise Invalid(*wrong)
    await incidents.lock(tx)
    found = await incidents.incident(tx, incident_id) if 0 < incident_id <= _LARGEST else None
    if found is None:
        raise NotFound(f"There is no incident {incident_id}.")
    update = IncidentUpdate(now, text.strip(), None, by)
    noted = msgspec.structs.replace(found, updates=(*found.updates, update))
    await incidents.save(tx, noted)
    details = {"text": update.text}
    await audit.add(tx, AuditRecord(now, by, "incident.note", str(incident_id), details=details))
    return noted


def _check_words(text: str, wrong: list[Field]) -> None:
    if not text.strip() or len(text) > MAX_TEXT:
        wrong.append(Field(("text",), f"1 to {MAX_TEXT} characters.", "text"))
    elif has_control_characters(text) or len(text.splitlines()) > 1:
        wrong.append(Field(("text",), "It is one line of printable characters.", "text"))
