"""Signed-in browsers: never the token, only its keyed hash. A session that ends is deleted."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import msgspec
from piccolo.columns import Column
from piccolo.query import Delete, Select, Update

from app.domain.tenant import Session, Tenant, User
from app.kit.grouping import grouped
from app.store import tenants
from app.store.prepared import prepared, reading, reading_optional_number, reading_row, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import any_of
from app.store.tables.tenant import PortalSession, PortalUser
from app.store.tables.tenant import Tenant as TenantTable
from app.store.transaction import Row, Tx
from app.store.users import read_user, user_columns

_ROWS = RowMapping(PortalSession, Session, beside=("user_id", "hash"))
_USER = PortalSession.user_id.join_on(PortalUser.id)
_TENANT = _USER.tenant_id.join_on(TenantTable.id)


class FoundSession(msgspec.Struct, frozen=True):
    """A session with its user and tenant, which need not be active."""

    session: Session
    user: User
    tenant: Tenant


def _found(row: Row) -> FoundSession:
    return FoundSession(_ROWS.read(row), read_user(row), tenants.ROWS.read_joined(row))


def _with_people() -> Select[PortalSession]:
    return PortalSession.select(*_ROWS.columns, *user_columns(_USER), *tenants.ROWS.joined(_TENANT))


async def insert(tx: Tx, user_id: UUID, session: Session, digest: bytes) -> None:
    await tx.change(_ROWS.insert(session, user_id, digest))


@reading_row(_found)
def by_hash(digest: bytes, /) -> Select[PortalSession]:
    """The session with that hash, however old."""
    return _with_people().where(PortalSession.hash == digest)


async def by_ids(tx: Tx, ids: Collection[UUID]) -> list[FoundSession]:
    """Those of these sessions that have not ended, however old."""
    return [_found(row) for row in await tx.run(_by_ids(list(ids)))] if ids else []


@reading_rows(_ROWS.read)
def listing(user_id: UUID, /) -> Select[PortalSession]:
    """The user's sessions, however old, newest first."""
    query = PortalSession.select(*_ROWS.columns).where(PortalSession.user_id == user_id)
    return query.order_by(PortalSession.created_at, PortalSession.id, ascending=False)


@writing
def record_seen(session_id: UUID, now: int, /) -> Update[Any]:
    return PortalSession.update({PortalSession.last_seen_at: now}).where(
        PortalSession.id == session_id, PortalSession.last_seen_at < now
    )


@writing
def record_watched(session_id: UUID, match_id: UUID, now: int, /) -> Update[Any]:
    """Record that the session has the page of that match open."""
    return PortalSession.update({PortalSession.watched_match: match_id, PortalSession.watched_at: now}).where(
        PortalSession.id == session_id
    )


@reading(lambda rows: _by_match(rows))
def watching(since: int, /) -> Select[Any]:
    """Who had which match open at that time (Unix ms) or later: the names of people by match, in order."""
    columns = (PortalSession.watched_match, _USER.name.as_alias("name"))
    query = PortalSession.select(*columns).where(PortalSession.watched_at >= since)
    return query.order_by(_USER.name)


def _by_match(rows: Iterable[Row]) -> dict[UUID, tuple[str, ...]]:
    found = grouped((row["watched_match"], row["name"]) for row in rows)
    return {match_id: tuple(dict.fromkeys(names)) for match_id, names in found.items()}


@reading_optional_number
def count_password_attempt(user_id: UUID, session_id: UUID, /) -> Update[Any]:
    """Count a password that is presented to change the password; how many there were, or None when the user
    has no such session."""
    more: dict[Column | str, Any] = {PortalSession.password_attempts: PortalSession.password_attempts + 1}
    query = PortalSession.update(more).where(PortalSession.id == session_id, PortalSession.user_id == user_id)
    return query.returning(PortalSession.password_attempts)


@writing
def forget_password_attempts(session_id: UUID, /) -> Update[Any]:
    return PortalSession.update({PortalSession.password_attempts: 0}).where(PortalSession.id == session_id)


@writing
def end(user_id: UUID, session_id: UUID, /) -> Delete:
    """End a session of the user; 1 if there was one, else 0."""
    return PortalSession.delete().where(PortalSession.id == session_id, PortalSession.user_id == user_id)


@writing
def end_all(user_id: UUID, /) -> Delete:
    """End every session of a user; how many there were."""
    return PortalSession.delete().where(PortalSession.user_id == user_id)


@writing
def end_others(user_id: UUID, keep: UUID, /) -> Delete:
    """End every session of a user except one; how many there were."""
    return PortalSession.delete().where(PortalSession.user_id == user_id, PortalSession.id != keep)


@writing
def delete_older(user_id: UUID, created_before: int, seen_before: int, /) -> Delete:
    """Delete a user's sessions that began before the one time or were last seen before the other (ms)."""
    old = (PortalSession.created_at < created_before) | (PortalSession.last_seen_at < seen_before)
    return PortalSession.delete().where(PortalSession.user_id == user_id, old)


@prepared
def _by_ids(ids: Collection[UUID]) -> Select[PortalSession]:
    return _with_people().where(any_of(PortalSession.id, ids))
