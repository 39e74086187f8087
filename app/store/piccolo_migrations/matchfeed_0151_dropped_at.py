"""When a tenant's queues last lost a message."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:02:31:000000"
VERSION = "1.38.0"
DESCRIPTION = "when a tenant's queues last lost a message"

STATEMENTS = ("ALTER TABLE tenant_cursor ADD COLUMN dropped_at bigint NOT NULL DEFAULT 0",)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
