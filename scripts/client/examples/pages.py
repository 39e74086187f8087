"""Prints every change, requested by the page, with the number of markets that may be sold."""

from matchfeed_client import Changes, Rest
from matchfeed_client.programs import run, setting, state_file


async def main() -> None:
    key = setting("API_KEY")
    async with Rest(setting("BASE_URL"), key) as rest:
        changes = Changes(rest, saved=state_file("pages", key))
        async for frame in changes:
            print(frame["type"], len(list(changes.book.open())), "markets are open")


run(main())
