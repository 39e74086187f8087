"""What a log source needs to be told apart from its repeats, and where bad batches are laid aside."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "parked log batches, operator commands"

STATEMENTS = (
    "ALTER TABLE log_source ADD COLUMN last_message text NOT NULL DEFAULT ''",
    "ALTER TABLE log_source ADD COLUMN broken boolean NOT NULL DEFAULT false",
    "ALTER TABLE log_pending ADD COLUMN kept_at bigint NOT NULL DEFAULT 0",
    """
    CREATE TABLE log_parked (
        message text PRIMARY KEY,
        match_id uuid NOT NULL,
        instance text NOT NULL,
        begin_offset bigint,
        end_offset bigint,
        body bytea NOT NULL,
        arrived_at bigint NOT NULL,
        parked_at bigint NOT NULL,
        error text NOT NULL
    )
    """,
    # An operator's own id of a match that it had us create: asking again answers the same match.
    """
    CREATE TABLE match_reference (
        reference text PRIMARY KEY,
        match_id uuid NOT NULL,
        asked json NOT NULL
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
