"""Commands that wait for the consent of a second person, and what became of each."""

from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.store.prepared import prepared
from app.store.tables.consent import ConsentRequest as ConsentTable
from app.store.transaction import Row, Tx


class ConsentState(StrEnum):
    """What became of a request; `given`: its command was executed."""

    WAITING = "waiting"
    GIVEN = "given"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class ConsentRequest(msgspec.Struct, frozen=True):
    """A command (JSON) that `actor` sent at `at`, and that waits until `expires_at` (Unix ms). `person` is
    who that is, whatever key they use; `reference` is their own id of the command; `fingerprint` is that of
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


_COLUMNS = tuple(ConsentTable._meta.get_column_by_name(name) for name in ConsentRequest.__struct_fields__)


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
    row = await tx.first(_add(*values))
    assert row is not None
    return ConsentRequest(**row)


async def get(tx: Tx, request_id: int) -> ConsentRequest | None:
    return _request(await tx.first(_one(request_id, lock=False)))


async def lock(tx: Tx, request_id: int) -> ConsentRequest | None:
    """`get`; the request is locked until the transaction ends."""
    return _request(await tx.first(_one(request_id, lock=True)))


async def by_reference(tx: Tx, person: str, reference: str) -> ConsentRequest | None:
    """The request of a person's command with that id of theirs."""
    return _request(await tx.first(_by_reference(person, reference)))


async def listing(tx: Tx, *, match_id: UUID | None = None, limit: int) -> list[ConsentRequest]:
    """At most `limit` requests, newest first; optionally of one match."""
    query = _newest(limit=limit) if match_id is None else _of_match(match_id, limit=limit)
    return [ConsentRequest(**row) for row in await tx.run(query)]


async def waiting(tx: Tx, now: int) -> list[ConsentRequest]:
    """The requests that wait at `now` (Unix ms), oldest first."""
    return [ConsentRequest(**row) for row in await tx.run(_waiting(now))]


async def save_decision(tx: Tx, request: ConsentRequest) -> None:
    """Write who has decided what, and when."""
    decision = (request.outcome, request.decided_at, request.decided_by, request.reason, request.revision)
    await tx.change(_decide(*decision, request.id))


def _request(row: Row | None) -> ConsentRequest | None:
    return ConsentRequest(**row) if row else None


@prepared
def _add(
    match_id: UUID,
    command: bytes,
    actor: str,
    person: str,
    reference: str | None,
    fingerprint: str,
    at: int,
    expires_at: int,
) -> Insert[Any]:
    row = ConsentTable(
        match_id=match_id,
        command=command,
        actor=actor,
        person=person,
        reference=reference,
        fingerprint=fingerprint,
        at=at,
        expires_at=expires_at,
        reason="",
    )
    return ConsentTable.insert(row).returning(*_COLUMNS)


@prepared
def _one(request_id: int, *, lock: bool) -> Select[Any]:
    query = ConsentTable.select(*_COLUMNS).where(ConsentTable.id == request_id)
    return query.lock_rows("UPDATE") if lock else query


@prepared
def _by_reference(person: str, reference: str) -> Select[Any]:
    own = (ConsentTable.person == person, ConsentTable.reference == reference)
    return ConsentTable.select(*_COLUMNS).where(*own)


@prepared
def _newest(*, limit: int) -> Select[Any]:
    return ConsentTable.select(*_COLUMNS).order_by(ConsentTable.id, ascending=False).limit(limit)


@prepared
def _of_match(match_id: UUID, *, limit: int) -> Select[Any]:
    query = ConsentTable.select(*_COLUMNS).where(ConsentTable.match_id == match_id)
    return query.order_by(ConsentTable.id, ascending=False).limit(limit)


@prepared
def _waiting(now: int) -> Select[Any]:
    undecided = (ConsentTable.outcome.is_null(), ConsentTable.expires_at > now)
    return ConsentTable.select(*_COLUMNS).where(*undecided).order_by(ConsentTable.id)


@prepared
def _decide(
    outcome: str | None,
    decided_at: int | None,
    decided_by: str | None,
    reason: str,
    revision: int | None,
    request_id: int,
) -> Update[Any]:
    changed: dict[Any, object] = {
        ConsentTable.outcome: outcome,
        ConsentTable.decided_at: decided_at,
        ConsentTable.decided_by: decided_by,
        ConsentTable.reason: reason,
        ConsentTable.revision: revision,
    }
    return ConsentTable.update(changed).where(ConsentTable.id == request_id)
