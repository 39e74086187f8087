from piccolo.columns import UUID, BigInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Alert(Table, tablename="alert", db=DIALECT):
    """`store.alerts.Alert`, a column a field; an alert that has not ended has `ended_at` null."""

    id = BigInt(primary_key=True)
    kind = Text()
    match_id = UUID(null=True)
    tenant = Text()
    subject = Text()
    detail = Text()
    since = BigInt()
    ended_at = BigInt(null=True)
