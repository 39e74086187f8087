"""A client of changes as a process of its own: `python -m tests.support.following WAY FILE`, with `BASE_URL`
and `API_KEY` in its environment. For each frame it prints what the frame is, and the book as it is then."""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from matchfeed_client import Changes, Rest
from matchfeed_client.stream import Stream


async def main() -> None:
    way, saved = sys.argv[1], Path(sys.argv[2])
    login = os.environ["BASE_URL"], os.environ["API_KEY"]
    async with Rest(*login) as rest:
        changes = Changes(rest, events=way == "events", saved=saved)
        frames = Stream(*login, saved=saved) if way == "websocket" else changes
        async for frame in frames:
            print(
                json.dumps(
                    {
                        "type": frame["type"],
                        "snapshot": bool(frame["meta"].get("snapshot")),
                        "open": [key.specifiers for _, key, _ in frames.book.open()],
                        "digest": frames.book.digest(),
                    }
                ),
                flush=True,
            )


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
