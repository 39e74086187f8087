"""The people of tenants: what is known of each, and what is stored to check them."""

from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from piccolo.columns import Column
from piccolo.query import Insert, Select, Update
from piccolo.querystring import QueryString

from app.domain.tenant import Tenant
from app.domain.user import OperatorRole, Role, User
from app.kit.errors import Conflict, NotFound
from app.store.prepared import prepared, reading_row, reading_rows
from app.store.sql import NEWEST, holds
from app.store.tables.tenant import PortalUser
from app.store.tables.tenant import Tenant as TenantTable
from app.store.tenants import joined_columns, read_joined
from app.store.transaction import Row, Tx

_NO_USER = "There is no such user."
#: The columns that a change may write, in the order of `_save`.
_CHANGEABLE = (
    *("role", "operator_role", "active", "last_sign_in_at", "password_hash"),
    *("totp_secret", "totp_pending", "totp_step", "wrong_codes"),
)
_OWN = (
    *("id", "tenant_id", "email", "name", "role", "operator_role"),
    *("active", "created_at", "last_sign_in_at"),
)
_CHECKS = ("password_hash", "totp_secret", "totp_pending", "totp_step", "wrong_codes")


class UserRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A user with their tenant and what checks them: the hash of the password, the encrypted secrets of the
    second factor (`totp_pending` is not confirmed yet), the time step of the last accepted code, and how many
    wrong ones came since."""

    user: User
    tenant: Tenant
    password_hash: str | None = None
    totp_secret: bytes | None = None
    totp_pending: bytes | None = None
    totp_step: int = -1
    wrong_codes: int = 0

    def __repr__(self) -> str:
        return f"UserRecord(user={self.user.id}, …)"


def _record(row: Row) -> UserRecord:
    checks = {name: row[name] for name in _CHECKS}
    user = read_user(row)
    return UserRecord(user=user, tenant=read_joined(row, user.tenant_id), **checks)


def user_columns(user: Any) -> list[Any]:
    """The columns of a user for `read_user`; `user` is the table, or a join to it."""
    columns = [getattr(user, name).as_alias(f"user_{name}") for name in _OWN]
    present = {"has_password": user.password_hash, "second_factor": user.totp_secret}
    return columns + [QueryString("{} IS NOT NULL", of, alias=f"user_{name}") for name, of in present.items()]


def read_user(row: Row) -> User:
    fields = {name: row[f"user_{name}"] for name in (*_OWN, "has_password", "second_factor")}
    of_operator = fields["operator_role"]
    operator_role = OperatorRole(of_operator) if of_operator else None
    return User(**fields | {"role": Role(fields["role"]), "operator_role": operator_role})


async def insert(tx: Tx, user: User) -> None:
    """Add a user without a password; raises `Conflict` when an active one has the address."""
    operator_role = user.operator_role.value if user.operator_role else None
    fields = (user.id, user.tenant_id, user.email, user.name, user.role.value, user.created_at)
    try:
        await tx.change(_insert(*fields, operator_role))
    except asyncpg.UniqueViolationError as error:
        what = f"There is a user with the address {user.email} already."
        raise Conflict(what, code="address_taken", email=user.email) from error


@reading_row(_record)
def by_email(email: str, /) -> Select[PortalUser]:
    """The active user with that address."""
    return _records().where(PortalUser.email == email, holds(PortalUser.active))


async def get(tx: Tx, user_id: UUID) -> UserRecord:
    """Raises `NotFound`."""
    return _found(await tx.first(_get(user_id, lock=False)))


async def lock(tx: Tx, user_id: UUID) -> UserRecord:
    """`get`, and the user's row locked until the transaction ends."""
    return _found(await tx.first(_get(user_id, lock=True)))


async def lock_in_tenant(tx: Tx, tenant_id: UUID, user_id: UUID) -> UserRecord:
    """`lock`; a user of another tenant is not found."""
    return _found(await tx.first(_lock_in_tenant(tenant_id, user_id)))


