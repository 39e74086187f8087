"""Changes to the people of tenants, and to operators: each validated, written and audited in the caller's
transaction.

`by` names the actor, `now` is Unix ms. A change that changes nothing writes no audit record. No mail is sent:
the one who invites a person passes them the one-time link.

Operators, who sign in to the trading console, are users of a tenant of their own, which has no keys, no vhost
and no owner, so that the people of no tenant can change them.
"""

import re
from typing import Any
from uuid import UUID, uuid4

import msgspec

from app.access import credentials
from app.access.credentials import Purpose
from app.access.second_factor import without_second_factor as stripped
from app.domain.tenant import LinkPurpose, OperatorRole, Role, Tenant, User
from app.kit.control_characters import has_control_characters
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.store import audit, sessions, tenants, users
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.transaction import Tx
from app.store.users import Link, UserRecord

LINK_MILLIS = 24 * 3_600_000
_MAX_EMAIL, _MAX_NAME = 254, 100
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_EMAIL = re.compile(rf"[a-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})+")
#: No tenant that is created has such a slug (`admin.create_tenant`).
OPERATORS_TENANT = "operators-"


class IssuedLink(msgspec.Struct, frozen=True):
    """A new one-time link: the token `raw` is shown once and cannot be recovered."""

    raw: str
    expires_at: int
    purpose: LinkPurpose

    def __repr__(self) -> str:
        return f"IssuedLink(raw=…, expires_at={self.expires_at}, purpose={self.purpose})"


def normalized_email(email: str) -> str:
    """The address as it is stored; empty if it is none."""
    address = email.strip().lower()
    return address if len(address) <= _MAX_EMAIL and _EMAIL.fullmatch(address) else ""


def link_address(public_url: str, raw: str) -> str:
    """Where a person of a tenant opens a link, on a service that answers at `public_url`."""
    return f"{public_url.rstrip('/')}/portal/link/{raw}"


async def create_user(
    tx: Tx,
    slug: str,
    email: str,
    name: str,
    role: Role,
    *,
    by: str,
    now: int,
    operator_role: OperatorRole | None = None,
) -> User:
    """A new user of the tenant, without a password yet; with an `operator_role` an operator
    (`create_operator`).

    Raises `NotFound`, `Invalid` with the fields that do not fit, `Conflict` when an active user of any tenant
    has the address.
    """
    tenant = await tenants.by_slug(tx, slug)
    address = normalized_email(email)
    user = User(
        id=uuid4(),
        tenant_id=tenant.id,
        email=address,
        name=name.strip(),
        role=role,
        created_at=now,
        operator_role=operator_role,
    )
    wrong = []
    if not address:
        wrong.append(Field(("email",), "This is no e-mail address.", "email"))
    if not 1 <= len(user.name) <= _MAX_NAME or has_control_characters(name) or not name.isprintable():
        what = f"A name has 1 to {_MAX_NAME} characters, all of them printable."
        wrong.append(Field(("name",), what, "name", ctx={"highest": _MAX_NAME}))
    if wrong:
        raise Invalid(*wrong)
    await users.insert(tx, user)
    await audit_change(tx, by, now, "user.create", user, role=(operator_role or role).value)
    return user


async def set_role(tx: Tx, tenant_id: UUID, user_id: UUID, role: Role, *, by: str, now: int) -> User:
    """Give a user another role, at once in all their sessions.

    Raises `NotFound`, `Conflict` for a user that has ended and for the tenant's last active owner.
    """
    record, owners = await _lock(tx, tenant_id, user_id)
    if not record.user.active:
        raise _ended()
    if record.user.role is role:
        return record.user
    if owners == {user_id}:
        raise _last_owner()
    changed = msgspec.structs.replace(record.user, role=role)
    await users.save(tx, msgspec.structs.replace(record, user=changed))
    await audit_change(tx, by, now, "user.role", changed, role=role.value, before=record.user.role.value)
    return changed


async def end_user(
    tx: Tx, tenant_id: UUID, user_id: UUID, *, by: str, now: int, operator: bool = False
) -> User:
    """End a user for good, with their sessions and links; the address may be used again.

    Raises `NotFound`, and `Conflict` for the tenant's last active owner, whom only an `operator` may end.
    """
    record, owners = await _lock(tx, tenant_id, user_id)
    if not record.user.active:
        return record.user
    if owners == {user_id} and not operator:
        raise _last_owner()
    ended = msgspec.structs.replace(record.user, active=False)
    await users.save(tx, msgspec.structs.replace(record, user=ended))
    await sessions.end_all(tx, user_id)
    await users.end_links(tx, user_id, now)
    await audit_change(tx, by, now, "user.end", ended)
    return ended


async def issue_link(
    tx: Tx,
    tenant_id: UUID,
    user_id: UUID,
    *,
    secret: str,
    by: str,
    now: int,
    without_second_factor: bool = False,
) -> IssuedLink:
    """A link by which the user sets a password, once, within 24 hours; earlier links of the user end.

    With `without_second_factor` it also removes the second factor, for a user who has lost it. Raises
    `NotFound`, `Conflict` for a user that has ended.
    """
    record = await users.lock_in_tenant(tx, tenant_id, user_id)
    if not record.user.active:
        raise _ended()
    await users.end_links(tx, user_id, now)
    raw = credentials.new_token()
    link = Link(
        id=uuid4(),
        user_id=user_id,
        purpose=LinkPurpose.RESET if record.user.has_password else LinkPurpose.INVITATION,
        without_second_factor=without_second_factor,
        created_at=now,
        expires_at=now + LINK_MILLIS,
    )
    await users.insert_link(tx, link, credentials.token_hash(raw, Purpose.LINK, secret))
    how = {"purpose": link.purpose.value, "without_second_factor": without_second_factor}
    await audit_change(tx, by, now, "user.link", record.user, **how)
    return IssuedLink(raw, link.expires_at, link.purpose)


