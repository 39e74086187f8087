"""Operators' commands: those that were sent, by the operators' own ids, so that a repeated one is executed
once; and those that were executed on a match, each with what it changed."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.store.prepared import prepared, reading_row, reading_rows
from app.store.row_mapping import RowMapping
from app.store.tables.match import MatchReference
from app.store.tables.operations import MatchCommand, OperatorCommand
from app.store.transaction import Tx, Write


class RecordedCommand(msgspec.Struct, frozen=True):
    """A command as it was first sent: `request` is its JSON."""

    match_id: UUID
    request: bytes


class ExecutedCommand(msgspec.Struct, frozen=True):
    """A command that `actor` sent, as the one with this `revision` of its match, at `at` (Unix ms). `person`
    is the same whatever key the actor used. `command`, `before` and `after` are JSON; `undone_by` is the
    revision of the command that undid it."""

    revision: int
    at: int
    actor: str
    person: str
    command: bytes
    before: bytes
    after: bytes
    consent_by: str | None = None
    undone_by: int | None = None

    @property
    def name(self) -> str:
        """The command's name."""
        name: str = msgspec.json.decode(self.command)["command"]
        return name


_RECORDED = RowMapping(OperatorCommand, RecordedCommand, ("actor", "reference"))
_BOUND = RowMapping(MatchReference, RecordedCommand, ("reference",))
_EXECUTED = RowMapping(MatchCommand, ExecutedCommand, ("match_id", "revision"), beside=("match_id",))


async def record_once(
    tx: Tx, owner: str, reference: str, match_id: UUID, request: bytes, now: int
) -> RecordedCommand | None:
    """None when `owner` uses `reference` for the first time, else the command that was sent with it then.

    Waits for another transaction that is about to use the same one.
    """
    if await tx.change(_record(owner, reference, match_id, now, request)):
        return None
    return await _recorded(tx, owner, reference)


async def bind_reference(tx: Tx, reference: str, match_id: UUID, request: bytes) -> RecordedCommand:
    """Bind the operator's own id `reference` to `match_id`, unless it is bound already; the match that it is
    bound to, and the request that bound it. Waits for another transaction that is about to bind the same
    one."""
    await tx.change(_bind(reference, match_id, request))
    return await _bound(tx, reference) or RecordedCommand(match_id, request)


def add_statement(match_id: UUID, executed: ExecutedCommand) -> Write:
    return Write.of(_EXECUTED.insert(executed, match_id))


def undone_statement(match_id: UUID, revision: int, by: int) -> Write:
    """The statement that records that the command `by` undid this one."""
    return Write.of(_set_undone(by, match_id, revision))


@reading_rows(_EXECUTED.read)
def listing(match_id: UUID, /, *, limit: int) -> Select[Any]:
    """The newest `limit` commands on a match, newest first."""
    query = MatchCommand.select(*_EXECUTED.columns).where(MatchCommand.match_id == match_id)
    return query.order_by(MatchCommand.revision, ascending=False).limit(limit)


@reading_row(_EXECUTED.read)
def get(match_id: UUID, revision: int, /) -> Select[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.select(*_EXECUTED.columns).where(*of_command)


@reading_row(_EXECUTED.read)
def newest_of_others(match_id: UUID, since: int, person: str, /) -> Select[Any]:
    """The newest command after the revision `since` that somebody other than `person` sent."""
    later = (MatchCommand.match_id == match_id, MatchCommand.revision > since, MatchCommand.person != person)
    query = MatchCommand.select(*_EXECUTED.columns).where(*later)
    return query.order_by(MatchCommand.revision, ascending=False).limit(1)


@reading_row(_RECORDED.read)
def _recorded(owner: str, reference: str, /) -> Select[Any]:
    own = (OperatorCommand.actor == owner, OperatorCommand.reference == reference)
    return OperatorCommand.select(*_RECORDED.columns).where(*own)


@reading_row(_BOUND.read)
def _bound(reference: str, /) -> Select[Any]:
    return MatchReference.select(*_BOUND.columns).where(MatchReference.reference == reference)


@prepared
def _record(owner: str, reference: str, match_id: UUID, now: int, request: bytes) -> Insert[Any]:
    row = OperatorCommand(actor=owner, reference=reference, match_id=match_id, at=now, request=request)
    return OperatorCommand.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _bind(reference: str, match_id: UUID, request: bytes) -> Insert[Any]:
    row = MatchReference(reference=reference, match_id=match_id, request=request)
    return MatchReference.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _set_undone(by: int, match_id: UUID, revision: int) -> Update[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.update({MatchCommand.undone_by: by}).where(*of_command)
