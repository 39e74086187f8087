"""Matches that are over, published to this client once more (docs/replay.md of the service)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aio_pika
from aio_pika.abc import AbstractQueue

from matchfeed_client.decoding import Message, decode
from matchfeed_client.rest import ClientError, Rest

_CONNECT_SECONDS, _LOOK_SECONDS = 10.0, 0.2
_RUNNING = {"scheduled", "running"}


class Replay:
    """Iterate over it: it starts a replay of these matches (`od:match:7`), yields each message, and ends with
    the replay.

    `node`, digits, names the list of matches, which is replaced, and keeps replays apart that run at a time.
    `options` are those of `POST /cs2/v1/replay/play`: `speed`, `max_delay` (ms), `parallel`,
    `rewrite_timestamps`, `accidents`. `rest` must be open. Iterating raises `ClientError` for what is
    refused, and for a replay that fails.
    """

    def __init__(
        self,
        amqp_url: str,
        rest: Rest,
        matches: Sequence[str],
        *,
        node: str = "",
        exchange: str = "oddinreplay",
        **options: Any,
    ) -> None:
        self._url, self._rest, self._matches = amqp_url, rest, matches
        self._node, self._exchange, self._options = node, exchange, options

    async def __aiter__(self) -> AsyncIterator[Message]:
        async with await aio_pika.connect(self._url, timeout=_CONNECT_SECONDS) as connection:
            channel = await connection.channel()
            queue = await channel.declare_queue(exclusive=True)
            await queue.bind(self._exchange, f"#.{self._node}" if self._node else "#")
            number = await self._rest.start_replay(self._matches, self._node, self._options)
            async for raw in self._delivered(queue, number):
                message = decode(raw)
                if message is not None:
                    yield message

    async def _delivered(self, queue: AbstractQueue, number: int) -> AsyncIterator[bytes]:
        """The bodies of this replay's messages. What was published before it ended is in the queue then."""
        over = False
        while True:
            if got := await queue.get(no_ack=True, fail=False):
                if int(str(got.headers.get("x-replay", 0))) == number:
                    yield got.body
            elif over:
                return
            else:
                state = await self._rest.replay_state(self._node)
                if state["id"] != number or state["state"] == "failed":
                    raise ClientError(f"The replay has failed: {state.get('error', 'another was started')}")
                over = state["state"] not in _RUNNING
                if not over:
                    await asyncio.sleep(_LOOK_SECONDS)
