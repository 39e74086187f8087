"""What Piccolo cannot express of the tables of the migration before: keys of several columns, a partial
index."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:03:000000"
VERSION = "1.38.0"
DESCRIPTION = "the keys of reference prices"

STATEMENTS = (
    """
    ALTER TABLE reference_price DROP CONSTRAINT reference_price_pkey,
        ADD PRIMARY KEY (match_id, source, type_id, specifiers, at)
    """,
    """
    ALTER TABLE prematch_price DROP CONSTRAINT prematch_price_pkey,
        ADD PRIMARY KEY (match_id, type_id, specifiers, at)
    """,
    """
    CREATE INDEX match_references_due ON match (references_due_at)
        WHERE status IN ('discovered', 'upcoming') AND references_due_at IS NOT NULL
    """,
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
