"""What Piccolo cannot express of the table of the migration before: a key of several columns."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:05:000000"
VERSION = "1.38.0"
DESCRIPTION = "the key of samples of the delivery"

STATEMENTS = (
    """
    ALTER TABLE delivery_minute DROP CONSTRAINT delivery_minute_pkey,
        ADD PRIMARY KEY (tenant_id, minute, epoch)
    """,
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
