"""Views that concern no sport: the key's identity, the state of the service, and the envelopes around
data."""

from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.tenant import Grant
from app.kit.clock import iso_millis
from app.kit.version import VERSION

T = TypeVar("T")


class Single(msgspec.Struct, Generic[T], frozen=True):
    """The envelope of one resource."""

    data: T


class ListMeta(msgspec.Struct, frozen=True):
    """`count`: rows in this answer; `limit` and `total` where the list takes a limit; `next_cursor` where
    another page follows."""

    count: int
    limit: int | UnsetType = UNSET
    total: int | UnsetType = UNSET
    next_cursor: str | UnsetType = UNSET


class Many(msgspec.Struct, Generic[T], frozen=True):
    """The envelope of a list."""

    data: tuple[T, ...]
    meta: ListMeta


def many(
    views: Iterable[T],
    limit: int | UnsetType = UNSET,
    total: int | UnsetType = UNSET,
    *,
    next_cursor: str | UnsetType = UNSET,
) -> Many[T]:
    """The list of these views; the rest as in `ListMeta`."""
    rows = tuple(views)
    return Many(rows, ListMeta(len(rows), limit, total, next_cursor))


ALERTS = "alerts"  #: the part of the health that makes the service not ill


class AliveView(msgspec.Struct, frozen=True):
    """`status` is ok, or `feed_down` while nothing is published over AMQP."""

    status: str
    timestamp: str


class HealthView(msgspec.Struct, frozen=True):
    """`status` is ok or ill, `version` that of the service; each part is ok, or a text on what is wrong.
    `alerts` counts what an operator should look at, by kind; a match or a tenant in trouble does not make the
    service ill."""

    status: str
    version: str
    parts: dict[str, str]


class WhoamiView(msgspec.Struct, frozen=True):
    tenant_id: str
    name: str
    scopes: tuple[str, ...]
    sport_allowlist: tuple[str, ...]
    rate_limit_rpm: int


def alive_view(now: int, fed: bool = True) -> AliveView:
    return AliveView("ok" if fed else "feed_down", iso_millis(now))


def health_view(parts: dict[str, str]) -> HealthView:
    ill = [name for name, state in parts.items() if state != "ok" and name != ALERTS]
    return HealthView("ill" if ill else "ok", VERSION, parts)


def whoami_view(grant: Grant) -> WhoamiView:
    return WhoamiView(
        tenant_id=str(grant.tenant.id),
        name=grant.tenant.name,
        scopes=tuple(sorted(grant.scopes)),
        sport_allowlist=tuple(sorted(grant.sports)),
        rate_limit_rpm=grant.rate_limit_rpm,
    )
