"""Whether a tenant receives the model's probabilities with the odds."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:11:000000"
VERSION = "1.38.0"
DESCRIPTION = "whether a tenant receives the model's probabilities with the odds"

STATEMENTS = ("ALTER TABLE tenant ADD COLUMN probabilities boolean NOT NULL DEFAULT false",)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
