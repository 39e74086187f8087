"""Reference prices of the market, our own prices at the same time, and what matches have of them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-02-01T00:00:02:000000"
VERSION = "1.38.0"
DESCRIPTION = "reference prices of the market"

STATEMENTS = (
    """
    CREATE TABLE reference_price (
        match_id uuid NOT NULL,
        source text NOT NULL,
        type_id integer NOT NULL,
        specifiers text NOT NULL,
        at bigint NOT NULL,
        odds double precision NOT NULL,
        received_at bigint NOT NULL,
        received_by text NOT NULL,
        PRIMARY KEY (match_id, source, type_id, specifiers, at)
    )
    """,
    """
    CREATE TABLE prematch_price (
        match_id uuid NOT NULL,
        type_id integer NOT NULL,
        specifiers text NOT NULL,
        at bigint NOT NULL,
        probability double precision NOT NULL,
        own double precision,
        odds double precision,
        PRIMARY KEY (match_id, type_id, specifiers, at)
    )
    """,
    # A process of version 0.2.0 writes `state` without fields that it does not know, and leaves this alone.
    "ALTER TABLE match ADD COLUMN reference_state json",
    "ALTER TABLE match ADD COLUMN references_due_at bigint",
    """
    CREATE INDEX match_references_due ON match (references_due_at)
        WHERE status IN ('discovered', 'upcoming') AND references_due_at IS NOT NULL
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
