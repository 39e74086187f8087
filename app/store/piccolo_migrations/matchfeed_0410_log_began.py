"""When the first line of a log was written."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt

ID = "2031-01-01T00:06:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "when a log began"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    column = BigInt(default=0)
    manager.add_column(
        table_class_name="LogOffset",
        tablename="log_source",
        column_name="log_began",
        column_class=BigInt,
        params=column._meta.params,
    )
    return manager
