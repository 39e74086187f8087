"""What a feed process sees of its tenants, and the fixture changes that outlive the change log."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "state of the feed by tenant, past fixture changes"

STATEMENTS = (
    """
    ALTER TABLE tenant_cursor
        ADD COLUMN state text NOT NULL DEFAULT '',
        ADD COLUMN said_at bigint NOT NULL DEFAULT 0,
        ADD COLUMN dropped bigint NOT NULL DEFAULT 0,
        ADD COLUMN told_dead bigint NOT NULL DEFAULT -1
    """,
    """
    CREATE TABLE past_fixture (
        seq bigint PRIMARY KEY,
        match_id uuid NOT NULL,
        number bigint NOT NULL,
        at bigint NOT NULL,
        envelope_seq bigint NOT NULL,
        body json NOT NULL
    )
    """,
    "CREATE INDEX past_fixture_at ON past_fixture (at)",
    "CREATE INDEX past_fixture_match ON past_fixture (match_id)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
