"""The commands that operators gave on a match, in order, with what each changed."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, Integer, Text

from app.store.tables.columns import Json

ID = "2031-01-01T00:05:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "operators' commands with what they changed"

# The default None is that of a column without one. The next migration completes the key: Piccolo makes none
# of two columns.
COLUMNS: dict[str, Column] = {
    "match_id": UUID(primary_key=True, default=None),
    "revision": Integer(default=None),
    "at": BigInt(default=None),
    "actor": Text(default=None),
    "person": Text(default=None),
    "command": Json(default=None),
    "before": Json(default=None),
    "after": Json(default=None),
    "consent_by": Text(null=True, default=None),
    "undone_by": Integer(null=True, default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="match_command", tablename="match_command")
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="match_command",
            tablename="match_command",
            column_name=name,
            column_class=type(column),
            params=_json(column) if isinstance(column, Json) else column._meta.params,
        )
    return manager


def _json(column: Json) -> dict[str, Any]:
    """What a column of ours takes."""
    return {"default": column.default, "null": False, "db_column_name": None}
