from piccolo.columns import UUID, BigInt, Boolean, Bytea, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


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
    `password_attempts` counts passwords that were presented to change the password."""

    id = UUID(primary_key=True)
    user_id = UUID()
    hash = Bytea(unique=True)
    created_at = BigInt()
    last_seen_at = BigInt()
    address = Text()
    user_agent = Text()
    password_attempts = Integer()
