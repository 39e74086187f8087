"""Which former holders of a tenant may still be connected to the broker: not only the last one."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Array, Text

ID = "2031-01-01T00:05:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "former holders of tenants that are not expelled yet"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_column(
        table_class_name="TenantCursor",
        tablename="tenant_cursor",
        column_name="former_holders",
        db_column_name="former_holders",
        column_class_name="Array",
        column_class=Array,
        params={"base_column": Text(), "default": [], "null": False, "db_column_name": None},
    )
    return manager
