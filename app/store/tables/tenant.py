"""Tenants, their people and keys, what is published to them, and the recoveries that they requested."""

from piccolo.columns import UUID, Array, BigInt, Boolean, Bytea, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Computed, Json


class Tenant(Table, tablename="tenant", db=DIALECT):
    """A tenant. `broker_access_applied` is the access that was applied to the broker last; where it differs
    from `active`, it is to be applied again. `probabilities`: the model's are published with the odds.
    `types_off`: when which market types were switched off for it (`domain.types_off.TypeOff`); every reader
    of a tenant needs them, and they are few. `profiles`: by which profiles its odds were made since when, as
    `domain.profiles.ProfileChange`, as far back as the change log. `bet_stop`: it receives this message.
    `named_vhost`: "" where its vhost is named by its slug."""

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
    profiles = Json(default=b"[]")
    bet_stop = Boolean(default=False)
    created_at = BigInt()


class Profile(Table, tablename="profile", db=DIALECT):
    """A version of a profile, which is never changed; the key is the first two columns, the `body` a
    `domain.profiles.Profile`."""

    name = Text(primary_key=True)
    version = Integer()
    body = Json()
    created_at = BigInt()
    created_by = Text()


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


class DeliveryMinute(Table, tablename="delivery_minute", db=DIALECT):
    """`store.delivery_minutes.DeliveryMinute`, one column per field; the key is the first three."""

    tenant_id = UUID(primary_key=True)
    minute = BigInt()
    epoch = Integer()
    published = BigInt()
    lag = BigInt()
    dropped = BigInt()
    notices = BigInt()


class RecoveryJob(Table, tablename="recovery_job", db=DIALECT):
    """`domain.recovery.RecoveryJob`, one column per field. `holder` is the feed process that runs it; a run
    may begin from `due_at` on."""

    id = Computed(primary_key=True)
    tenant_id = UUID()
    kind = Text()
    request_id = Text()
    after = BigInt()
    node_id = Text(null=True, default=None)
    of_match = UUID(null=True, default=None)
    token = BigInt()
    state = Text()
    scheduled_at = BigInt()
    started_at = BigInt(null=True, default=None)
    finished_at = BigInt(null=True, default=None)
    due_at = BigInt()
    holder = Text(null=True, default=None)
    attempts = Integer()
    steps = Integer()
    steps_done = Integer()
    envelopes = BigInt()
    error = Text()


class RecoverySlot(Table, tablename="recovery_slot", db=DIALECT):
    """The lock of one (tenant, node), which may be acquired when it has expired."""

    tenant_id = UUID(primary_key=True)
    node = Text()
    token = BigInt()
    expires_at = BigInt()


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
    """Who changed what: `store.audit.AuditRecord`; never updated."""

    id = Computed(primary_key=True)
    at = BigInt()
    actor = Text()
    action = Text()
    tenant_id = UUID(null=True, default=None)
    subject = Text()
    details = Json()


class PortalUser(Table, tablename="portal_user", db=DIALECT):
    """A person of a tenant, or an operator, who alone has an `operator_role`. `totp_secret` and
    `totp_pending` (begun, not confirmed) are encrypted; `totp_step` is the time step of the last accepted
    code, `wrong_codes` counts those refused since."""

    id = UUID(primary_key=True)
    tenant_id = UUID()
    email = Text()
    name = Text()
    role = Text()
    active = Boolean(default=True)
    created_at = BigInt()
    last_sign_in_at = BigInt(null=True, default=None)
    password_hash = Text(null=True, default=None)
    totp_secret = Bytea(null=True, default=None)
    totp_pending = Bytea(null=True, default=None)
    totp_step = BigInt(default=-1)
    wrong_codes = Integer()
    operator_role = Text(null=True, default=None)


class PortalLink(Table, tablename="portal_link", db=DIALECT):
    """A one-time link to set a password. Only the keyed `hash` of its token is stored; `ended_at` is when it
    was used, replaced by another or its user ended."""

    id = UUID(primary_key=True)
    user_id = UUID()
    hash = Bytea(unique=True)
    purpose = Text()
    without_second_factor = Boolean()
    created_at = BigInt()
    expires_at = BigInt()
    ended_at = BigInt(null=True, default=None)


class PortalSession(Table, tablename="portal_session", db=DIALECT):
    """A signed-in browser. Only the keyed `hash` of its token is stored; a session that ended is deleted.
    `password_attempts` counts passwords that were presented to change the password. `watched_match`: the id
    of the match whose page it had open at `watched_at`, of an operator."""

    id = UUID(primary_key=True)
    user_id = UUID()
    hash = Bytea(unique=True)
    created_at = BigInt()
    last_seen_at = BigInt()
    address = Text()
    user_agent = Text()
    password_attempts = Integer()
    watched_match = UUID(null=True, default=None)
    watched_at = BigInt(null=True, default=None)
