"""The commands that operators gave on a match, in order, with what each changed."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:05:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "operators' commands with what they changed"

# Piccolo has no primary key of two columns.
STATEMENTS = (
    """
    CREATE TABLE match_command (
        match_id uuid NOT NULL,
        revision integer NOT NULL,
        at bigint NOT NULL,
        actor text NOT NULL,
        person text NOT NULL,
        command json NOT NULL,
        before json NOT NULL,
        after json NOT NULL,
        consent_by text,
        undone_by integer,
        PRIMARY KEY (match_id, revision)
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
