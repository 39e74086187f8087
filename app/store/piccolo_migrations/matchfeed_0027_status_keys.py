"""What Piccolo cannot express of the status: rows that the database numbers, a key of several columns, and
that one incident of a kind is open at most."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:27:000000"
VERSION = "1.38.0"
DESCRIPTION = "incidents, maintenance, and the key of counted delays"

STATEMENTS = (
    "ALTER TABLE incident ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY",
    "CREATE UNIQUE INDEX incident_open ON incident (kind) WHERE ended_at IS NULL",
    "ALTER TABLE maintenance ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY",
    "ALTER TABLE delay_count DROP CONSTRAINT delay_count_pkey, ADD PRIMARY KEY (day, process, figure)",
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
