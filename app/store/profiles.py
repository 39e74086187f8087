"""Profiles and their versions, which are never changed, and which tenants have which."""

from typing import Any, NamedTuple

import asyncpg
import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Insert, Select

from app.domain.profiles import Profile
from app.kit.errors import Conflict
from app.store.prepared import prepared, reading, reading_rows
from app.store.statements import server
from app.store.tables.tenant import Profile as ProfileTable
from app.store.transaction import Row, Tx

_LOCK = 7232655  #: the advisory lock for giving profiles to tenants
_decode = msgspec.json.Decoder(Profile).decode
_COLUMNS = (ProfileTable.body, ProfileTable.created_at, ProfileTable.created_by)


class StoredProfile(NamedTuple):
    """A version of a profile, published at `created_at` (Unix ms)."""

    profile: Profile
    created_at: int
    created_by: str


def _read(row: Row) -> StoredProfile:
    return StoredProfile(_decode(row["body"]), row["created_at"], row["created_by"])


async def lock(tx: Tx) -> None:
    """Wait until nobody else gives a profile to a tenant, and let nobody do so until the transaction ends."""
    await tx.execute(server.LOCK, _LOCK)


async def add(tx: Tx, profile: Profile, by: str, now: int) -> None:
    """Store a new version; raises `Conflict` if there is one of that number."""
    body = msgspec.json.encode(profile)
    try:
        await tx.change(_add(profile.name, profile.version, body, now, by))
    except asyncpg.UniqueViolationError as error:
        what = f"Somebody else has published version {profile.version} of {profile.name!r} at this moment"
        raise Conflict(f"{what}: look at it, and send yours again.") from error


@reading_rows(_read)
def versions(name: str, /) -> Select[Any]:
    """Every version of a profile, newest first."""
    query = ProfileTable.select(*_COLUMNS).where(ProfileTable.name == name)
    return query.order_by(ProfileTable.version, ascending=False)


@reading(lambda rows: _read(rows[0]) if rows else None)
def newest(name: str, /) -> Select[Any]:
    """The newest version of a profile; None without any."""
    query = ProfileTable.select(*_COLUMNS).where(ProfileTable.name == name)
    return query.order_by(ProfileTable.version, ascending=False).limit(1)


@reading_rows(_read)
def listing() -> Select[Any]:
    """The newest version of each profile, by name."""
    later = "NOT EXISTS (SELECT FROM profile later WHERE later.name = {} AND later.version > {})"
    query = ProfileTable.select(*_COLUMNS)
    return query.where(WhereRaw(later, ProfileTable.name, ProfileTable.version)).order_by(ProfileTable.name)


@prepared
def _add(name: str, version: int, body: bytes, now: int, by: str) -> Insert[Any]:
    row = ProfileTable(name=name, version=version, body=body, created_at=now, created_by=by)
    return ProfileTable.insert(row)
