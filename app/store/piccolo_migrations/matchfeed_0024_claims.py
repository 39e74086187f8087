"""Claims of tenants."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Integer, Text

from app.store import migration_steps

ID = "2031-02-01T00:00:24:000000"
VERSION = "1.38.0"
DESCRIPTION = "claims"

# The next migration completes keys and indices.
_REQUIRED = {
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
_OPTIONAL = {
    "request_id": Text,
    "taken_at": BigInt,
    "taken_by": Text,
    "answered_at": BigInt,
    "answered_by": Text,
    "consent_id": BigInt,
    "correction_id": BigInt,
    "ended_at": BigInt,
}
_COLUMNS = {
    "id": UUID(primary_key=True, default=None),
    **{name: kind(default=None) for name, kind in _REQUIRED.items()},
    **{name: kind(null=True, default=None) for name, kind in _OPTIONAL.items()},
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables={"claim": _COLUMNS})
