"""Samples of the delivery to each tenant, one for each minute."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Integer

from app.store import migration_steps

ID = "2031-02-01T00:00:04:000000"
VERSION = "1.38.0"
DESCRIPTION = "samples of the delivery"

# The next migration completes the key.
_TABLES: dict[str, migration_steps.Columns] = {
    "delivery_minute": {
        "tenant_id": UUID(primary_key=True, default=None),
        "minute": BigInt(default=None),
        "epoch": Integer(default=None),
        "published": BigInt(default=None),
        "lag": BigInt(default=None),
        "dropped": BigInt(default=None),
        "notices": BigInt(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
