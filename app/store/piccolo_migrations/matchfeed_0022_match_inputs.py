"""What the transactions on matches were given, and the versions of the coefficients."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Bytea, Text

from app.store import migration_steps

ID = "2031-02-01T00:00:22:000000"
VERSION = "1.38.0"
DESCRIPTION = "inputs of matches"

# The next migration completes keys.
_TABLES: dict[str, migration_steps.Columns] = {
    "match_input": {
        "match_id": UUID(primary_key=True, default=None),
        "id": BigInt(default=None),
        "body": Bytea(default=None),
    },
    "coefficients": {
        "sha256": Text(primary_key=True, default=None),
        "at": BigInt(default=None),
        "body": Bytea(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
