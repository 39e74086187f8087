"""Soccer's matches."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Column, Integer, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:17:000000"
VERSION = "1.38.0"
DESCRIPTION = "soccer's matches"

# The default None is that of a column without one. The next migration makes the indices.
_MATCH: dict[str, Column] = {
    "id": Integer(primary_key=True, default=None),
    "tournament_id": Integer(default=None),
    "season": Text(default=None),
    "round": Text(default=None),
    "home_id": Integer(default=None),
    "away_id": Integer(default=None),
    "day": Text(default=None),
    "status": Text(default=None),
    "body": Json(default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="soccer_match", tablename="soccer_match")
    for name, column in _MATCH.items():
        manager.add_column(
            table_class_name="soccer_match",
            tablename="soccer_match",
            column_name=name,
            column_class=type(column),
            params=_params(column),
        )
    return manager


def _params(column: Column) -> dict[str, Any]:
    if isinstance(column, Json):
        return {"default": column.default, "null": column._meta.null, "db_column_name": None}
    return column._meta.params
