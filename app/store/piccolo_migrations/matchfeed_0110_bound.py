"""Which of a tenant's queues live messages are routed to, as the feed process saw it last."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "the queues that live messages are routed to"


async def _alter() -> None:
    await DB.run_ddl("ALTER TABLE tenant_cursor ADD COLUMN bound text NOT NULL DEFAULT ''")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_alter)
    return manager
