"""Reports of imports of reference data, and which match each fixture became."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:19:000000"
VERSION = "1.38.0"
DESCRIPTION = "imports of reference data"

_TABLES: dict[str, migration_steps.Columns] = {
    "reference_report": {
        "id": UUID(primary_key=True, default=None),
        "at": BigInt(default=None, index=True),
        "by": Text(default=None),
        "name": Text(default=None),
        "sha256": Text(default=None, index=True),
        "body": Json(default=None),
    },
    "imported_fixture": {
        "reference": Text(primary_key=True, default=None),
        "match_id": UUID(default=None, index=True),
        "body": Json(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
