"""The digest of the first line of a sender's log."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Text

ID = "2031-01-01T00:06:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "first line of a sender's log"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    column = Text(default="")
    manager.add_column(
        table_class_name="LogOffset",
        tablename="log_source",
        column_name="first_line",
        column_class=Text,
        params=column._meta.params,
    )
    return manager
