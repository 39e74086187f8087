"""Claims of tenants."""

from piccolo.columns import UUID, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Claim(Table, tablename="claim", db=DIALECT):
    """`domain.claims.Claim`, one column per field."""

    id = UUID(primary_key=True)
    tenant_id = UUID()
    tenant = Text()
    match_id = UUID()
    number = BigInt()
    type_id = Integer()
    specifiers = Text()
    entry_id = BigInt()
    result = Text()
    expected = Text()
    reason = Text()
    evidence = Text()
    request_id = Text(null=True, default=None)
    opened_at = BigInt()
    opened_by = Text()
    deadline_at = BigInt()
    state = Text()
    taken_at = BigInt(null=True, default=None)
    taken_by = Text(null=True, default=None)
    answer = Text()
    answered_at = BigInt(null=True, default=None)
    answered_by = Text(null=True, default=None)
    consent_id = BigInt(null=True, default=None)
    correction_id = BigInt(null=True, default=None)
    ended_at = BigInt(null=True, default=None)
