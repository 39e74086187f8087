"""Signed-in browsers: never the token, only its keyed hash. A session that ends is deleted."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns import Column
from piccolo.query import Delete, Insert, Select, Update

from app.domain.tenant import Tenant
from app.domain.user import Session, User
from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.tables.tenant import Tenant as TenantTable
from app.store.tables.user import PortalSession, PortalUser
from app.store.transaction import Tx
from app.store.users import read_tenant, read_user, tenant_columns, user_columns

_COLUMNS = tuple(getattr(PortalSession, name) for name in Session.__struct_fields__)
_USER = PortalSession.user_id.join_on(PortalUser.id)
_TENANT = _USER.tenant_id.join_on(TenantTable.id)


class FoundSession(msgspec.Struct, frozen=True):
    """A session with its user and tenant, which need not be active."""

    session: Session
    user: User
    tenant: Tenant


async def insert(tx: Tx, user_id: UUID, session: Session, digest: bytes) -> None:
    times = (session.created_at, session.last_seen_at)
    await tx.change(_insert(session.id, user_id, digest, *times, session.address, session.user_agent))


async def by_hash(tx: Tx, digest: bytes) -> FoundSession | None:
    """The session with that hash, however old."""
    row = await tx.first(_by_hash(digest))
    return None if row is None else _found(row)


async def by_ids(tx: Tx, ids: Collection[UUID]) -> list[FoundSession]:
    """Those of these sessions that have not ended, however old."""
    return [_found(row) for row in await tx.run(_by_ids(list(ids)))] if ids else []


def _found(row: Mapping[str, Any]) -> FoundSession:
    session = Session(**{name: row[name] for name in Session.__struct_fields__})
    return FoundSession(session, read_user(row), read_tenant(row))


async def listing(tx: Tx, user_id: UUID) -> list[Session]:
    """The user's sessions, however old, newest first."""
    return [Session(**row) for row in await tx.run(_of_user(user_id))]


async def record_seen(tx: Tx, session_id: UUID, now: int) -> None:
    await tx.change(_record_seen(session_id, now))


async def count_password_attempt(tx: Tx, user_id: UUID, session_id: UUID) -> int | None:
    """Count a password that is presented to change the password; how many there were, or None when the user
    has no such session."""
    count: int | None = await tx.one_value(_count_password_attempt(user_id, session_id))
    return count


async def forget_password_attempts(tx: Tx, session_id: UUID) -> None:
    await tx.change(_forget_password_attempts(session_id))


async def end(tx: Tx, user_id: UUID, session_id: UUID) -> bool:
    """End a session of the user; whether there was one."""
    return bool(await tx.change(_end(user_id, session_id)))


async def end_all(tx: Tx, user_id: UUID) -> int:
    """End every session of a user; how many there were."""
    return await tx.change(_end_all(user_id))


async def end_others(tx: Tx, user_id: UUID, keep: UUID) -> int:
    """End every session of a user except one; how many there were."""
    return await tx.change(_end_others(user_id, keep))


async def delete_older(tx: Tx, user_id: UUID, created_before: int, seen_before: int) -> None:
    """Delete a user's sessions that began before the one time or were last seen before the other (ms)."""
    await tx.change(_delete_older(user_id, created_before, seen_before))


@prepared
def _insert(
    session_id: UUID,
    user_id: UUID,
    digest: bytes,
    created_at: int,
    last_seen_at: int,
    address: str,
    user_agent: str,
) -> Insert[PortalSession]:
    row = PortalSession(
        id=session_id,
        user_id=user_id,
        hash=digest,
        created_at=created_at,
        last_seen_at=last_seen_at,
        address=address,
        user_agent=user_agent,
    )
    return PortalSession.insert(row)


@prepared
def _by_hash(digest: bytes) -> Select[PortalSession]:
    return _with_people().where(PortalSession.hash == digest)


@prepared
def _by_ids(ids: Collection[UUID]) -> Select[PortalSession]:
    return _with_people().where(any_of(PortalSession.id, ids))


def _with_people() -> Select[PortalSession]:
    return PortalSession.select(*_COLUMNS, *user_columns(_USER), *tenant_columns(_TENANT))


@prepared
def _of_user(user_id: UUID) -> Select[PortalSession]:
    query = PortalSession.select(*_COLUMNS).where(PortalSession.user_id == user_id)
    return query.order_by(PortalSession.created_at, PortalSession.id, ascending=False)


@prepared
def _record_seen(session_id: UUID, now: int) -> Update[Any]:
    return PortalSession.update({PortalSession.last_seen_at: now}).where(
        PortalSession.id == session_id, PortalSession.last_seen_at < now
    )


@prepared
def _count_password_attempt(user_id: UUID, session_id: UUID) -> Update[Any]:
    more: dict[Column | str, Any] = {PortalSession.password_attempts: PortalSession.password_attempts + 1}
    query = PortalSession.update(more).where(PortalSession.id == session_id, PortalSession.user_id == user_id)
    return query.returning(PortalSession.password_attempts)


@prepared
def _forget_password_attempts(session_id: UUID) -> Update[Any]:
    return PortalSession.update({PortalSession.password_attempts: 0}).where(PortalSession.id == session_id)


@prepared
def _end(user_id: UUID, session_id: UUID) -> Delete:
    return PortalSession.delete().where(PortalSession.id == session_id, PortalSession.user_id == user_id)


@prepared
def _end_all(user_id: UUID) -> Delete:
    return PortalSession.delete().where(PortalSession.user_id == user_id)


@prepared
def _end_others(user_id: UUID, keep: UUID) -> Delete:
    return PortalSession.delete().where(PortalSession.user_id == user_id, PortalSession.id != keep)


@prepared
def _delete_older(user_id: UUID, created_before: int, seen_before: int) -> Delete:
    old = (PortalSession.created_at < created_before) | (PortalSession.last_seen_at < seen_before)
    return PortalSession.delete().where(PortalSession.user_id == user_id, old)
