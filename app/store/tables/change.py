"""The change log, and what of it outlives its pruning."""

from piccolo.columns import UUID, BigInt, Bytea, Integer, Text
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


class KeptChange(Table, tablename="kept_change", db=DIALECT):
    """Consecutive rows of one match that were pruned from the change log in one transaction: `body` is their
    JSON, compressed (zlib); see `app.store.kept_changes`. `prev_seq` is the first row's, `envelope_seq` that
    of the last envelope that is published to all (`prev_seq` where there is none), `at` the last row's. The
    key is (match_id, last_seq)."""

    match_id = UUID(primary_key=True)
    last_seq = BigInt()
    first_seq = BigInt()
    number = BigInt()
    rows = Integer()
    prev_seq = BigInt()
    envelope_seq = BigInt()
    at = BigInt()
    body = Bytea()
