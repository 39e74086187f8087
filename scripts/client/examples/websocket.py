"""Prints every frame of the WebSocket stream, with the number of markets that may be sold."""

from matchfeed_client.programs import run, setting, state_file
from matchfeed_client.stream import Stream


async def main() -> None:
    key = setting("API_KEY")
    stream = Stream(setting("BASE_URL"), key, saved=state_file("websocket", key))
    async for frame in stream:
        print(frame["type"], len(list(stream.book.open())), "markets are open")


run(main())
