"""A match that is over, replayed as SDKs replay one: its list, its player, and a session of its own on the
exchange for replays."""

import asyncio
import time
from collections import Counter
from typing import Any

import httpx
from aio_pika.abc import AbstractIncomingMessage
from lxml import etree

from tests.faults.fold import outcome_of
from tests.sdk_client.api import Api
from tests.sdk_client.book import SdkBook
from tests.sdk_client.broker import BrokerAddress, logged_in
from tests.sdk_client.reading import problems

EXCHANGE = "oddinreplay"
_NODE, _SECONDS = 9, 120.0
_KEYS = (f"*.*.*.*.*.*.*.{_NODE}.#", "*.*.*.*.*.*.*.-.#")
_PAGE = 200
Results = dict[tuple[str, str], str]  #: by market id and specifiers


class Received:
    """What a session of the replay has received: messages by name, the book, results, and what an SDK could
    not read."""

    def __init__(self) -> None:
        self.names, self.wrong = Counter[str](), Counter[str]()
        self.book = SdkBook()
        self.results: Results = {}

    def on_message(self, message: AbstractIncomingMessage) -> None:
        root = etree.fromstring(message.body)
        self.names[root.tag] += 1
        self.wrong.update(problems(root))
        if message.headers.get("timestamp_in_ms") != int(root.get("timestamp")):
            self.wrong["timestamp_in_ms is another than the timestamp"] += 1
        if not (message.routing_key or "").endswith(f".{_NODE}"):
            self.wrong["the routing key does not end with the node"] += 1
        self.book.apply(root, int(str(message.headers.get("x-seq"))))
        if root.tag != "odds_change" and not root.get("end_time"):
            for market in root.iter("market"):
                key = market.get("id"), market.get("specifiers", "")
                self.results[key] = outcome_of(root.tag, market)


async def replayed(api: Api, broker: BrokerAddress, vhost: str, base_url: str) -> list[str]:
    """Replay the match that ended last as fast as it goes; what was not as it should be."""
    async with httpx.AsyncClient(base_url=base_url, headers={"X-API-Key": api.key}, trust_env=False) as rest:
        urn = (await _data(rest, "/cs2/v1/replay/matches?limit=1"))[0]["match"]
        received = Received()
        async with logged_in(broker, api.key, vhost) as connection:
            channel = await connection.channel()
            queue = await channel.declare_queue(exclusive=True, auto_delete=True)
            for key in _KEYS:
                await queue.bind(EXCHANGE, key)
            await queue.consume(_receiver(received), no_ack=True)
            wrong = await _play(api, urn)
        results = await _results(rest, urn)
    print(f"replay of {urn}: {', '.join(f'{n} {name}' for name, n in received.names.items())}", flush=True)
    wrong += [f"replay: {count} x {text}" for text, count in received.wrong.items()]
    differ = {
        key
        for key in received.results.keys() | results.keys()
        if received.results.get(key) != results.get(key)
    }
    wrong += (
        [f"replay: {len(differ)} of {len(results)} results differ: {sorted(differ)[:3]}"] if differ else []
    )
    wrong += [f"replay: {received.book.open} markets are open at the end"] if received.book.open else []
    return wrong if results else [*wrong, f"replay: {urn} has no result"]


def _receiver(received: Received) -> Any:
    async def receive(message: AbstractIncomingMessage) -> None:
        received.on_message(message)

    return receive


async def _play(api: Api, urn: str) -> list[str]:
    """Add the match, play the list, and wait until the player has stopped."""
    await api.post("replay/clear", node_id=_NODE)
    await api.put(f"replay/events/{urn}", node_id=_NODE)
    listed = await api.get(f"replay?node_id={_NODE}", "replay_set_content")
    wrong = [] if [one.get("id") for one in listed] == [urn] else ["replay: the list is another"]
    await api.post("replay/play", node_id=_NODE, speed=1000, max_delay=0)
    until = time.monotonic() + _SECONDS
    while (await api.get(f"replay/status?node_id={_NODE}", "player_status")).get("status") != "stopped":
        if time.monotonic() > until:
            return [*wrong, f"replay: not over within {_SECONDS:.0f} s"]
        await asyncio.sleep(0.2)
    await api.delete(f"replay/events/{urn}", node_id=_NODE)
    left = await api.get(f"replay?node_id={_NODE}", "replay_set_content")
    return wrong if not len(left) else [*wrong, "replay: a removed match is in the list"]


async def _results(rest: httpx.AsyncClient, urn: str) -> Results:
    """The last result of each market of the match in the ledger, as REST has it."""
    found: Results = {}
    since, page = 0, await _data(rest, f"/cs2/v1/settlements?limit={_PAGE}")
    while page:
        for entry in page:
            if entry["match_urn"] == urn and "void_window" not in entry:
                found[str(entry["market_id"]), entry["specifiers"]] = entry["outcome"] or "pending"
        since = page[-1]["id"]
        page = await _data(rest, f"/cs2/v1/settlements?limit={_PAGE}&since_id={since}")
    return found


async def _data(rest: httpx.AsyncClient, path: str) -> Any:
    return (await rest.get(path)).raise_for_status().json()["data"]
