"""The signed ledger: leaves, heads, keys, and how far it has come."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Boolean, Bytea, Integer, SmallInt, Text

from app.store import migration_steps
from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "the signed ledger"

# The next migration makes the indices and the only state.
_TABLES: dict[str, migration_steps.Columns] = {
    "ledger_leaf": {
        "entry_id": BigInt(primary_key=True, default=None),
        "day": Text(default=None),
        "index": Integer(default=None),
        "hash": Bytea(default=None),
        "salt": Bytea(default=None),
        "price_salt": Bytea(default=None),
        "price_count": Integer(default=None),
        "price_first_seq": BigInt(default=None),
        "price_digest": Bytea(default=None),
    },
    "ledger_head": {
        "number": BigInt(primary_key=True, default=None),
        "body": Bytea(default=None),
        "signatures": Json(default=None),
    },
    "ledger_key": {
        "id": Text(primary_key=True, default=None),
        "public_key": Bytea(default=None),
        "private_key": Bytea(null=True, default=None),
        "created_at": BigInt(default=None),
        "retired_at": BigInt(null=True, default=None),
    },
    "ledger_state": {
        "id": SmallInt(primary_key=True, default=None),
        "entry_id": BigInt(default=None),
        "restored": Boolean(default=False),
    },
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, tables=_TABLES)
