"""Up to which change a match that was given back is published."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt

ID = "2031-01-01T00:06:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "up to which change a match that was given back is published"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    # Version 0.1.0 does not write it: what it unbooks is published no more, wherever the tenant is.
    manager.add_column(
        table_class_name="Unbooked",
        tablename="unbooked",
        column_name="seq",
        column_class_name="BigInt",
        column_class=BigInt,
        params={"default": 0, "null": False, "db_column_name": None},
    )
    return manager
