from piccolo.columns import UUID, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class OperatorCommand(Table, tablename="operator_command", db=DIALECT):
    """A command that an operator sent with an id of their own; `request` is its JSON. The key is (actor,
    reference)."""

    actor = Text(primary_key=True)
    reference = Text()
    match_id = UUID()
    at = BigInt()
    request = Json()


class MatchCommand(Table, tablename="match_command", db=DIALECT):
    """A command that was executed, as the match's `revision` counts them: `before` and `after` are what it
    changed (`commands.undo.CommandState`). `person` is who sent it, whatever key they used; `consent_by` who
    consented, where that was needed; `undone_by` is the revision of the command that took it back. The key is
    (match_id, revision)."""

    match_id = UUID(primary_key=True)
    revision = Integer()
    at = BigInt()
    actor = Text()
    person = Text()
    command = Json()
    before = Json()
    after = Json()
    consent_by = Text(null=True, default=None)
    undone_by = Integer(null=True, default=None)
