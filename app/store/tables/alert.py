from piccolo.columns import UUID, BigInt, Text
from piccolo.table import Table

from app.store.tables.columns import Computed
from app.store.tables.dialect import DIALECT


class Alert(Table, tablename="alert", db=DIALECT):
    """`store.alerts.Alert`, one column per field; `ended_at` is null for an open alert."""

    id = Computed(primary_key=True)
    kind = Text()
    match_id = UUID(null=True, default=None)
    tenant = Text()
    subject = Text()
    detail = Text()
    since = BigInt()
    ended_at = BigInt(null=True, default=None)
    seen_at = BigInt(null=True, default=None)
    seen_by = Text(null=True, default=None)
    taken_at = BigInt(null=True, default=None)
    taken_by = Text(null=True, default=None)
    ended_by = Text(null=True, default=None)
