"""Samples of the delivery to each tenant, one for each minute."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, Integer

ID = "2031-02-01T00:00:04:000000"
VERSION = "1.38.0"
DESCRIPTION = "samples of the delivery"

# The default None is that of a column without one. The next migration completes the key.
_TABLE = "delivery_minute"
_COLUMNS: dict[str, Column] = {
    "tenant_id": UUID(primary_key=True, default=None),
    "minute": BigInt(default=None),
    "epoch": Integer(default=None),
    "published": BigInt(default=None),
    "lag": BigInt(default=None),
    "dropped": BigInt(default=None),
    "notices": BigInt(default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name=_TABLE, tablename=_TABLE)
    for name, column in _COLUMNS.items():
        manager.add_column(
            table_class_name=_TABLE,
            tablename=_TABLE,
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager
