"""Every sender of a match's log: the one that is followed, and those that are not."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:02:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "the senders of a match's log"

STATEMENTS = (
    """
    CREATE TABLE match_source (
        match_id uuid NOT NULL,
        source text NOT NULL,
        server text NOT NULL,
        instance text NOT NULL,
        peer text NOT NULL,
        map text NOT NULL,
        state text NOT NULL,
        why text NOT NULL,
        claims boolean NOT NULL,
        first_seen bigint NOT NULL,
        last_seen bigint NOT NULL,
        end_offset bigint,
        last_line text NOT NULL,
        PRIMARY KEY (match_id, source)
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
