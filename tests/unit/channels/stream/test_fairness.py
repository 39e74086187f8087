"""Tenants are written to in turn."""

from typing import Any, cast
from uuid import UUID

from app.access.grants import PresentedKey
from app.channels.stream.connection import StreamConnection
from app.channels.stream.frames import Frame, join_batch
from app.channels.stream.poller import Poller, StreamConfig
from app.domain import scopes
from app.domain.tenant import Grant, Tenant


class RecordingTransport:
    """Records to which connection it was written."""

    congested = False

    def __init__(self, name: str, order: list[str]) -> None:
        self.name, self.order = name, order

    def write(self, wire: bytes) -> None:
        self.order.append(self.name)

    def finish(self, code: int, reason: str) -> None:
        raise AssertionError("no connection should be closed")


async def test_a_tenant_with_many_connections_delays_no_other() -> None:
    poller = Poller(cast(Any, None), None, StreamConfig(), lambda: 0)
    order: list[str] = []
    for name, number in (("big", 500), ("small", 2), ("alone", 1)):
        tenant = Tenant(UUID(bytes=name.ljust(16).encode()), name, name)
        for _ in range(number):
            grant = Grant(tenant.id, tenant, frozenset({scopes.STREAM_MATCHES}), frozenset({"cs2"}))
            one = StreamConnection(PresentedKey(grant, None), RecordingTransport(name, order), 10)
            poller._connections.setdefault(one.entitlements, {})[one] = None
    batch = join_batch([Frame(1, b"x")])
    poller._sent_seq = 1
    await poller._fan_out([(one, batch) for one in poller._round_robin()], None)
    assert order[:5] == ["big", "small", "alone", "big", "small"]
    assert len(order) == 503
