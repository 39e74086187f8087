"""When the feed said that a match is over, for recoveries."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:02:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "the stamp of the envelope that said that a match is over"

#: NULL for matches that are not over, and for those that a process of version 0.1.0 closed.
STATEMENTS = ("ALTER TABLE match ADD COLUMN closed_at bigint",)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
