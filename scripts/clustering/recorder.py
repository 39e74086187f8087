"""Every live message that a tenant of the cluster receives, to be run on the client's host.

    python -m scripts.clustering exec client python -m scripts.clustering.recorder acme

Prints a line for each: its number (`x-seq`), and a digest of what it says. Connects again when it must.
"""

import asyncio
import hashlib
import sys
from contextlib import suppress

import aio_pika
import msgspec
from aio_pika.exceptions import AMQPError

from scripts.lab.record import DESCRIPTION

_EXCHANGE, _LIVE = "oddsfeed", "hi."  #: and how the routing keys of live messages begin
_AGAIN_SECONDS = 1.0


async def record(slug: str) -> None:
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    (tenant,) = [each for each in described["tenants"] if each["slug"] == slug]
    while True:
        with suppress(AMQPError, OSError, TimeoutError, RuntimeError):
            await _consume(tenant["amqp_url"])
        await asyncio.sleep(_AGAIN_SECONDS)


async def _consume(url: str) -> None:
    async with await aio_pika.connect(url, timeout=10) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(_EXCHANGE, "#")
        async with queue.iterator(no_ack=True) as messages:
            async for message in messages:
                if (message.routing_key or "").startswith(_LIVE):
                    print(message.headers.get("x-seq"), hashlib.sha256(message.body).hexdigest(), flush=True)


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
