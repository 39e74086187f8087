"""When market types were switched off for tenants, and when each market was first opened."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt

from app.store.tables.columns import Json

ID = "2031-01-01T00:03:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "market types that are switched off for tenants"

#: 0 for the markets that exist: they were opened before any type was switched off.
_COLUMNS: tuple[tuple[str, str, type[Any], object], ...] = (
    ("tenant", "types_off", Json, "[]"),
    ("market", "first_opened_at", BigInt, 0),
)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table, column, kind, default in _COLUMNS:
        manager.add_column(
            table_class_name=table.title(),
            tablename=table,
            column_name=column,
            db_column_name=column,
            column_class_name=kind.__name__,
            column_class=kind,
            params={"default": default, "null": False, "db_column_name": None},
        )
    return manager
