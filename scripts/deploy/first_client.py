"""A tenant's first connection: log in to its queue, recover, and compare the book with the service.

Run it where `matchfeed-client` is installed; the key and the AMQP URL are read from files, so that neither is
in a list of processes: `python first_client.py https://feed.example.com acme-key.json acme-amqp-url`.
"""

import asyncio
import json
import sys
from pathlib import Path

from matchfeed_client import Client
from matchfeed_client.messages import SnapshotComplete

_SECONDS = 60


async def connect(base_url: str, api_key: str, amqp_url: str) -> int:
    """Recover; the number of differences between the book and REST."""
    async with asyncio.timeout(_SECONDS), Client(amqp_url, base_url, api_key) as client:
        async for update in client:
            print("received", type(update.message).__name__)
            if isinstance(update.message, SnapshotComplete):
                break
        result = await client.compare()
    where = f"{amqp_url.partition(':')[0]} and {base_url.partition(':')[0]}"
    print(f"connected over {where}: {result.markets} markets, {result.count} differences")
    return result.count


def main(base_url: str, key_file: str, url_file: str) -> None:
    """Exits 0 when the book equals REST after the first recovery."""
    api_key = json.loads(Path(key_file).read_text())["api_key"]
    amqp_url = Path(url_file).read_text().strip()
    sys.exit(asyncio.run(connect(base_url, api_key, amqp_url)) > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
