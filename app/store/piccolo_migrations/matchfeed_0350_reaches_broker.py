"""Whether each worker process reaches the broker."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Boolean

ID = "2031-01-01T00:05:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "whether each worker process reaches the broker"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    # Version 0.1.0 does not write it: its processes count as ones that reach the broker.
    manager.add_column(
        table_class_name="WorkerBeat",
        tablename="worker_beat",
        column_name="reaches_broker",
        column_class_name="Boolean",
        column_class=Boolean,
        params={"default": True, "null": False, "db_column_name": None},
    )
    return manager
