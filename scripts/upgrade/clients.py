"""Who uses the service meanwhile, as clients of the former version: bookmakers, a stream, users of REST."""

import asyncio
import hashlib
import json
import time
from collections import Counter
from contextlib import suppress
from itertools import cycle
from typing import NamedTuple
from uuid import uuid4
from xml.etree import ElementTree as ET

import httpx
import websockets
from aio_pika.abc import AbstractIncomingMessage

from scripts.http_client import client
from scripts.soak.bookmakers import Bookmaker

_SECONDS_BETWEEN_REQUESTS = 0.1
_SECONDS_BETWEEN_COMMANDS = 2.0
_CONNECT_SECONDS = 10.0
_PATHS = (
    "/cs2/v1/matches?status=live&limit=20",
    "/cs2/v1/matches/{match}",
    "/cs2/v1/matches/{match}/markets",
    "/cs2/v1/settlements?since_id=0&limit=50",
    "/v1/sports/en/sport_events/{match}/summary",
    "/v1/whoami",
)


class Message(NamedTuple):
    """When it came (s), its name, its match, `x-seq` of a live one (else 0), the id of the recovery that it
    belongs to, and a digest of what it says."""

    at: float
    name: str
    match: str
    seq: int
    request: str
    digest: bytes


class Tenant(Bookmaker):
    """A bookmaker that records every message, and for how long nothing was on offer in its book."""

    def __init__(self, slug: str, url: str, exchange: str, rest: httpx.AsyncClient) -> None:
        self.messages = list[Message]()
        self.shut = 0.0  #: the longest time without any open market, in seconds
        super().__init__(slug, url, exchange, rest)

    def receive(self, message: AbstractIncomingMessage) -> None:
        self.messages.append(_read(message))
        super().receive(message)

    async def watch(self) -> None:
        """Look at the book twice a second, without end."""
        since = time.monotonic()
        while True:
            await asyncio.sleep(0.5)
            if any(
                price not in ("", "suspended")
                for offers in self.book.offers.values()
                for _, price in offers.values()
            ):
                since = time.monotonic()
            self.shut = max(self.shut, time.monotonic() - since)


def _read(message: AbstractIncomingMessage) -> Message:
    root, seq = ET.fromstring(message.body), int(str(message.headers.get("x-seq", 0)))
    request = root.get("request_id", "")
    digest = hashlib.md5(message.body, usedforsecurity=False).digest()
    live = 0 if request else seq
    return Message(time.monotonic(), root.tag, root.get("event_id", ""), live, request, digest)


class Requester:
    """Requests of one key through the balancer, counted. `failures`: answers of 5xx, and none at all."""

    def __init__(self, base_url: str, key: str) -> None:
        self.client = client(base_url, key)
        self.statuses = Counter[int]()
        self.failures = Counter[str]()
        self.slowest = 0.0

    async def request(self, method: str, path: str, **given: object) -> httpx.Response | None:
        began = time.monotonic()
        try:
            answer = await self.client.request(method, path, **given)  # type: ignore[arg-type]
        except httpx.TransportError as error:
            self.failures[f"{method} {path.partition('?')[0]}: {error!r}"] += 1
            return None
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            self.failures[f"{method} {path.partition('?')[0]}: {answer.status_code} {answer.text[:200]}"] += 1
        return answer

    async def live(self) -> list[str]:
        """The URNs of the matches that are being played."""
        answer = await self.request("GET", _PATHS[0])
        return [match["urn"] for match in answer.json()["data"]] if answer and answer.is_success else []

    async def read(self) -> None:
        """GET one thing after the other, without end."""
        matches = list[str]()
        for path in cycle(_PATHS):
            await asyncio.sleep(_SECONDS_BETWEEN_REQUESTS)
            if path == _PATHS[0]:
                matches = await self.live()
            elif matches or "{match}" not in path:
                await self.request("GET", path.format(match=matches[0] if matches else ""))

    async def command(self) -> None:
        """As an operator: suspend a match and release it again, without end."""
        while True:
            for match in await self.live():
                for command in ("suspend", "unsuspend"):
                    body = {"command": command, "request_id": uuid4().hex}
                    await self.request("POST", f"/ops/v1/matches/{match}/commands", json=body)
                await asyncio.sleep(_SECONDS_BETWEEN_COMMANDS)
            await asyncio.sleep(_SECONDS_BETWEEN_COMMANDS)

    async def recover(self, accepted: set[str]) -> None:
        """Request recoveries of one match each, without end; the ids of accepted ones are added."""
        while True:
            for match in await self.live():
                for node, kind in enumerate(("odds", "stateful_messages")):
                    request = str(time.time_ns() // 1000)
                    path = f"/v1/2/{kind}/events/{match}/initiate_request"
                    path += f"?request_id={request}&node_id={node + 1}"
                    answer = await self.request("POST", path)
                    if answer and answer.status_code == 202:
                        accepted.add(request)
                await asyncio.sleep(1)
            await asyncio.sleep(1)


class Stream:
    """A client of the stream that resumes where it was cut off."""

    def __init__(self, base_url: str, key: str) -> None:
        self._url = f"{base_url.replace('http', 'ws', 1)}/cs2/v1/stream?api_key={key}"
        self.settlements = list[int]()
        self.wrong = list[str]()
        self.connections = self.snapshots = self.frames = self.seq = 0
        self.silence = 0.0
        self.complete = asyncio.Event()  #: set by each `alive`

    async def run(self) -> None:
        """Follow it, without end."""
        while True:
            with suppress(websockets.WebSocketException, OSError):
                await self._follow()
            await asyncio.sleep(1)

    async def _follow(self) -> None:
        since = f"&since={self.seq}" if self.seq else ""
        before, last, heard = self.seq, 0, time.monotonic()
        async with websockets.connect(self._url + since, max_size=None) as socket:
            self.connections += 1
            async for text in socket:
                self.silence, heard = max(self.silence, time.monotonic() - heard), time.monotonic()
                frame = json.loads(text)
                meta = frame["meta"]
                seq = meta["seq"]
                self.frames += 1
                if seq < last and not meta.get("snapshot"):
                    self.wrong.append(f"stream: {frame['type']} {seq} after {last}")
                last = max(last, seq)
                if frame["type"] == "bet_settlement":
                    if seq <= before:
                        self.wrong.append(f"stream: settlement {seq} again, although resumed after {before}")
                    self.settlements.append(frame["data"]["id"])
                if frame["type"] == "alive":
                    self.snapshots += bool(meta.get("snapshot"))
                    self.complete.set()
                self.seq = max(self.seq, seq)
