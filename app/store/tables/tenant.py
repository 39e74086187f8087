from piccolo.columns import UUID, BigInt, Boolean, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Tenant(Table, tablename="tenant", db=DIALECT):
    """`amqp_admitted` is what the broker was told last; where it differs from `active` it has to be told."""

    id = UUID(primary_key=True)
    slug = Text(unique=True)
    name = Text()
    amqp = Boolean()
    active = Boolean()
    amqp_admitted = Boolean(default=True)
    created_at = BigInt()


class Unbooked(Table, tablename="unbooked", db=DIALECT):
    """A match that a tenant does not take; every match without such a row is booked."""

    tenant_id = UUID(primary_key=True)
    match_id = UUID()


class TenantCursor(Table, tablename="tenant_cursor", db=DIALECT):
    """How far a tenant has been told, and which feed process tells it until when.

    The rest is what that process has last seen: `state` of the connection ("" while it works), when `alive`
    was last said, how many messages the tenant's queues have lost and when the last of them, and the last
    ingest worker's beat for whose end the tenant was told `subscribed="0"`; `owed`: the tenant has missed
    something and has not been told so; `bound`: a JSON list of the queues that live messages are routed to,
    "" when there never was one. `dropped_before`: how many they had lost when the alert about it began.
    """

    tenant_id = UUID(primary_key=True)
    seq = BigInt()
    holder = Text(null=True)
    epoch = Integer()
    expires_at = BigInt()
    state = Text()
    said_at = BigInt()
    dropped = BigInt()
    dropped_at = BigInt()
    dropped_before = BigInt()
    told_dead = BigInt()
    owed = Boolean()
    bound = Text()
