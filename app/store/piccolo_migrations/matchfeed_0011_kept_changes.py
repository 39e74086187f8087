"""Matches whose changes are kept beyond the change log, and replays of them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, Array, BigInt, Bytea, Integer, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:11:000000"
VERSION = "1.38.0"
DESCRIPTION = "kept changes and replays"

# The next migration completes keys and indices.
_TABLES: dict[str, migration_steps.Columns] = {
    "kept_change": {
        "match_id": UUID(primary_key=True, default=None),
        "last_seq": BigInt(default=None),
        "first_seq": BigInt(default=None),
        "number": BigInt(default=None),
        "rows": Integer(default=None),
        "prev_seq": BigInt(default=None),
        "envelope_seq": BigInt(default=None),
        "at": BigInt(default=None),
        "body": Bytea(default=None),
    },
    "replay_event": {
        "tenant_id": UUID(primary_key=True, default=None),
        "node": Text(default=None),
        "match_id": UUID(default=None),
        "position": BigInt(default=None),
    },
    "replay_job": {
        "id": BigInt(primary_key=True, default=None),
        "tenant_id": UUID(default=None),
        "node": Text(default=None),
        "match_ids": Array(base_column=UUID(), default=None),
        "options": Json(default=None),
        "state": Text(default=None),
        "scheduled_at": BigInt(default=None),
        "started_at": BigInt(null=True, default=None),
        "finished_at": BigInt(null=True, default=None),
        "holder": Text(null=True, default=None),
        "attempts": Integer(default=0),
        "due_at": BigInt(default=0),
        "positions": Json(default=None),
        "envelopes": BigInt(default=0),
        "error": Text(default=""),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
