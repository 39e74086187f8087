"""When the prices of a match may next change because time passes."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "when the prices of a match may next change because time passes"

#: NULL: not before something happens. Not indexed: it changes with every line, and few matches are live.
STATEMENTS = ("ALTER TABLE match ADD COLUMN reprice_at bigint",)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
