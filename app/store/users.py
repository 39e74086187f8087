"""The people of tenants: what is known of each, what is stored to verify their sign-in, and the one-time
links by which they set a password."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from piccolo.columns import Column
from piccolo.query import Delete, Select, Update
from piccolo.querystring import QueryString

from app.domain.tenant import LinkPurpose, OperatorRole, Role, Tenant, User
from app.kit.errors import Conflict, NotFound
from app.store import tenants
from app.store.prepared import prepared, reading, reading_row, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import NEWEST, any_of, holds
from app.store.tables.tenant import PortalLink, PortalUser
from app.store.tables.tenant import Tenant as TenantTable
from app.store.transaction import Row, Tx

_NO_USER = "There is no such user."
_CHECKS = ("password_hash", "totp_secret", "totp_pending", "totp_step", "wrong_codes")
_CHANGEABLE = ("role", "operator_role", "active", "last_sign_in_at")  #: of a user, beside the checks
_ROWS = RowMapping(PortalUser, User)


class UserRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A user with their tenant and what verifies them: the hash of the password, the encrypted secrets of the
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


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A one-time link that has not ended, by which a user sets a password. Only its token's keyed hash is
    stored. One `without_second_factor` removes the user's second factor when it is used. Times in Unix ms."""

    id: UUID
    user_id: UUID
    purpose: LinkPurpose
    without_second_factor: bool = False
    created_at: int
    expires_at: int


_LINKS = RowMapping(PortalLink, Link, beside=("hash",))


def _record(row: Row) -> UserRecord:
    checks = {name: row[name] for name in _CHECKS}
    return UserRecord(user=read_user(row), tenant=tenants.ROWS.read_joined(row), **checks)


def user_columns(user: Any) -> list[Any]:
    """The columns of a user for `read_user`; `user` is the table, or a join to it."""
    present = {"has_password": user.password_hash, "second_factor": user.totp_secret}
    return [
        *_ROWS.joined(user),
        *(QueryString("{} IS NOT NULL", of, alias=name) for name, of in present.items()),
    ]


def read_user(row: Row) -> User:
    present = {name: row[name] for name in ("has_password", "second_factor")}
    return msgspec.structs.replace(_ROWS.read_joined(row), **present)


async def insert(tx: Tx, user: User) -> None:
    """Add a user without a password; raises `Conflict` when an active one has the address."""
    try:
        await tx.change(_ROWS.insert(user))
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


@reading_rows(_record)
def with_address(email: str, /) -> Select[PortalUser]:
    """The users with that address, those that have ended too."""
    return _records().where(PortalUser.email == email)


@reading_rows(_record)
def lock_with_address(email: str, /) -> Select[PortalUser]:
    """`with_address`, and their rows locked until the transaction ends."""
    query = _records().where(PortalUser.email == email).order_by(PortalUser.id)
    return query.lock_rows("UPDATE", of=(PortalUser,))


@reading(lambda rows: {row["id"] for row in rows})
def lock_owners(tenant_id: UUID, /) -> Select[PortalUser]:
    """The tenant's active owners, of operators' the admins, their rows locked; before any other user of the
    tenant is locked, so that two changes of owners wait for one another."""
    leads = (PortalUser.role == Role.OWNER) | (PortalUser.operator_role == OperatorRole.ADMIN)
    query = PortalUser.select(PortalUser.id).where(PortalUser.tenant_id == tenant_id, leads)
    return query.where(holds(PortalUser.active)).order_by(PortalUser.id).lock_rows("UPDATE")


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
    changed = [getattr(record.user, name) for name in _CHANGEABLE]
    await tx.change(_save(record.user.id, *changed, *(getattr(record, name) for name in _CHECKS)))


@writing
def delete(user_ids: Collection[UUID], /) -> Delete:
    """Delete these users, and with them their sessions and links."""
    return PortalUser.delete().where(any_of(PortalUser.id, user_ids))


async def insert_link(tx: Tx, link: Link, digest: bytes) -> None:
    await tx.change(_LINKS.insert(link, digest))


@reading_row(_LINKS.read)
def link_by_hash(digest: bytes, now: int, /) -> Select[PortalLink]:
    """The link with that hash, if it may still be used."""
    query = PortalLink.select(*_LINKS.columns).where(PortalLink.hash == digest, PortalLink.expires_at > now)
    return query.where(PortalLink.ended_at.is_null())


@writing
def end_link(link_id: UUID, now: int, /) -> Update[Any]:
    """End a link; 1 if this call did, 0 if it had ended before."""
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.id == link_id)
    return query.where(PortalLink.ended_at.is_null())


@writing
def end_links(user_id: UUID, now: int, /) -> Update[Any]:
    """End every link of a user."""
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.user_id == user_id)
    return query.where(PortalLink.ended_at.is_null())


def _records() -> Select[PortalUser]:
    tenant = PortalUser.tenant_id.join_on(TenantTable.id)
    checks = [getattr(PortalUser, name) for name in _CHECKS]
    return PortalUser.select(*user_columns(PortalUser), *tenants.ROWS.joined(tenant), *checks)


@prepared
def _get(user_id: UUID, *, lock: bool) -> Select[PortalUser]:
    query = _records().where(PortalUser.id == user_id)
    return query.lock_rows("UPDATE", of=(PortalUser,)) if lock else query


@prepared
def _lock_in_tenant(tenant_id: UUID, user_id: UUID) -> Select[PortalUser]:
    query = _records().where(PortalUser.id == user_id, PortalUser.tenant_id == tenant_id)
    return query.lock_rows("UPDATE", of=(PortalUser,))


@prepared
def _newest(tenant_id: UUID, active: bool, at: int, user_id: UUID, *, limit: int) -> Select[PortalUser]:
    earlier = (PortalUser.created_at < at) | ((PortalUser.created_at == at) & (PortalUser.id < user_id))
    query = PortalUser.select(*user_columns(PortalUser)).where(
        PortalUser.tenant_id == tenant_id, PortalUser.active == active, earlier
    )
    return query.order_by(PortalUser.created_at, PortalUser.id, ascending=False).limit(limit)


@prepared
def _save(user_id: UUID, *values: object) -> Update[PortalUser]:
    changed: dict[Column | str, Any] = dict(zip((*_CHANGEABLE, *_CHECKS), values, strict=True))
    return PortalUser.update(changed).where(PortalUser.id == user_id)


def _found(row: Row | None) -> UserRecord:
    if row is None:
        raise NotFound(_NO_USER, code="no_user")
    return _record(row)
