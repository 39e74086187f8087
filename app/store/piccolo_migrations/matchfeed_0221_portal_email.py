"""The index by which a person signs in: no two active users have the same address."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:41:000000"
VERSION = "1.38.0"
DESCRIPTION = "no two active users of the portal have the same address"


async def _create() -> None:
    await DB.run_ddl("CREATE UNIQUE INDEX portal_user_email ON portal_user (email) WHERE active")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
