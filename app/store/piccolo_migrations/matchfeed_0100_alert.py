"""Alerts, and the fields of a match's state that version 0.1.0 does not know."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:40:000000"
VERSION = "1.38.0"
DESCRIPTION = "alerts; later fields of a match's state"

STATEMENTS = (
    """
    CREATE TABLE alert (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind text NOT NULL,
        match_id uuid,
        tenant text NOT NULL DEFAULT '',
        subject text NOT NULL DEFAULT '',
        detail text NOT NULL,
        since bigint NOT NULL,
        ended_at bigint
    )
    """,
    # One open alert of a kind about one thing. NULLs would be distinct in a plain unique index.
    """
    CREATE UNIQUE INDEX alert_open ON alert
        (kind, coalesce(match_id, '00000000-0000-0000-0000-000000000000'), tenant, subject)
        WHERE ended_at IS NULL
    """,
    "CREATE INDEX alert_match ON alert (match_id, id)",
    "CREATE INDEX alert_since ON alert (since)",
    # A process of version 0.1.0 writes `state` without fields that it does not know, and leaves this alone.
    "ALTER TABLE match ADD COLUMN later json NOT NULL DEFAULT '{}'",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager
