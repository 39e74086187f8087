"""When a market last went off offer."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:02:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "when a market last went off offer"


async def _alter() -> None:
    await DB.run_ddl("ALTER TABLE market ADD COLUMN offered_until bigint NOT NULL DEFAULT 0")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_alter)
    return manager
