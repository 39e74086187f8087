"""How often a poller reads the change log and sends `alive`, on a clock that only it moves."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from app.channels.stream.poller import Poller, StreamConfig


class RecordedPoller(Poller):
    """Records when it ticks, and whether `alive` is sent with it; ends after half a minute."""

    def __init__(self, match_id: UUID | None) -> None:
        super().__init__(cast(Any, None), match_id, StreamConfig(), lambda: 0)
        self.ticks: list[tuple[float, bool]] = []
        self.now = 0.0

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def tick(self, *, keep_alive: bool = False) -> None:
        self.ticks.append((self.now, keep_alive))
        if self.now >= 30:
            raise asyncio.CancelledError


@pytest.mark.parametrize(("match_id", "seconds"), [(None, 5), (UUID(int=1), 2)])
async def test_all_matches_are_polled_every_5_seconds_one_every_2_and_alive_is_sent_every_10(
    monkeypatch: pytest.MonkeyPatch, match_id: UUID | None, seconds: int
) -> None:
    poller = RecordedPoller(match_id)
    virtual = SimpleNamespace(get_running_loop=lambda: poller, sleep=poller.sleep)
    monkeypatch.setattr("app.channels.stream.poller.asyncio", virtual)
    with pytest.raises(asyncio.CancelledError):
        await poller.run()
    assert poller.ticks == [(at, at % 10 == 0) for at in range(seconds, 31, seconds)]
