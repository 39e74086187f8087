"""The feeds of the matches that somebody watches."""

import time
from uuid import UUID

from app.kit.clock import Clock
from app.sites.console.match_reader import MatchReader
from app.sites.console.moving_rows import render
from app.sites.console.row_feed import RowFeed
from app.store.connections import Store

_UNUSED_SECONDS = 60.0


class MatchFeeds:
    """One feed for each match, however many watch it; one that nobody watches any more is dropped."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._feeds: dict[UUID, tuple[float, RowFeed]] = {}

    def of(self, match_id: UUID) -> RowFeed:
        now = time.monotonic()
        _, feed = self._feeds.get(match_id, (now, None))
        if feed is None:
            feed = RowFeed(MatchReader(self._store, self._clock, match_id).read, render, self._clock)
        used = {key: each for key, each in self._feeds.items() if now - each[0] < _UNUSED_SECONDS}
        self._feeds = used | {match_id: (now, feed)}
        return feed
