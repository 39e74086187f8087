"""A web process announces that it listens, for the feed process: see `channels.feed.rest_watch`."""

import asyncio
import os
import socket
from uuid import uuid4

from app.kit.background import retry_while_unavailable
from app.store import heartbeats
from app.store.connections import Store

_BEAT_SECONDS = 1.0


class Listening:
    """`accepting`: whether this process accepts connections; the server sets it."""

    def __init__(self) -> None:
        self.accepting = False
        self._name = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"

    async def announce(self, store: Store) -> None:
        """Announce it each second while it is so, and once that it is over, for ever."""
        announced = False
        while True:
            if self.accepting or announced:
                announced = self.accepting
                await retry_while_unavailable("announcing this process", lambda: self._record(store))
            await asyncio.sleep(_BEAT_SECONDS if announced else _BEAT_SECONDS / 10)

    async def _record(self, store: Store) -> None:
        async with store.transaction() as tx:
            await heartbeats.record_web(tx, self._name, listens=self.accepting)
