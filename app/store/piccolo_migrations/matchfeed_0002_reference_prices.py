"""Reference prices of the market, our own prices at the same time, and what matches have of them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, DoublePrecision, Integer, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:02:000000"
VERSION = "1.38.0"
DESCRIPTION = "reference prices of the market"

# The next migration completes the keys: Piccolo makes none of several columns.
_TABLES: dict[str, migration_steps.Columns] = {
    "reference_price": {
        "match_id": UUID(primary_key=True, default=None),
        "source": Text(default=None),
        "type_id": Integer(default=None),
        "specifiers": Text(default=None),
        "at": BigInt(default=None),
        "odds": DoublePrecision(default=None),
        "received_at": BigInt(default=None),
        "received_by": Text(default=None),
    },
    "prematch_price": {
        "match_id": UUID(primary_key=True, default=None),
        "type_id": Integer(default=None),
        "specifiers": Text(default=None),
        "at": BigInt(default=None),
        "probability": DoublePrecision(default=None),
        "own": DoublePrecision(null=True, default=None),
        "odds": DoublePrecision(null=True, default=None),
    },
}
# A process of version 0.2.0 writes a match's `state` without fields that it does not know, and leaves these
# alone.
_OF_MATCHES = {
    "reference_state": Json(null=True, default=None),
    "references_due_at": BigInt(null=True, default=None),
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES, columns={"match": _OF_MATCHES})
