"""When market types were switched off for tenants, and when each market was first opened."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "market types that are switched off for tenants"

STATEMENTS = (
    "ALTER TABLE tenant ADD COLUMN types_off json NOT NULL DEFAULT '[]'",
    # 0 for the markets that exist: they were opened before any type was switched off.
    "ALTER TABLE market ADD COLUMN first_opened_at bigint NOT NULL DEFAULT 0",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
