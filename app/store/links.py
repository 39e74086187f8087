"""One-time links by which users set a password: never the token, only its keyed hash."""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.domain.user import LinkPurpose
from app.store.prepared import prepared, reading_row, writing
from app.store.tables.tenant import PortalLink
from app.store.transaction import Row, Tx


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


def _link(row: Row) -> Link:
    return Link(**dict(row) | {"purpose": LinkPurpose(row["purpose"])})


async def insert(tx: Tx, link: Link, digest: bytes) -> None:
    await tx.change(_insert(digest, *msgspec.structs.astuple(link)))


@reading_row(_link)
def by_hash(digest: bytes, now: int, /) -> Select[PortalLink]:
    """The link with that hash, if it may still be used."""
    query = PortalLink.select(*_COLUMNS).where(PortalLink.hash == digest, PortalLink.expires_at > now)
    return query.where(PortalLink.ended_at.is_null())


@writing
def end(link_id: UUID, now: int, /) -> Update[Any]:
    """End a link; 1 if this call did, 0 if it had ended before."""
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.id == link_id)
    return query.where(PortalLink.ended_at.is_null())


@writing
def end_all(user_id: UUID, now: int, /) -> Update[Any]:
    """End every link of a user."""
    query = PortalLink.update({PortalLink.ended_at: now}).where(PortalLink.user_id == user_id)
    return query.where(PortalLink.ended_at.is_null())


@prepared
def _insert(digest: bytes, *link: object) -> Insert[PortalLink]:
    row: dict[str, Any] = dict(zip(Link.__struct_fields__, link, strict=True))
    return PortalLink.insert(PortalLink(hash=digest, **row))
