"""Prints every message of the queue, with the number of markets that may be sold."""

from matchfeed_client import Client
from matchfeed_client.programs import run, setting, state_file


async def main() -> None:
    login = setting("AMQP_URL"), setting("BASE_URL"), setting("API_KEY")
    async with Client(*login, saved=state_file("amqp", login[2])) as client:
        async for update in client:
            print(type(update.message).__name__, len(list(client.book.open())), "markets are open")


run(main())
