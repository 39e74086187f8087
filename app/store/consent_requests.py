"""Commands that wait for the consent of a second person, and what became of each."""

from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select

from app.store.prepared import prepared, reading_row, reading_rows
from app.store.row_mapping import RowMapping
from app.store.tables.operations import ConsentRequest as ConsentTable
from app.store.transaction import Tx


class ConsentState(StrEnum):
    """What became of a request; `given`: its command was executed."""

    WAITING = "waiting"
    GIVEN = "given"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class ConsentRequest(msgspec.Struct, frozen=True):
    """A command (JSON) that `actor` sent at `at`, and that waits until `expires_at` (Unix ms). `person` is
    the same whatever key the actor uses; `reference` is their own id of the command; `fingerprint` is that of
    its effect when it was sent. `outcome` is None until `decided_by` decided, with a `reason` where they
    refused; `revision` is the match's after the command."""

    id: int
    match_id: UUID
    at: int
    actor: str
    person: str
    reference: str | None
    command: bytes
    fingerprint: str
    expires_at: int
    outcome: str | None = None
    decided_at: int | None = None
    decided_by: str | None = None
    reason: str = ""
    revision: int | None = None

    @property
    def name(self) -> str:
        """The command's name."""
        name: str = msgspec.json.decode(self.command)["command"]
        return name

    def state(self, now: int) -> ConsentState:
        """What has become of it at `now` (Unix ms)."""
        if self.outcome is not None:
            return ConsentState(self.outcome)
        return ConsentState.WAITING if now < self.expires_at else ConsentState.EXPIRED


_ROWS = RowMapping(ConsentTable, ConsentRequest)
_DECISION = ("outcome", "decided_at", "decided_by", "reason", "revision")


async def add(
    tx: Tx,
    match_id: UUID,
    command: bytes,
    *,
    actor: str,
    person: str,
    reference: str | None,
    fingerprint: str,
    at: int,
    expires_at: int,
) -> ConsentRequest:
    """Store a command that waits."""
    values = (match_id, command, actor, person, reference, fingerprint, at, expires_at)
    (row,) = await tx.run(_add(*values))
    return _ROWS.read(row)


@reading_row(_ROWS.read)
def get(request_id: int, /) -> Select[Any]:
    return ConsentTable.select(*_ROWS.columns).where(ConsentTable.id == request_id)


@reading_row(_ROWS.read)
def lock(request_id: int, /) -> Select[Any]:
    """`get`; the request is locked until the transaction ends."""
    return ConsentTable.select(*_ROWS.columns).where(ConsentTable.id == request_id).lock_rows("UPDATE")


@reading_row(_ROWS.read)
def by_reference(person: str, reference: str, /) -> Select[Any]:
    """The request of a person's command with that id of theirs."""
    own = (ConsentTable.person == person, ConsentTable.reference == reference)
    return ConsentTable.select(*_ROWS.columns).where(*own)


async def listing(tx: Tx, *, match_id: UUID | None = None, limit: int) -> list[ConsentRequest]:
    """At most `limit` requests, newest first; optionally of one match."""
    query = _newest(limit=limit) if match_id is None else _of_match(match_id, limit=limit)
    return [_ROWS.read(row) for row in await tx.run(query)]


@reading_rows(_ROWS.read)
def waiting(now: int, /) -> Select[Any]:
    """The requests that wait at `now` (Unix ms), oldest first."""
    undecided = (ConsentTable.outcome.is_null(), ConsentTable.expires_at > now)
    return ConsentTable.select(*_ROWS.columns).where(*undecided).order_by(ConsentTable.id)


async def save_decision(tx: Tx, request: ConsentRequest) -> None:
    """Write who has decided what, and when."""
    await tx.change(_ROWS.update(request, *_DECISION))


@prepared
def _add(*values: object) -> Insert[Any]:
    names = "match_id command actor person reference fingerprint at expires_at"
    row: dict[str, Any] = dict(zip(names.split(), values, strict=True))
    return ConsentTable.insert(ConsentTable(**row, reason="")).returning(*_ROWS.columns)


@prepared
def _newest(*, limit: int) -> Select[Any]:
    return ConsentTable.select(*_ROWS.columns).order_by(ConsentTable.id, ascending=False).limit(limit)


@prepared
def _of_match(match_id: UUID, *, limit: int) -> Select[Any]:
    query = ConsentTable.select(*_ROWS.columns).where(ConsentTable.match_id == match_id)
    return query.order_by(ConsentTable.id, ascending=False).limit(limit)
