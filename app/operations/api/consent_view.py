"""The view of a command that waits for the consent of a second person, or waited."""

from typing import Any

import msgspec

from app.kit.clock import iso_millis
from app.store.consent_requests import ConsentRequest


class ConsentView(msgspec.Struct, frozen=True):
    """A command that `actor` sent, and that waits until `expires_at` for the consent of another person.
    `state` is waiting, given (it was executed, as the match's `revision`), refused, withdrawn (by who sent
    it) or expired."""

    id: int
    match_id: str
    at: str
    actor: str
    command: str
    fields: dict[str, Any]
    state: str
    expires_at: str
    decided_at: str | None
    decided_by: str | None
    reason: str
    revision: int | None


def consent_view(request: ConsentRequest, now: int) -> ConsentView:
    fields = msgspec.json.decode(request.command)
    return ConsentView(
        id=request.id,
        match_id=str(request.match_id),
        at=iso_millis(request.at),
        actor=request.actor,
        command=fields.pop("command"),
        fields=fields,
        state=request.state(now),
        expires_at=iso_millis(request.expires_at),
        decided_at=None if request.decided_at is None else iso_millis(request.decided_at),
        decided_by=request.decided_by,
        reason=request.reason,
        revision=request.revision,
    )
