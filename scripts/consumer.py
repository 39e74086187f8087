"""A reference client of the feed: connect, bind, keep a book of open markets.

    .venv/bin/python scripts/consumer.py amqp://op-acme:PASSWORD@127.0.0.1:5672/acme
    .venv/bin/python scripts/consumer.py acme          (a tenant of the running demo, from var/demo.json)

It needs nothing of ours: aio-pika and the standard library. Rules that every client should follow:

- A message may come twice, after a crash or a reconnect, with the same `x-seq`. Per match, `x-seq` only
  rises: what is not higher than the last one has been seen.
- `x-prev-seq` names the match's message before this one. When it is not the last one seen, something was
  missed (or the match is new to us) and the book of that match is not to be trusted until a recovery.
- No `alive` for 20 seconds, or one with subscribed="0": take everything off offer, and recover.
"""

import argparse
import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import aio_pika
from aio_pika.abc import AbstractIncomingMessage

DEMO = Path(__file__).resolve().parents[1] / "var" / "demo.json"
SILENCE_SECONDS = 20
OPEN = {"1": "open", "-1": "suspended"}
Market = tuple[str, str]  # id and specifiers name a market of a match


class Book:
    """The markets of every match that are on offer: {match: {market: "1.85" or "suspended"}}."""

    def __init__(self) -> None:
        self.offers: dict[str, dict[Market, str]] = {}
        self.last: dict[str, int] = {}

    def hear(self, body: bytes, seq: int | None, prev: int | None) -> str:
        """Take one message in; a line that says what it meant."""
        root = ET.fromstring(body)
        if root.tag == "alive":
            return self.alive(root.get("subscribed") == "1")
        match = root.get("event_id")
        if match is None:
            return root.tag
        if seq is not None:
            if seq <= self.last.get(match, 0):
                return f"{root.tag} {match}: seen before"
            note = "" if prev == self.last.get(match) else "  (first seen, or something was missed)"
            self.last[match] = seq
        return f"{self.change(match, root)}{note if seq is not None else ''}"

    def alive(self, subscribed: bool) -> str:
        if subscribed:
            return f"alive; {self.size()}"
        self.suspend()
        return "the service was down: everything suspended, a recovery is due"

    def suspend(self) -> None:
        """Nothing that we know may be offered until it is told again."""
        for offers in self.offers.values():
            offers.update(dict.fromkeys(offers, "suspended"))

    def change(self, match: str, root: ET.Element) -> str:
        offers = self.offers.setdefault(match, {})
        markets = list(root.iter("market"))
        for market in markets:
            key = (market.get("id", ""), market.get("specifiers", ""))
            match root.tag:
                case "odds_change" if market.get("status") in OPEN:
                    outcome = market.find("outcome")
                    odds = outcome.get("odds", "?") if outcome is not None else "?"
                    offers[key] = odds if market.get("status") == "1" else "suspended"
                case "rollback_bet_settlement" | "rollback_bet_cancel":
                    offers[key] = "suspended"
                case _:
                    offers.pop(key, None)
        state = root.find("sport_event_status")
        if state is not None and state.get("status") in {"4", "5"}:
            del self.offers[match]
        return f"{root.tag} {match}: {score(state)}{len(markets)} markets told, {len(offers)} on offer"

    def size(self) -> str:
        count = sum(map(len, self.offers.values()))
        return f"{count} markets of {len(self.offers)} matches on offer"


def score(state: ET.Element | None) -> str:
    if state is None:
        return ""
    return f"{state.get('home_score')}:{state.get('away_score')} in maps, status {state.get('status')}; "


async def consume(url: str, exchange: str, book: Book) -> None:
    """Listen for ever; the connection comes back by itself after a break, the queue is made anew."""
    heard = asyncio.Event()

    async def take(message: AbstractIncomingMessage) -> None:
        async with message.process():
            headers = message.headers
            line = book.hear(message.body, headers.get("x-seq"), headers.get("x-prev-seq"))  # type: ignore[arg-type]
            print(line, flush=True)
            if (message.routing_key or "").split(".")[3] == "alive":
                heard.set()

    connection = await aio_pika.connect_robust(url, timeout=10)
    async with connection:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=200)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "*.*.live.#")  # what happens in matches
        await queue.bind(exchange, "-.-.-.alive.#")  # and whether anybody watches
        await queue.consume(take)
        while True:
            try:
                await asyncio.wait_for(heard.wait(), SILENCE_SECONDS)
                heard.clear()
            except TimeoutError:
                book.suspend()
                print("no alive: everything suspended, a recovery is due", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tenant", help="an AMQP URL, or a demo tenant's slug")
    parser.add_argument("--exchange", default="oddsfeed")
    told = parser.parse_args()
    url = told.tenant
    if not url.startswith(("amqp://", "amqps://")):
        if not DEMO.exists():
            parser.error(f"{DEMO} is not there: start ./scripts/demo, or give an AMQP URL")
        found = {each["slug"]: each.get("amqp_url") for each in json.loads(DEMO.read_text())["tenants"]}
        if not found.get(url):
            parser.error(f"no AMQP for {url!r}; tenants with AMQP: {[s for s, u in found.items() if u]}")
        url = found[url]
    try:
        asyncio.run(consume(url, told.exchange, Book()))
    except KeyboardInterrupt:
        print("bye")


if __name__ == "__main__":
    main()
