"""What operators do about open alerts: see one, take it, hand it back, end it. Each is one transaction with
an audit row; what changes nothing has none.
"""

from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from app.kit.clock import iso_seconds
from app.kit.errors import Conflict, NotFound
from app.kit.logging import get_logger
from app.store import alerts, audit
from app.store.alerts import Alert, AlertKind
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.transaction import Tx

log = get_logger(__name__)
#: Alerts of which nothing may ever show that they are dealt with: about something that has happened, about a
#: file that does not come again, about the end of a map whose match is over. All others end with their cause.
ENDED_BY_HAND = frozenset(
    {
        AlertKind.PARKED_BATCH,
        AlertKind.TENANT_RIGHTS,
        AlertKind.DATABASE_FAILOVER,
        AlertKind.REFERENCE_REFUSED,
        AlertKind.MAP_CONTRADICTION,
    }
)
_LARGEST = 2**63 - 1  #: the largest number that the database has
Actor = Annotated[str, Meta(max_length=400)]


class AlertCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command"):
    """A command about one open alert."""


class See(AlertCommand, frozen=True, tag="see"):
    """Somebody has seen the alert; the first one stays on record."""


class Take(AlertCommand, frozen=True, tag="take"):
    """The sender works on the alert from now on. `instead_of`: who has it, as the sender knows; refused if
    somebody else has it."""

    instead_of: Actor = ""


class HandBack(AlertCommand, frozen=True, tag="hand_back"):
    """The sender, who has the alert, works on it no more."""


class End(AlertCommand, frozen=True, tag="end"):
    """End an alert of a kind that does not end with its cause. Should its cause occur again, another one
    begins."""


AnyAlertCommand = See | Take | HandBack | End


async def handle(store: Store, alert_id: int, command: AnyAlertCommand, *, by: str, now: int) -> Alert:
    """Execute a command of `by` about the alert; returns the alert after it.

    Raises `NotFound`; `Conflict` when the alert has ended, somebody else has it, or it cannot be ended by
    hand.
    """
    async with store.transaction() as tx:
        alert = await alerts.lock(tx, alert_id) if 0 < alert_id <= _LARGEST else None
        if alert is None:
            raise NotFound(f"There is no alert {alert_id}.")
        if alert.ended_at is not None:
            by_whom = f", by {alert.ended_by}" if alert.ended_by else ""
            raise Conflict(
                f"This alert ended at {iso_seconds(alert.ended_at)}{by_whom}.", code="alert_has_ended"
            )
        after = _after(alert, command, by, now)
        if after != alert:
            await _write(tx, after, command, by, now)
    return after


def _after(alert: Alert, command: AnyAlertCommand, by: str, now: int) -> Alert:
    """The alert after the command; the same one if it changes nothing."""
    match command:
        case See():
            return _seen(alert, by, now)
        case Take():
            _require_holder(alert, by, command.instead_of)
            taken = alert if alert.taken_by == by else replace(alert, taken_by=by, taken_at=now)
            return _seen(taken, by, now)
        case HandBack():
            if alert.taken_by is None:
                raise Conflict("Nobody has taken this alert.", code="alert_not_taken")
            _require_holder(alert, by)
            return replace(alert, taken_by=None, taken_at=None)
        case End():
            if alert.kind not in ENDED_BY_HAND:
                what = f"An alert of the kind {alert.kind} ends with its cause, not by hand."
                raise Conflict(what, code="alert_ends_with_its_cause")
            _require_holder(alert, by)
            return replace(_seen(alert, by, now), ended_at=now, ended_by=by)


def _seen(alert: Alert, by: str, now: int) -> Alert:
    return alert if alert.seen_by else replace(alert, seen_by=by, seen_at=now)


def _require_holder(alert: Alert, *actors: str) -> None:
    """Refuse what only these may do while somebody has the alert."""
    if alert.taken_by is None or alert.taken_by in actors:
        return
    since = iso_seconds(alert.taken_at or 0)
    what = f"{alert.taken_by} has this alert since {since}: speak to them, or take it instead of them."
    raise Conflict(what, code="alert_taken", actor=alert.taken_by, since=since)


async def _write(tx: Tx, after: Alert, command: AnyAlertCommand, by: str, now: int) -> None:
    details = msgspec.to_builtins(command) | {"alert": after.id, "kind": after.kind.value}
    action = f"alert.{details.pop('command')}"
    about = str(after.match_id) if after.match_id else after.tenant or after.subject
    await alerts.save_handling(tx, after)
    await audit.add(tx, AuditRecord(now, by, action, about, None, details))
    if after.ended_at is not None:
        log.info("alert ended", kind=after.kind.value, about=about)
