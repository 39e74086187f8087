from piccolo.columns import UUID, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Computed, Json
from app.store.tables.dialect import DIALECT


class ConsentRequest(Table, tablename="consent_request", db=DIALECT):
    """`store.consent_requests.ConsentRequest`, one column per field; `outcome` is null while nobody has
    decided."""

    id = Computed(primary_key=True)
    match_id = UUID()
    at = BigInt()
    actor = Text()
    person = Text()
    reference = Text(null=True, default=None)
    command = Json()
    fingerprint = Text()
    expires_at = BigInt()
    outcome = Text(null=True, default=None)
    decided_at = BigInt(null=True, default=None)
    decided_by = Text(null=True, default=None)
    reason = Text()
    revision = Integer(null=True, default=None)
