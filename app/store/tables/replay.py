"""What tenants replay: their lists of matches, and the replays that they started."""

from piccolo.columns import UUID, Array, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Computed, Json


class ReplayEvent(Table, tablename="replay_event", db=DIALECT):
    """A match of a node's list, which is in the order of `position`; `node` is "" for a tenant that has no
    nodes. The key is (tenant_id, node, match_id)."""

    tenant_id = UUID(primary_key=True)
    node = Text()
    match_id = UUID()
    position = Computed()


class ReplayJob(Table, tablename="replay_job", db=DIALECT):
    """`domain.replay.ReplayJob`, one column per field. `holder` is the feed process that runs it; a run may
    begin from `due_at` on."""

    id = Computed(primary_key=True)
    tenant_id = UUID()
    node = Text()
    match_ids = Array(base_column=UUID())
    options = Json()
    state = Text()
    scheduled_at = BigInt()
    started_at = BigInt(null=True, default=None)
    finished_at = BigInt(null=True, default=None)
    holder = Text(null=True, default=None)
    attempts = Integer(default=0)
    due_at = BigInt(default=0)
    positions = Json()
    envelopes = BigInt(default=0)
    error = Text()
