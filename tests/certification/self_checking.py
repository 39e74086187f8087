"""A client that reports nothing, but calls the self-check each second, as any client may.

`python -m tests.certification.self_checking`, with the environment that `matchfeed certify` prints.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import httpx
from matchfeed_client import Client, ClientError

_PAUSE_SECONDS = 1.0


async def check(client: Client) -> None:
    """Compare without end; a service that does not answer is tried again."""
    while True:
        with suppress(httpx.HTTPError, ClientError):
            await client.compare()
        await asyncio.sleep(_PAUSE_SECONDS)


async def main() -> None:
    async with (
        Client(
            os.environ["CERTIFY_AMQP_URL"],
            os.environ["CERTIFY_BASE_URL"],
            os.environ["CERTIFY_API_KEY"],
            exchange=os.environ["CERTIFY_EXCHANGE"],
            saved=Path(os.environ["CERTIFY_STATE"]) / "book.json",
        ) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(check(client))
        async for _ in client:
            pass


if __name__ == "__main__":
    asyncio.run(main())
