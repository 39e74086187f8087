"""A command is found by its match and the match's revision after it."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:05:01:000000"
VERSION = "1.38.0"
DESCRIPTION = "the key of operators' commands"


async def _set_key() -> None:
    await DB.run_ddl(
        "ALTER TABLE match_command DROP CONSTRAINT match_command_pkey, ADD PRIMARY KEY (match_id, revision)"
    )


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_set_key)
    return manager
