"""What Piccolo cannot express of the tables of the migration before: a key of several columns, numbers that
the database assigns, and a column that is compressed already."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:23:000000"
VERSION = "1.38.0"
DESCRIPTION = "the keys of inputs of matches"

STATEMENTS = (
    """
    ALTER TABLE match_input DROP CONSTRAINT match_input_pkey, ADD PRIMARY KEY (match_id, id),
        ALTER id ADD GENERATED ALWAYS AS IDENTITY, ALTER body SET STORAGE EXTERNAL
    """,
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
