"""What is still shown of changes that are not kept any more: their numbers."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "numbers of forgotten changes"

STATEMENTS = (
    """
    CREATE TABLE past_seq (
        match_id uuid NOT NULL,
        kind text NOT NULL,
        key text NOT NULL,
        seq bigint NOT NULL,
        PRIMARY KEY (match_id, kind, key)
    )
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
