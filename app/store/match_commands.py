"""The commands that operators gave on a match, each with what it changed."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.store.prepared import prepared, reading_row, reading_rows
from app.store.tables.operations import MatchCommand
from app.store.transaction import Row, Write


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


_COLUMNS = tuple(getattr(MatchCommand, name) for name in ExecutedCommand.__struct_fields__)


def _executed(row: Row) -> ExecutedCommand:
    return ExecutedCommand(**row)


def add_statement(match_id: UUID, executed: ExecutedCommand) -> Write:
    return Write.of(_add(match_id, *msgspec.structs.astuple(executed)))


def undone_statement(match_id: UUID, revision: int, by: int) -> Write:
    """Note that the command `by` took this one back."""
    return Write.of(_set_undone(by, match_id, revision))


@reading_rows(_executed)
def listing(match_id: UUID, /, *, limit: int) -> Select[Any]:
    """The newest `limit` commands on a match, newest first."""
    query = MatchCommand.select(*_COLUMNS).where(MatchCommand.match_id == match_id)
    return query.order_by(MatchCommand.revision, ascending=False).limit(limit)


@reading_row(_executed)
def get(match_id: UUID, revision: int, /) -> Select[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.select(*_COLUMNS).where(*of_command)


@reading_row(_executed)
def newest_of_others(match_id: UUID, since: int, person: str, /) -> Select[Any]:
    """The newest command after the revision `since` that somebody other than `person` sent."""
    later = (MatchCommand.match_id == match_id, MatchCommand.revision > since, MatchCommand.person != person)
    query = MatchCommand.select(*_COLUMNS).where(*later)
    return query.order_by(MatchCommand.revision, ascending=False).limit(1)


@prepared
def _add(match_id: UUID, *executed: object) -> Insert[MatchCommand]:
    row: dict[str, Any] = dict(zip(ExecutedCommand.__struct_fields__, executed, strict=True))
    return MatchCommand.insert(MatchCommand(match_id=match_id, **row))


@prepared
def _set_undone(by: int, match_id: UUID, revision: int) -> Update[Any]:
    of_command = (MatchCommand.match_id == match_id, MatchCommand.revision == revision)
    return MatchCommand.update({MatchCommand.undone_by: by}).where(*of_command)
