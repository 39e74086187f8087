"""Combinations, and the states that they were priced by."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, Array, BigInt, Bytea, DoublePrecision, Numeric, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:07:000000"
VERSION = "1.38.0"
DESCRIPTION = "combinations and the states that they were priced by"

# The next migration completes keys and indices.
_TABLES: dict[str, migration_steps.Columns] = {
    "combination": {
        "id": UUID(primary_key=True, default=None),
        "tenant_id": UUID(default=None),
        "created_at": BigInt(default=None),
        "odds": Numeric(default=None),
        "probability": DoublePrecision(default=None),
        "legs": Json(default=None),
        "matches": Json(default=None),
        "match_ids": Array(base_column=UUID(), default=None),
        "request_id": Text(null=True, default=None),
        "remade": Json(null=True, default=None),
    },
    "priced_state": {
        "match_id": UUID(primary_key=True, default=None),
        "digest": Bytea(default=None),
        "body": Bytea(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
