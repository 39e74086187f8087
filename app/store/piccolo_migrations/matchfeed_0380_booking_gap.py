"""When a match was not booked, as long as the change log has what was left out."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column

ID = "2031-01-01T00:06:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "parts of the change log that are not published to a tenant"

# The seq at which the match was booked again is that of one row of the change log: no two gaps have the same.
COLUMNS: dict[str, Column] = {
    "until_seq": BigInt(primary_key=True, default=None),
    "after_seq": BigInt(default=None),
    "tenant_id": UUID(default=None),
    "match_id": UUID(default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="BookingGap", tablename="booking_gap")
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="BookingGap",
            tablename="booking_gap",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager
