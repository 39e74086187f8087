"""Clients of changes over HTTP: by the page, and by server-sent events."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

Message = dict[str, Any]
PATH = "/cs2/v1/changes"


@asynccontextmanager
async def requesting(host: str, raw: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://{host}", headers={"X-API-Key": raw}, timeout=60) as client:
        yield client


async def page(client: httpx.AsyncClient, **parameters: Any) -> tuple[list[Message], Message]:
    """The frames of a page, and its `meta`."""
    body = (await client.get(PATH, params=parameters)).raise_for_status().json()
    return body["data"], body["meta"]


async def pages(client: httpx.AsyncClient, **parameters: Any) -> tuple[list[list[Message]], int]:
    """The frames of all pages until none follows at once, and the number to continue with."""
    found: list[list[Message]] = []
    place = parameters
    while True:
        frames, meta = await page(client, **place)
        found.append(frames)
        if not meta["more"]:
            return found, meta["next_since_seq"]
        place = {key: value for key, value in parameters.items() if key in ("limit", "match")}
        if "next_cursor" in meta:
            place["cursor"] = meta["next_cursor"]
        else:
            place["since_seq"] = meta["next_since_seq"]


async def disposable(ops: httpx.AsyncClient, ending: str) -> tuple[str, Callable[[], Awaitable[None]]]:
    """A key of the operator's tenant, and what ends it: `revoke` or `rotate`."""
    keys = "/ops/v1/tenants/house/keys"
    made = (await ops.post(keys, json={"bundles": ["cs2.odds.basic"]})).raise_for_status().json()["data"]

    async def end() -> None:
        (await ops.post(f"{keys}/{made['key']['key_id']}/{ending}")).raise_for_status()

    return made["api_key"], end


class Event(msgspec.Struct):
    """An event as a browser dispatches it: `id` is that of the last event that had one."""

    name: str
    id: str
    data: Message


class Events:
    """The events of a response, in order."""

    def __init__(self, response: httpx.Response, last_id: str = "") -> None:
        self.response = response
        self._lines = response.aiter_lines()
        self._last_id = last_id

    async def next(self) -> Event | None:
        """The next event; None when the response has ended."""
        name, data = "", ""
        async for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                self._last_id = value
            elif field == "data":
                data = value
            elif not line and data:
                return Event(name, self._last_id, msgspec.json.decode(data))
        return None

    async def until(self, name: str) -> list[Event]:
        """All events up to the first with this name, that one included."""
        found: list[Event] = []
        while not found or found[-1].name != name:
            event = await self.next()
            assert event is not None, f"the stream ended before {name}"
            found.append(event)
        return found


@asynccontextmanager
async def events(host: str, raw: str, last_id: str = "", **parameters: Any) -> AsyncIterator[Events]:
    """A connected event stream; `last_id` is sent as `Last-Event-ID`."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    async with (
        requesting(host, raw) as client,
        client.stream("GET", PATH, params=parameters, headers=headers) as response,
    ):
        assert response.status_code == 200, await response.aread()
        yield Events(response, last_id)
