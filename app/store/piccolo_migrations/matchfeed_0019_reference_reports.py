"""Reports of imports of reference data, and which match each fixture became."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:19:000000"
VERSION = "1.38.0"
DESCRIPTION = "imports of reference data"

# The default None is that of a column without one.
_TABLES: dict[str, dict[str, Column]] = {
    "reference_report": {
        "id": UUID(primary_key=True, default=None),
        "at": BigInt(default=None, index=True),
        "by": Text(default=None),
        "name": Text(default=None),
        "sha256": Text(default=None, index=True),
        "body": Json(default=None),
    },
    "imported_fixture": {
        "reference": Text(primary_key=True, default=None),
        "match_id": UUID(default=None, index=True),
        "body": Json(default=None),
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