async def lock_owners(tx: Tx, tenant_id: UUID) -> set[UUID]:
    """The tenant's active owners, their rows locked; before any other user of the tenant is locked, so that
    two changes of owners wait for one another."""
    return {row["id"] for row in await tx.run(_lock_owners(tenant_id, Role.OWNER.value))}


@reading_rows(read_user)
def listing(tenant_id: UUID, /) -> Select[PortalUser]:
    """The tenant's users, those that have ended too, oldest first."""
    query = PortalUser.select(*user_columns(PortalUser)).where(PortalUser.tenant_id == tenant_id)
    return query.order_by(PortalUser.created_at, PortalUser.id)


async def newest(
    tx: Tx, tenant_id: UUID, *, active: bool, limit: int, before: tuple[int, UUID] | None = None
) -> list[User]:
    """At most `limit` of the tenant's users that are active or have ended, newest first, that were created
    `before` that moment (Unix ms) and user."""
    at, user_id = before or NEWEST
    return [read_user(row) for row in await tx.run(_newest(tenant_id, active, at, user_id, limit=limit))]


async def save(tx: Tx, record: UserRecord) -> None:
    """Write what may change of a user, whose row the transaction has locked: not the id, tenant, address,
    name. `has_password` and `second_factor` follow from the rest."""
    user = record.user
    operator_role = user.operator_role.value if user.operator_role else None
    fields = (user.role.value, operator_role, user.active, user.last_sign_in_at, record.password_hash)
    secrets = (record.totp_secret, record.totp_pending, record.totp_step, record.wrong_codes)
    await tx.change(_save(user.id, *fields, *secrets))


@prepared
def _insert(*values: object) -> Insert[PortalUser]:
    names = "id tenant_id email name role created_at operator_role"
    row: dict[str, Any] = dict(zip(names.split(), values, strict=True))
    return PortalUser.insert(PortalUser(**row))


def _records() -> Select[PortalUser]:
    tenant = PortalUser.tenant_id.join_on(TenantTable.id)
    checks = [getattr(PortalUser, name) for name in _CHECKS]
    return PortalUser.select(*user_columns(PortalUser), *joined_columns(tenant), *checks)


@prepared
def _get(user_id: UUID, *, lock: bool) -> Select[PortalUser]:
    query = _records().where(PortalUser.id == user_id)
    return query.lock_rows("UPDATE", of=(PortalUser,)) if lock else query


@prepared
def _lock_in_tenant(tenant_id: UUID, user_id: UUID) -> Select[PortalUser]:
    query = _records().where(PortalUser.id == user_id, PortalUser.tenant_id == tenant_id)
    return query.lock_rows("UPDATE", of=(PortalUser,))


@prepared
def _lock_owners(tenant_id: UUID, role: str) -> Select[PortalUser]:
    query = PortalUser.select(PortalUser.id).where(PortalUser.tenant_id == tenant_id, PortalUser.role == role)
    return query.where(holds(PortalUser.active)).order_by(PortalUser.id).lock_rows("UPDATE")


@prepared
def _newest(tenant_id: UUID, active: bool, at: int, user_id: UUID, *, limit: int) -> Select[PortalUser]:
    earlier = (PortalUser.created_at < at) | ((PortalUser.created_at == at) & (PortalUser.id < user_id))
    query = PortalUser.select(*user_columns(PortalUser)).where(
        PortalUser.tenant_id == tenant_id, PortalUser.active == active, earlier
    )
    return query.order_by(PortalUser.created_at, PortalUser.id, ascending=False).limit(limit)


@prepared
def _save(user_id: UUID, *values: object) -> Update[PortalUser]:
    changed: dict[Column | str, Any] = dict(zip(_CHANGEABLE, values, strict=True))
    return PortalUser.update(changed).where(PortalUser.id == user_id)


def _found(row: Row | None) -> UserRecord:
    if row is None:
        raise NotFound(_NO_USER, code="no_user")
    return _record(row)
