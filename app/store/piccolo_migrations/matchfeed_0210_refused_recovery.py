"""Recoveries that were refused because their key's rate was exceeded, for clients that do not repeat them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "recoveries that were refused because their key's rate was exceeded"


async def _create() -> None:
    await DB.run_ddl(
        """
        CREATE TABLE refused_recovery (
            key_id uuid PRIMARY KEY,
            tenant_id uuid NOT NULL,
            due_at bigint NOT NULL
        )
        """
    )


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
