"""The commands that operators gave on a match, each with what it changed."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.store.prepared import prepared
from app.store.tables.command import MatchCommand
from app.store.transaction import Tx, Write

_COLUMNS = (
    MatchCommand.revision,
    MatchCommand.at,
    MatchCommand.actor,
    MatchCommand.person,
    MatchCommand.command,
    MatchCommand.before,
    MatchCommand.after,
    MatchCommand.consent_by,
    MatchCommand.undone_by,
)


class ExecutedCommand(msgspec.Struct, frozen=True):
    """A command that `actor` sent, as the one with this `revision` of its match, at `at` (Unix ms). `person`
    is who that is, whatever key they used. `command`, `before` and `after` are JSON; `undone_by` is the
    revision of the command that took it back."""

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


def add_statement(match_id: UUID, executed: ExecutedCommand) -> Write:
    return Write.of(
        _add(
            match_id,
            executed.revision,
            executed.at,
            executed.actor,
            executed.person,
            executed.command,
            executed.before,
            executed.after,
            executed.consent_by,
        )
    )


def undone_statement(match_id: UUID, revision: int, by: int) -> Write:
    """Note that the command `by` took this one back."""
    return Write.of(_set_undone(by, match_id, revision))


async def listing(tx: Tx, match_id: UUID, limit: int) -> list[ExecutedCommand]:
    """The newest `limit` commands on a match, newest first."""
    return [ExecutedCommand(**row) for row in await tx.run(_newest(match_id, limit=limit))]


async def get(tx: Tx, match_id: UUID, revision: int) -> ExecutedCommand | None:
    row = await tx.first(_one(match_id, revision))
    return ExecutedCommand(**row) if row else None


async def newest_of_others(tx: Tx, match_id: UUID, since: int, person: str) -> ExecutedCommand | None:
    """The newest command after the revision `since` that somebody other than `person` sent."""
    row = await tx.first(_of_others(match_id, since, person))
    return ExecutedCommand(**row) if row else None


@prepared
def _add(
    match_id: UUID,
    revision: int,
    at: int,
    actor: str,
    person: str,
    command: bytes,
    before: bytes,
    after: bytes,
    consent_by: str | None,
) -> Insert[MatchCommand]:
    row = MatchCommand(
        match_id=match_id,
        revision=revision,
        at=at,
        actor=actor,
        person=person,
        command=command,
        before=before,
        after=after,
        consent_by=consent_by,
    )
    return MatchCommand.insert(row)


@prepared
def _set_undone(by: int, match_id: UUID, revision: int) -> Update[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.update({MatchCommand.undone_by: by}).where(*of_command)


@prepared
def _newest(match_id: UUID, *, limit: int) -> Select[Any]:
    query = MatchCommand.select(*_COLUMNS).where(MatchCommand.match_id == match_id)
    return query.order_by(MatchCommand.revision, ascending=False).limit(limit)


@prepared
def _one(match_id: UUID, revision: int) -> Select[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.select(*_COLUMNS).where(*of_command)


@prepared
def _of_others(match_id: UUID, since: int, person: str) -> Select[Any]:
    later = (MatchCommand.match_id == match_id, MatchCommand.revision > since, MatchCommand.person != person)
    query = MatchCommand.select(*_COLUMNS).where(*later)
    return query.order_by(MatchCommand.revision, ascending=False).limit(1)
