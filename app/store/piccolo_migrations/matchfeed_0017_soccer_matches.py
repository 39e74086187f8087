"""Soccer's matches."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Integer, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:17:000000"
VERSION = "1.38.0"
DESCRIPTION = "soccer's matches"

# The next migration makes the indices.
_TABLES: dict[str, migration_steps.Columns] = {
    "soccer_match": {
        "id": Integer(primary_key=True, default=None),
        "tournament_id": Integer(default=None),
        "season": Text(default=None),
        "round": Text(default=None),
        "home_id": Integer(default=None),
        "away_id": Integer(default=None),
        "day": Text(default=None),
        "status": Text(default=None),
        "body": Json(default=None),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
