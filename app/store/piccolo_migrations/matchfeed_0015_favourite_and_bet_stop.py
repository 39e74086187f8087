"""Which markets are favourites, and which tenants receive `bet_stop`."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Boolean

from app.store import migration_steps

ID = "2031-02-01T00:00:15:000000"
VERSION = "1.38.0"
DESCRIPTION = "favourites, and tenants that receive bet_stop"

_COLUMNS: dict[str, migration_steps.Columns] = {
    "market": {"favourite": Boolean(default=False)},
    "tenant": {"bet_stop": Boolean(default=False)},
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, columns=_COLUMNS)
