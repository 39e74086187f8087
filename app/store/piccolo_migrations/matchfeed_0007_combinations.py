"""Combinations, and the states that they were priced by."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, Array, BigInt, Bytea, Column, DoublePrecision, Numeric, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:07:000000"
VERSION = "1.38.0"
DESCRIPTION = "combinations and the states that they were priced by"

# The default None is that of a column without one. The next migration completes keys and indices.
_TABLES: dict[str, dict[str, Column]] = {
    "combination": {
        "id": UUID(primary_key=True, default=None),
        "tenant_id": UUID(default=None),
        "created_at": BigInt(default=None),
        "odds": Numeric(default=None),
        "probability": DoublePrecision(default=None),
        "legs": Json(default=None),
        "matches": Json(default=None),
        "match_ids": Array(base_column=UUID(), default=None),
        "request_id": Text(null=True, default=None),
        "remade": Json(null=True, default=None),
    },
    "priced_state": {
        "match_id": UUID(primary_key=True, default=None),
        "digest": Bytea(default=None),
        "body": Bytea(default=None),
    },
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table, columns in _TABLES.items():
        manager.add_table(class_name=table, tablename=table)
        for name, column in columns.items():
            manager.add_column(
                table_class_name=table,
                tablename=table,
                column_name=name,
                column_class=type(column),
                params=_params(column),
            )
    return manager


def _params(column: Column) -> dict[str, Any]:
    if isinstance(column, Json):
        return {"default": column.default, "null": column._meta.null, "db_column_name": None}
    return column._meta.params
