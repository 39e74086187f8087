"""What Piccolo cannot express of the signed ledger, and where it begins: after the entries that there are."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:21:000000"
VERSION = "1.38.0"
DESCRIPTION = "the beginning of the signed ledger"

STATEMENTS = (
    "CREATE UNIQUE INDEX ledger_leaf_place ON ledger_leaf (day, index)",
    "CREATE UNIQUE INDEX ledger_key_current ON ledger_key ((retired_at IS NULL)) WHERE retired_at IS NULL",
    "INSERT INTO ledger_state (id, entry_id) SELECT 1, coalesce(max(id), 0) FROM ledger_entry",
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)
