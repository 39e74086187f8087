"""Which processes read what this version writes and the versions before do not."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import SmallInt

ID = "2031-02-01T00:00:28:000000"
VERSION = "1.38.0"
DESCRIPTION = "the compatibility level of each process"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_column(
        table_class_name="worker_beat",
        tablename="worker_beat",
        column_name="compatibility",
        column_class=SmallInt,
        params=SmallInt(default=0)._meta.params,
    )
    return manager
