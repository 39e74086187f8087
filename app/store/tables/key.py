from piccolo.columns import JSON, UUID, Array, BigInt, Boolean, Bytea, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class ApiKey(Table, tablename="api_key", db=DIALECT):
    """A tenant's key. Only its keyed `hash` is stored; `hint` is its first characters, for people.
    `reference` is the operator's own id of it."""

    id = UUID(primary_key=True)
    tenant_id = UUID()
    hash = Bytea(unique=True)
    hint = Text()
    label = Text()
    scopes = Array(base_column=Text())
    sports = Array(base_column=Text())
    networks = Array(base_column=Text())
    rate_limit_rpm = Integer()
    finished_only = Boolean()
    operator = Boolean()
    active = Boolean()
    created_at = BigInt()
    revoked_at = BigInt(null=True)
    replaced_by = UUID(null=True)
    last_used_at = BigInt(null=True)
    reference = Text(null=True, default=None)


class Audit(Table, tablename="audit", db=DIALECT):
    """Who changed what about tenants, keys and bookings; never updated."""

    id = BigInt(primary_key=True)
    at = BigInt()
    actor = Text()
    action = Text()
    tenant_id = UUID(null=True)
    subject = Text()
    details = JSON()
