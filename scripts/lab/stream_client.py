"""A tenant's client of the stream: keeps a copy by the rules of docs/stream.md, resumes, and records every
frame."""

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

import websockets
from websockets.asyncio.client import connect

from scripts.lab.evidence import Frame, Shown
from scripts.lab.operators import Account

_SILENT_SECONDS, _AGAIN_SECONDS, _CONNECT_SECONDS = 30.0, 1.0, 10.0
_OPEN = ("active", "suspended")
#: Of a match resource: what only `match.*` frames change.
FIELDS = ("status", "team_a", "team_b", "score_a", "score_b", "maps", "winner", "event")
_LOST = (OSError, TimeoutError, websockets.WebSocketException)


class StreamClient:
    """Connects again by itself, with `since`, unless it is away. `last` is the highest number received,
    `alive` that of the last `alive` (-1: none yet)."""

    def __init__(self, account: Account, ws_url: str, since: int = 0) -> None:
        self.frames = list[Frame]()
        self.matches = dict[str, dict[str, Any]]()
        self.offers = dict[str, dict[str, Any]]()
        self.last, self.alive = since, -1
        self.connections = 0
        self._account, self._url = account, ws_url
        self._mentioned = set[tuple[str, str]]()
        self._here = asyncio.Event()
        self._here.set()
        self._task = asyncio.create_task(self._run())
        self._listening: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Raises the error that ended it, if it has ended."""
        if self._task.done():
            self._task.result()

    async def leave(self, seconds: float) -> None:
        """Disconnect, and come back after so long."""
        self._here.clear()
        if self._listening:
            self._listening.cancel()
        await asyncio.sleep(seconds)
        self._here.set()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    def shown(self, urns: dict[str, str]) -> dict[str, Shown]:
        """The copy, by the names of the feed: `urns` has them by UUID."""
        return {
            urn: Shown(self.offers.get(match, {}), match_fields(self.matches.get(match, {})))
            for match, urn in urns.items()
            if match in self.matches or match in self.offers
        }

    async def _run(self) -> None:
        while True:
            await self._here.wait()
            self._listening = asyncio.create_task(self._listen())
            try:
                await asyncio.wait({self._listening})
            finally:
                self._listening.cancel()
            if not self._listening.cancelled() and (error := self._listening.exception()):
                raise error
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _listen(self) -> None:
        query = f"api_key={self._account.key}" + (f"&since={self.last}" if self.last else "")
        url = f"{self._url}/cs2/v1/stream?{query}"
        with suppress(*_LOST):
            async with connect(
                url, compression=None, max_size=None, open_timeout=_CONNECT_SECONDS, proxy=None
            ) as stream:
                self.connections += 1
                self._mentioned.clear()
                while True:
                    async with asyncio.timeout(_SILENT_SECONDS):
                        self._receive(json.loads(await stream.recv()))

    def _receive(self, frame: dict[str, Any]) -> None:
        kind, data, meta = frame["type"], frame["data"], frame["meta"]
        shown = bool(meta.get("snapshot"))
        match = "" if kind == "alive" else data.get("match_id") or data["id"]
        entry = data["id"] if kind == "bet_settlement" else 0
        self.frames.append(Frame(time.time(), self.connections, kind, match, meta["seq"], shown, entry))
        if kind == "alive":
            self.alive = meta["seq"]
            if shown:
                self._forget()
        else:
            if shown:
                self._mentioned.add((match, data.get("market_offer_id", "")))
            self._fold(kind, match, data)
        self.last = max(self.last, meta["seq"])

    def _fold(self, kind: str, match: str, data: dict[str, Any]) -> None:
        if kind.startswith("match."):
            self.matches[match] = data
        elif kind.startswith("market."):
            offers = self.offers.setdefault(match, {})
            offers.pop(data["market_offer_id"], None)
            if data["status"] in _OPEN:
                offers[data["market_offer_id"]] = market_fields(data)

    def _forget(self) -> None:
        """A snapshot has ended: what it did not mention is not there any more."""
        known = self._mentioned
        self.matches = {one: match for one, match in self.matches.items() if (one, "") in known}
        self.offers = {
            match: {name: market for name, market in offers.items() if (match, name) in known}
            for match, offers in self.offers.items()
        }


def match_fields(match: dict[str, Any]) -> dict[str, Any]:
    return {name: match[name] for name in FIELDS if name in match}


def market_fields(market: dict[str, Any]) -> dict[str, Any]:
    """A market as both channels show it."""
    return {name: value for name, value in market.items() if name != "match_id"}
