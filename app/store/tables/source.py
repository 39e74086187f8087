from piccolo.columns import UUID, BigInt, Bytea, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class LogSource(Table, tablename="log_source", db=DIALECT):
    """Where the sender of a match's log is: `next_offset` is the first byte not yet applied."""

    match_id = UUID(primary_key=True)
    instance = Text()
    next_offset = BigInt()
    last_batch_at = BigInt()


class LogPending(Table, tablename="log_pending", db=DIALECT):
    """A log range that came before the one that it follows."""

    match_id = UUID(primary_key=True)
    begin_offset = BigInt()
    end_offset = BigInt()
    body = Bytea()
    instance = Text()
    arrived_at = BigInt()
