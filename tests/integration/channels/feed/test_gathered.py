"""Envelopes that follow others closely go out together; one after a pause goes out at once."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.amqp import relay
from app.store import changes
from app.store.changes import ChangeRow
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.clocks import ManualTime


async def test_what_follows_closely_is_read_and_published_together(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "time", clock := ManualTime())
    pages: list[int] = []
    read: Any = changes.read

    async def recorded(*args: Any) -> Sequence[ChangeRow]:
        rows: Sequence[ChangeRow] = await read(*args)
        if rows:
            pages.append(len({row.envelope_seq for row in rows}))
        return rows

    _, url = await rig.tenant()
    match = await rig.match()
    async with feed() as session, consuming(url, rig.settings.exchange) as consumer:
        publishers = session.relay.publishers
        await until("it publishes", lambda: any(each.healthy for each in publishers.values()))
        await until("bound", lambda: all(each.bindings.routes_live for each in publishers.values()))
        clock.now += 1
        monkeypatch.setattr(changes, "read", recorded)
        [first] = await rig.write_changes(match)
        await until("at once", lambda: first in consumer.seqs)
        later = await rig.write_changes(match, 3)
        assert not set(later) & set(consumer.seqs)
        clock.now += relay._GATHER_SECONDS
        await until("together", lambda: set(later) <= set(consumer.seqs))
    assert pages == [1, 3]
