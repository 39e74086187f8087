"""Whom the broker lets in, and by which id of its own an operator asked for a key."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "admission to the broker, references of keys"

STATEMENTS = (
    # Where it differs from `active`, the broker has still to be told.
    "ALTER TABLE tenant ADD COLUMN amqp_admitted boolean NOT NULL DEFAULT true",
    "ALTER TABLE api_key ADD COLUMN reference text",
    "CREATE UNIQUE INDEX api_key_reference ON api_key (tenant_id, reference)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
