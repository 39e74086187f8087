"""How many messages a tenant's queues had lost before they began to lose those that an alert tells of."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:02:51:000000"
VERSION = "1.38.0"
DESCRIPTION = "how many messages a tenant's queues had lost before its present losses"

STATEMENTS = (
    "ALTER TABLE tenant_cursor ADD COLUMN dropped_before bigint NOT NULL DEFAULT 0",
    "UPDATE tenant_cursor SET dropped_before = dropped",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
