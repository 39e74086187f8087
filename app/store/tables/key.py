from piccolo.columns import UUID, Array, BigInt, Boolean, Bytea, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Computed, Json
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
    active = Boolean(default=True)
    created_at = BigInt()
    revoked_at = BigInt(null=True, default=None)
    replaced_by = UUID(null=True, default=None)
    last_used_at = BigInt(null=True, default=None)
    reference = Text(null=True, default=None)


class Audit(Table, tablename="audit", db=DIALECT):
    """Who changed what about tenants, keys and bookings; never updated."""

    id = Computed(primary_key=True)
    at = BigInt()
    actor = Text()
    action = Text()
    tenant_id = UUID(null=True, default=None)
    subject = Text()
    details = Json()
