"""The logs of matches: how far each was read, and who sends it."""

from piccolo.columns import UUID, BigInt, Boolean, Bytea, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class LogOffset(Table, tablename="log_offset", db=DIALECT):
    """`store.log_state.LogState`, but for what other tables hold; `next_offset` is -1 while the sender sends
    no offsets."""

    match_id = UUID(primary_key=True)
    instance = Text()
    next_offset = BigInt()
    last_batch_at = BigInt()
    last_message_id = Text()
    has_gap = Boolean()
    log_began = BigInt(default=0)
    first_line = Text(default="")
    another_log = Boolean(default=False)


class LogPending(Table, tablename="log_pending", db=DIALECT):
    """A log range that arrived before the one that it follows."""

    match_id = UUID(primary_key=True)
    begin_offset = BigInt()
    end_offset = BigInt()
    body = Bytea()
    instance = Text()
    arrived_at = BigInt()
    kept_at = BigInt()


class LogParked(Table, tablename="log_parked", db=DIALECT):
    """A batch that could not be applied."""

    message = Text(primary_key=True)
    match_id = UUID()
    instance = Text()
    begin_offset = BigInt(null=True, default=None)
    end_offset = BigInt(null=True, default=None)
    body = Bytea()
    arrived_at = BigInt()
    parked_at = BigInt()
    error = Text()


class LogSender(Table, tablename="log_sender", db=DIALECT):
    """`store.log_state.LogSender`, one column per field; the key is (match_id, source), the sender's
    name."""

    match_id = UUID(primary_key=True)
    source = Text()
    server = Text()
    instance = Text()
    peer = Text()
    map = Text()
    state = Text()
    why = Text()
    claims = Boolean()
    first_seen = BigInt()
    last_seen = BigInt()
    end_offset = BigInt(null=True, default=None)
    last_line = Text()
    unread_lines = BigInt(default=0)
    unread_line = Text(default="")
