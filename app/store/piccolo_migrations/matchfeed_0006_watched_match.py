"""Which match an operator's browser has open, for the others at the console."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column

ID = "2031-02-01T00:00:06:000000"
VERSION = "1.38.0"
DESCRIPTION = "the match that an operator watches"

_COLUMNS: dict[str, Column] = {
    "watched_match": UUID(null=True, default=None),
    "watched_at": BigInt(null=True, default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for name, column in _COLUMNS.items():
        manager.add_column(
            table_class_name="PortalSession",
            tablename="portal_session",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager
