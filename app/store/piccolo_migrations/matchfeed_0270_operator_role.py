"""The role of an operator in the console; null for the people of tenants."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Text

ID = "2031-01-01T00:04:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "the role of an operator in the console"


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    column = Text(null=True, default=None)
    manager.add_column(
        table_class_name="portal_user",
        tablename="portal_user",
        column_name="operator_role",
        column_class=Text,
        params=column._meta.params,
    )
    return manager
