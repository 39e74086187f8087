"""One-time links by which users set a password: never the token, only its keyed hash."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.domain.user import LinkPurpose
from app.store.prepared import prepared
from app.store.tables.user import PortalLink
from app.store.transaction import Tx


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link that has not ended. One `without_second_factor` removes the user's second factor when it is
    used. Times in Unix ms."""

    id: UUID
    user_id: UUID
    purpose: LinkPurpose
    without_second_factor: bool = False
    created_at: int
    expires_at: int


_COLUMNS = tuple(getattr(PortalLink, name) for name in Link.__struct_fields__)


async def insert(tx: Tx, link: Link, digest: bytes) -> None:
    times = (link.created_at, link.expires_at)
    await tx.change(
        _insert(link.id, link.user_id, digest, link.purpose.value, link.without_second_factor, *times)
    )


async def by_hash(tx: Tx, digest: bytes, now: int) -> Link | None:
    """The link with that hash, if it may still be used."""
    row = await tx.first(_by_hash(digest, now))
    return Link(**dict(row) | {"purpose": LinkPurpose(row["purpose"])}) if row else None


async def end(tx: Tx, link_id: UUID, now: int) -> bool:
    """End a link; whether this call did."""
    return bool(await tx.change(_end(link_id, now)))


async def end_all(tx: Tx, user_id: UUID, now: int) -> None:
    """End every link of a user."""
    await tx.change(_end_all(user_id, now))


@prepared
def _insert(
    link_id: UUID, user_id: UUID, digest: bytes, purpose: str, bare: bool, created_at: int, expires_at: int
) -> Insert[PortalLink]:
    row = PortalLink(
        id=link_id,
        user_id=user_id,
        hash=digest,
        purpose=purpose,
        without_second_factor=bare,
        created_at=created_at,
        expires_at=expires_at,
    )
    return PortalLink.insert(row)


@prepared
def _by_hash(digest: bytes, now: int) -> Select[PortalLink]:
    query = PortalLink.select(*_COLUMNS).where(PortalLink.hash == digest, PortalLink.expires_at > now)
    return query.where(PortalLink.ended_at.is_null())


@prepared
def _end(link_id: UUID, now: int) -> Update[Any]:
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.id == link_id)
    return query.where(PortalLink.ended_at.is_null())


@prepared
def _end_all(user_id: UUID, now: int) -> Update[Any]:
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.user_id == user_id)
    return query.where(PortalLink.ended_at.is_null())
