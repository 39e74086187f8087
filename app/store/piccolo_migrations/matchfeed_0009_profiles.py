"""Profiles, what they make prices of, and which of them each tenant had since when."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, DoublePrecision, Integer, SmallInt, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:09:000000"
VERSION = "1.38.0"
DESCRIPTION = "profiles of tenants"

# The next migration completes the key, and the column of tenants.
_TABLES: dict[str, migration_steps.Columns] = {
    "profile": {
        "name": Text(primary_key=True, default=None),
        "version": Integer(default=None),
        "body": Json(default=None),
        "created_at": BigInt(default=None),
        "created_by": Text(default=None),
    },
}
_COLUMNS: dict[str, migration_steps.Columns] = {
    "market": {
        "phase": Text(default="before_play"),
        "group_size": SmallInt(default=2),
        "margin_factor": DoublePrecision(default=1.0),
    },
    "tenant": {"profiles": Json(null=True, default=None)},
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES, columns=_COLUMNS)
