"""The service's own status: incidents, announced maintenance, and what was measured each day."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Integer, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:26:000000"
VERSION = "1.38.0"
DESCRIPTION = "the status of the service"

# The next migration completes keys.
_TABLES: dict[str, migration_steps.Columns] = {
    "incident": {
        "id": BigInt(primary_key=True, default=None),
        "kind": Text(default=None),
        "began_at": BigInt(default=None),
        "ended_at": BigInt(null=True, default=None, index=True),
        "updates": Json(default=None),
    },
    "maintenance": {
        "id": BigInt(primary_key=True, default=None),
        "begins_at": BigInt(default=None),
        "ends_at": BigInt(default=None, index=True),
        "text": Text(default=None),
        "parts": Json(default=None),
        "announced_at": BigInt(default=None),
        "cancelled_at": BigInt(null=True, default=None),
    },
    "status_observation": {
        "id": Integer(primary_key=True, default=None),
        "first_at": BigInt(default=None),
        "at": BigInt(default=None),
    },
    "delay_count": {
        "day": Text(primary_key=True, default=None),
        "process": Text(default=None),
        "figure": Text(default=None),
        "total": BigInt(default=None),
        "counts": Json(default=None),
    },
    "status_day": {
        "day": Text(primary_key=True, default=None),
        "body": Json(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
