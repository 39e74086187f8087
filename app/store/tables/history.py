from piccolo.columns import UUID, BigInt, Boolean, Integer, SmallInt, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class Round(Table, tablename="round", db=DIALECT):
    """A finished round; `id` is its history id within the match."""

    match_id = UUID(primary_key=True)
    id = Integer()
    map = SmallInt()
    number = SmallInt()
    void = Boolean()
    body = Json()


class TimelineEvent(Table, tablename="timeline_event", db=DIALECT):
    """A kill or bomb event; `id` is its history id within the match."""

    match_id = UUID(primary_key=True)
    id = Integer()
    map = SmallInt()
    round = SmallInt()
    void = Boolean()
    body = Json()


class LedgerEntry(Table, tablename="ledger_entry", db=DIALECT):
    """A settlement ledger entry; `id` is the change log's number. Never updated."""

    id = BigInt(primary_key=True)
    match_id = UUID()
    type_id = Integer()
    specifiers = Text()
    at = BigInt()
    body = Json()
