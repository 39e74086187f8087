"""Which markets are favourites, and which tenants receive `bet_stop`."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Boolean

ID = "2031-02-01T00:00:15:000000"
VERSION = "1.38.0"
DESCRIPTION = "favourites, and tenants that receive bet_stop"

_COLUMNS = (("market", "favourite"), ("tenant", "bet_stop"))


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table, name in _COLUMNS:
        manager.add_column(
            table_class_name=table,
            tablename=table,
            column_name=name,
            column_class=Boolean,
            params=Boolean(default=False)._meta.params,
        )
    return manager