async def link_user(tx: Tx, raw: str, *, secret: str, now: int) -> User | None:
    """Whose link this is, if it may be used: not one that is unknown, expired, used or replaced, nor one of a
    user or a tenant that is not active."""
    found = await _usable(tx, raw, secret, now)
    return found[1].user if found else None


async def redeem_link(store: Store, raw: str, password: str, *, secret: str, now: int) -> User:
    """Set the password of the link's user; the link and all sessions of the user end.

    Raises `NotFound` for a link that may not be used, whatever the reason (of two calls at once, one wins),
    `Invalid` for a password that does not fit, with which the link is not used up.
    """
    async with store.autocommit() as tx:
        found = await _usable(tx, raw, secret, now)
    if found is None:
        raise _unusable()
    link, record = found
    credentials.validate_password(password, record.user.email)
    hashed = await credentials.hash_password(password)
    async with store.transaction() as tx:
        # The user's row first, as everywhere: two transactions never wait for each other.
        record = await users.lock(tx, link.user_id)
        if not _may_sign_in(record) or not await users.end_link(tx, link.id, now):
            raise _unusable()
        if link.without_second_factor:
            record = stripped(record)
        user = msgspec.structs.replace(
            record.user, has_password=True, second_factor=record.totp_secret is not None
        )
        changed = msgspec.structs.replace(record, user=user, password_hash=hashed, wrong_codes=0)
        await users.save(tx, changed)
        ended = await sessions.end_all(tx, user.id)
        how = {"how": link.purpose.value, "without_second_factor": link.without_second_factor}
        await audit_change(tx, user.actor, now, "user.password", user, **how, sessions_ended=ended)
    return user


async def _usable(tx: Tx, raw: str, secret: str, now: int) -> tuple[Link, UserRecord] | None:
    if not credentials.is_token(raw):
        return None
    link = await users.link_by_hash(tx, credentials.token_hash(raw, Purpose.LINK, secret), now)
    record = await users.get(tx, link.user_id) if link else None
    return (link, record) if link and record and _may_sign_in(record) else None


def _may_sign_in(record: UserRecord) -> bool:
    return record.user.active and record.tenant.active


async def _lock(tx: Tx, tenant_id: UUID, user_id: UUID) -> tuple[UserRecord, set[UUID]]:
    """The user, and the tenant's active owners, all locked."""
    owners = await users.lock_owners(tx, tenant_id)
    return await users.lock_in_tenant(tx, tenant_id, user_id), owners


def _ended() -> Conflict:
    return Conflict("This user has ended; create another one.", code="user_ended")


def _last_owner() -> Conflict:
    what = "This is the tenant's last owner; make another user an owner first."
    return Conflict(what, code="last_owner")


def _unusable() -> NotFound:
    what = "This link cannot be used: it was used or replaced, or has expired. Ask for another one."
    return NotFound(what, code="link_unusable")


async def audit_change(tx: Tx, by: str, now: int, action: str, user: User, **details: Any) -> None:
    """Write the audit row of a change of a user."""
    record = AuditRecord(now, by, action, str(user.id), user.tenant_id, {"email": user.email} | details)
    await audit.add(tx, record)


async def create_operator(tx: Tx, email: str, name: str, role: OperatorRole, *, by: str, now: int) -> User:
    """A new operator, without a password yet. Raises as `users.create_user`."""
    await _operators_tenant(tx, now)
    return await create_user(
        tx, OPERATORS_TENANT, email, name, Role.READER, by=by, now=now, operator_role=role
    )


async def set_operator_role(tx: Tx, email: str, role: OperatorRole, *, by: str, now: int) -> User:
    """Give an operator another role, at once in all their sessions. Raises `NotFound`."""
    record = await users.lock(tx, (await operator_by_email(tx, email)).id)
    if record.user.operator_role is role:
        return record.user
    changed = msgspec.structs.replace(record.user, operator_role=role)
    await users.save(tx, msgspec.structs.replace(record, user=changed))
    await audit_change(tx, by, now, "user.role", changed, operator_role=role.value)
    return changed


async def operator_by_email(tx: Tx, email: str) -> User:
    """The active operator with that address. Raises `NotFound`."""
    record = await users.by_email(tx, normalized_email(email))
    if record is None or not record.user.is_operator:
        raise NotFound(f"There is no active operator {email!r}.")
    return record.user


async def operator_listing(tx: Tx) -> list[User]:
    """All operators, those that have ended too, oldest first."""
    found = [each for each in await tenants.listing(tx) if each.slug == OPERATORS_TENANT]
    return await users.listing(tx, found[0].id) if found else []


async def _operators_tenant(tx: Tx, now: int) -> UUID:
    found = [each for each in await tenants.listing(tx) if each.slug == OPERATORS_TENANT]
    if found:
        return found[0].id
    tenant = Tenant(uuid4(), OPERATORS_TENANT, "Operators")
    await tenants.insert(tx, tenant, now)
    return tenant.id
