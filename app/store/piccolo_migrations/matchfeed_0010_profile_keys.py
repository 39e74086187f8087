"""What Piccolo cannot express about profiles: a key of two columns, and the default of a `json` column."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "the key of profiles, and the profiles of tenants"

STATEMENTS = (
    "ALTER TABLE profile DROP CONSTRAINT profile_pkey, ADD PRIMARY KEY (name, version)",
    "UPDATE tenant SET profiles = '[]' WHERE profiles IS NULL",
    "ALTER TABLE tenant ALTER profiles SET DEFAULT '[]', ALTER profiles SET NOT NULL",
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
