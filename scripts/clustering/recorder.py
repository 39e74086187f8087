"""Every live message that a tenant of the cluster receives, to be run on the client's host.

    python -m scripts.clustering exec client python -m scripts.clustering.recorder acme

Prints a line for each: its number (`x-seq`), and a digest of what it says. Connects again when it must; its
queue is durable, so that nothing is missed meanwhile.
"""

import asyncio
import hashlib
import sys
from contextlib import suppress

import aio_pika
import msgspec
from aio_pika.exceptions import AMQPError

from .record import DESCRIPTION

_EXCHANGE, _KEY = "oddsfeed", "hi.#"
_AGAIN_SECONDS = 1.0


async def record(slug: str) -> None:
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    (tenant,) = [each for each in described["tenants"] if each["slug"] == slug]
    while True:
        with suppress(AMQPError, OSError, TimeoutError, RuntimeError):
            await _consume(tenant["amqp_url"], slug)
        await asyncio.sleep(_AGAIN_SECONDS)


async def _consume(url: str, slug: str) -> None:
    async with await aio_pika.connect(url, timeout=10) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(f"{slug}.recorder", durable=True)
        await queue.bind(_EXCHANGE, _KEY)
        async with queue.iterator() as messages:
            async for message in messages:
                print(message.headers.get("x-seq"), hashlib.sha256(message.body).hexdigest(), flush=True)
                await message.ack()


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
