"""The rollbacks of a match, which are few among its ledger's entries."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:04:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "index of the ledger's rollbacks"


async def _create() -> None:
    await DB.run_ddl(
        """
        CREATE INDEX ledger_entry_reversed ON ledger_entry (match_id, id) WHERE
            (body->>'new_status' = 'pending' AND body->'void_window' IS NULL)
            OR body->>'window_rolled_back' = 'true'
        """
    )


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
