"""Claims of tenants."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, Integer, Text

ID = "2031-02-01T00:00:24:000000"
VERSION = "1.38.0"
DESCRIPTION = "claims"

# The default None is that of a column without one. The next migration completes keys and indices.
_REQUIRED: dict[str, type[Column]] = {
    "tenant_id": UUID,
    "tenant": Text,
    "match_id": UUID,
    "number": BigInt,
    "type_id": Integer,
    "specifiers": Text,
    "entry_id": BigInt,
    "result": Text,
    "expected": Text,
    "reason": Text,
    "evidence": Text,
    "opened_at": BigInt,
    "opened_by": Text,
    "deadline_at": BigInt,
    "state": Text,
    "answer": Text,
}
_OPTIONAL: dict[str, type[Column]] = {
    "request_id": Text,
    "taken_at": BigInt,
    "taken_by": Text,
    "answered_at": BigInt,
    "answered_by": Text,
    "consent_id": BigInt,
    "correction_id": BigInt,
    "ended_at": BigInt,
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="claim", tablename="claim")
    columns: dict[str, Any] = {"id": UUID(primary_key=True, default=None)}
    columns |= {name: kind(default=None) for name, kind in _REQUIRED.items()}
    columns |= {name: kind(null=True, default=None) for name, kind in _OPTIONAL.items()}
    for name, column in columns.items():
        manager.add_column(
            table_class_name="claim",
            tablename="claim",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager
