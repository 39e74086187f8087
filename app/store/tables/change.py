"""The change log, and what of it outlives its pruning."""

from piccolo.columns import UUID, BigInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Json


class Change(Table, tablename="change", db=DIALECT):
    """The change log: see `app.store.changes`."""

    seq = BigInt(primary_key=True)
    match_id = UUID()
    number = BigInt()
    entity = Text()
    key = Text()
    frame = Text()
    message = Text()
    at = BigInt()
    envelope_seq = BigInt()
    prev_seq = BigInt()
    body = Json()
    arrived_at = BigInt()


class PastFixture(Table, tablename="past_fixture", db=DIALECT):
    """A fixture change that was pruned from the change log and that a recovery may still replay."""

    seq = BigInt(primary_key=True)
    match_id = UUID()
    number = BigInt()
    at = BigInt()
    envelope_seq = BigInt()
    body = Json()


class PastSeq(Table, tablename="past_seq", db=DIALECT):
    """The seq of the newest pruned change of each entity that the stream shows."""

    match_id = UUID(primary_key=True)
    kind = Text()
    key = Text()
    seq = BigInt()
