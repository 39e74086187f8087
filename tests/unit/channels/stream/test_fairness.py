"""Tenants are told by turns."""

from typing import Any, cast
from uuid import UUID

from app.access.grants import Presented
from app.channels.stream.connection import Connection
from app.channels.stream.frames import Frame, batch
from app.channels.stream.poller import Poller
from app.channels.stream.terms import Terms
from app.domain import scopes
from app.domain.tenant import Grant, Tenant


class Noting:
    """A line that notes who was written to."""

    congested = False

    def __init__(self, name: str, order: list[str]) -> None:
        self.name, self.order = name, order

    def write(self, wire: bytes) -> None:
        self.order.append(self.name)

    def finish(self, code: int, reason: str) -> None:
        raise AssertionError("nobody is to be closed")


async def test_a_tenant_with_many_connections_delays_no_other() -> None:
    poller = Poller(cast(Any, None), None, Terms(), lambda: 0)
    order: list[str] = []
    for name, number in (("big", 500), ("small", 2), ("alone", 1)):
        tenant = Tenant(UUID(bytes=name.ljust(16).encode()), name, name)
        for _ in range(number):
            grant = Grant(tenant.id, tenant, frozenset({scopes.STREAM_MATCHES}), frozenset({"cs2"}))
            one = Connection(Presented(grant, None), Noting(name, order), 10)
            poller._members.setdefault(one.profile, {})[one] = None
            told = {one.profile: batch([Frame(1, b"x")])}
    poller._told = 1
    await poller._tell(told, None)
    assert order[:5] == ["big", "small", "alone", "big", "small"]
    assert len(order) == 503
