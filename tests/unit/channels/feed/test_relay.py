"""Where the relay begins in a log whose older part has been forgotten."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

import pytest

from app.channels.feed.lease import Lease
from app.channels.feed.outgoing import Press
from app.channels.feed.relay import Relay
from app.store import changes
from app.store.connections import Store
from app.store.cursors import Taken

pytestmark = pytest.mark.anyio


class NoStore:
    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        yield None


@pytest.mark.parametrize(("cursor", "covered"), [(3500, False), (4898, False), (4899, True), (5000, True)])
async def test_what_was_forgotten_is_not_taken_for_told(
    monkeypatch: pytest.MonkeyPatch, cursor: int, covered: bool
) -> None:
    """A tenant before the first change kept must be read again from the log, which shows its loss."""

    async def head(tx: object) -> int:
        return 5000

    async def tail(tx: object) -> int:
        return 4900

    monkeypatch.setattr(changes, "head", head)
    monkeypatch.setattr(changes, "tail", tail)
    relay = Relay(cast(Store, NoStore()), Press("oddsfeed", 2), Lease(1000), "here", 64)
    await relay.start()
    delivery = relay.adopt(Taken(UUID(int=1), "acme", cursor, 1, None, 0))
    assert (delivery._source() is not None) is covered
