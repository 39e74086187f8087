from piccolo.columns import JSON, UUID, BigInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


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
    body = JSON()
