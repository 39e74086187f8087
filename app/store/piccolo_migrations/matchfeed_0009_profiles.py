"""Profiles, what they make prices of, and which of them each tenant had since when."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Column, DoublePrecision, Integer, SmallInt, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:09:000000"
VERSION = "1.38.0"
DESCRIPTION = "profiles of tenants"

# The default None is that of a column without one. The next migration completes the key, and the
# column of tenants.
_PROFILE: dict[str, Column] = {
    "name": Text(primary_key=True, default=None),
    "version": Integer(default=None),
    "body": Json(default=None),
    "created_at": BigInt(default=None),
    "created_by": Text(default=None),
}
_MARKET: dict[str, Column] = {
    "phase": Text(default="before_play"),
    "group_size": SmallInt(default=2),
    "margin_factor": DoublePrecision(default=1.0),
}
_TENANT: dict[str, Column] = {"profiles": Json(null=True, default=None)}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="profile", tablename="profile")
    for table, columns in (("profile", _PROFILE), ("market", _MARKET), ("tenant", _TENANT)):
        for name, column in columns.items():
            manager.add_column(
                table_class_name=table,
                tablename=table,
                column_name=name,
                column_class=type(column),
                params=_params(column),
            )
    return manager


def _params(column: Column) -> dict[str, object]:
    if isinstance(column, Json):
        return {"default": column.default, "null": column._meta.null, "db_column_name": None}
    return column._meta.params
