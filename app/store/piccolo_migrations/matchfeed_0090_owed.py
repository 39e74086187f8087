"""A word about a loss that a tenant has not been told yet."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "a loss that a tenant is yet to be told of"


async def _alter() -> None:
    await DB.run_ddl("ALTER TABLE tenant_cursor ADD COLUMN owed boolean NOT NULL DEFAULT false")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_alter)
    return manager
