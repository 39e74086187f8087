"""When the log lines came that a change follows from."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:01:000000"
VERSION = "1.38.0"
DESCRIPTION = "arrival of the log lines behind a change"


async def _alter() -> None:
    await DB.run_ddl("ALTER TABLE change ADD COLUMN arrived_at bigint NOT NULL DEFAULT 0")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_alter)
    return manager
