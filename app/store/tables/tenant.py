from piccolo.columns import UUID, Array, BigInt, Boolean, Integer, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class Tenant(Table, tablename="tenant", db=DIALECT):
    """A tenant. `broker_access_applied` is the access that was applied to the broker last; where it differs
    from `active`, it is to be applied again. `probabilities`: they are published to it with the odds.
    `types_off`: when which market types were switched off for it (`domain.types_off.TypeOff`); every reader
    of a tenant needs them, and they are few. `named_vhost`: "" where its vhost is named by its slug."""

    id = UUID(primary_key=True)
    slug = Text(unique=True)
    name = Text()
    amqp = Boolean()
    active = Boolean(default=True)
    broker_access_applied = Boolean(default=True)
    probabilities = Boolean(default=False)
    types_off = Json(default=b"[]")
    max_queues = Integer(default=10)
    named_vhost = Text(default="")
    created_at = BigInt()


class Unbooked(Table, tablename="unbooked", db=DIALECT):
    """A match that a tenant has unbooked; every match without such a row is booked. Up to the change `seq` it
    is published to the tenant."""

    tenant_id = UUID(primary_key=True)
    match_id = UUID()
    seq = BigInt(default=0)


class BookingGap(Table, tablename="booking_gap", db=DIALECT):
    """A part of the change log that is not published to a tenant, which had unbooked the match then: the
    changes after `after_seq` up to `until_seq`. The present one is the row of `Unbooked`."""

    until_seq = BigInt(primary_key=True)
    after_seq = BigInt()
    tenant_id = UUID()
    match_id = UUID()


class RefusedRecovery(Table, tablename="refused_recovery", db=DIALECT):
    """A recovery that was refused because its key's rate was exceeded; at `due_at` the key has room again."""

    key_id = UUID(primary_key=True)
    tenant_id = UUID()
    due_at = BigInt()


class TenantCursor(Table, tablename="tenant_cursor", db=DIALECT):
    """A tenant's cursor in the change log (`seq`), and the lease of the feed process that publishes to it.

    The rest is what that process has reported last: `store.cursors.TenantReport`, with the times when `alive`
    was last published and when a queue last dropped a message. `dropped_before`: how many messages the queues
    had dropped when the alert about it began. `former_holders` may still have a connection to the broker.
    """

    tenant_id = UUID(primary_key=True)
    seq = BigInt()
    holder = Text(null=True, default=None)
    epoch = Integer()
    expires_at = BigInt()
    state = Text()
    last_alive_at = BigInt()
    dropped = BigInt()
    dropped_at = BigInt()
    dropped_before = BigInt()
    notified_heartbeat = BigInt(default=-1)
    notice_pending = Boolean()
    bound_queues = Text()
    former_holders = Array(base_column=Text())
