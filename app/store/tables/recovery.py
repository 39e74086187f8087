from piccolo.columns import UUID, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Computed
from app.store.tables.dialect import DIALECT


class RecoveryJob(Table, tablename="recovery_job", db=DIALECT):
    """`domain.recovery.RecoveryJob`, one column per field. `holder` is the feed process that runs it; a run
    may begin from `due_at` on."""

    id = Computed(primary_key=True)
    tenant_id = UUID()
    kind = Text()
    request_id = Text()
    after = BigInt()
    node_id = Text(null=True, default=None)
    of_match = UUID(null=True, default=None)
    token = BigInt()
    state = Text()
    scheduled_at = BigInt()
    started_at = BigInt(null=True, default=None)
    finished_at = BigInt(null=True, default=None)
    due_at = BigInt()
    holder = Text(null=True, default=None)
    attempts = Integer()
    steps = Integer()
    steps_done = Integer()
    envelopes = BigInt()
    error = Text()


class RecoverySlot(Table, tablename="recovery_slot", db=DIALECT):
    """The lock of one (tenant, node), which may be acquired when it has expired."""

    tenant_id = UUID(primary_key=True)
    node = Text()
    token = BigInt()
    expires_at = BigInt()
