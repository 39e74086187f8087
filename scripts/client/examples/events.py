"""Prints every change, as server-sent events, with the number of markets that may be sold."""

from matchfeed_client import Changes, Rest
from matchfeed_client.programs import run, setting, state_file


async def main() -> None:
    key = setting("API_KEY")
    async with Rest(setting("BASE_URL"), key) as rest:
        changes = Changes(rest, events=True, saved=state_file("events", key))
        async for frame in changes:
            print(frame["type"], len(list(changes.book.open())), "markets are open")


run(main())
