"""Commands that wait for the consent of a second person."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, Integer, Text

from app.store.tables.columns import Json

ID = "2031-01-01T00:05:11:000000"
VERSION = "1.38.0"
DESCRIPTION = "commands that wait for the consent of a second person"

# The default None is that of a column without one. The next migration has the database number the requests:
# Piccolo has no identity columns.
COLUMNS: dict[str, Column] = {
    "id": BigInt(primary_key=True, default=None),
    "match_id": UUID(default=None),
    "at": BigInt(default=None),
    "actor": Text(default=None),
    "person": Text(default=None),
    "reference": Text(null=True, default=None),
    "command": Json(default=None),
    "fingerprint": Text(default=None),
    "expires_at": BigInt(default=None),
    "outcome": Text(null=True, default=None),
    "decided_at": BigInt(null=True, default=None),
    "decided_by": Text(null=True, default=None),
    "reason": Text(default=""),
    "revision": Integer(null=True, default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="consent_request", tablename="consent_request")
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="consent_request",
            tablename="consent_request",
            column_name=name,
            column_class=type(column),
            params=_json(column) if isinstance(column, Json) else column._meta.params,
        )
    return manager


def _json(column: Json) -> dict[str, Any]:
    """What a column of ours takes."""
    return {"default": column.default, "null": False, "db_column_name": None}
