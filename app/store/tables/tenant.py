from piccolo.columns import UUID, BigInt, Boolean, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Tenant(Table, tablename="tenant", db=DIALECT):
    """A tenant. `amqp_admitted` is the access that was applied to the broker last; where it differs from
    `active`, it is to be applied again. `probabilities`: its odds come with the model's probabilities."""

    id = UUID(primary_key=True)
    slug = Text(unique=True)
    name = Text()
    amqp = Boolean()
    active = Boolean()
    amqp_admitted = Boolean(default=True)
    probabilities = Boolean(default=False)
    created_at = BigInt()


class Unbooked(Table, tablename="unbooked", db=DIALECT):
    """A match that a tenant has unbooked; every match without such a row is booked."""

    tenant_id = UUID(primary_key=True)
    match_id = UUID()


class RefusedRecovery(Table, tablename="refused_recovery", db=DIALECT):
    """A recovery that was refused because its key's rate was exceeded; at `due_at` the key has room again."""

    key_id = UUID(primary_key=True)
    tenant_id = UUID()
    due_at = BigInt()


class TenantCursor(Table, tablename="tenant_cursor", db=DIALECT):
    """A tenant's cursor in the change log (`seq`), and the lease of the feed process that publishes to it.

    The rest is what that process has reported last: `state` of the connection ("" while it works), when
    `alive` was last published (`said_at`), how many messages the tenant's queues have lost and when the last
    of them (`dropped`, `dropped_at`), and the last ingest worker's heartbeat after whose end the tenant was
    sent `subscribed="0"` (`told_dead`); `owed`: the tenant has missed something and has not been notified of
    it; `bound`: a JSON list of the queues that live messages are routed to, "" when there never was one.
    `dropped_before`: how many they had lost when the alert about it began.
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
