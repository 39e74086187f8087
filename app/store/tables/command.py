from piccolo.columns import UUID, BigInt, Text
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
    request = Json(db_column_name="asked")
