"""A reference client of the feed: keep a book of what is on offer, and recover what was missed.

.venv/bin/python scripts/consumer.py acme       (a tenant of the running demo, from var/demo.json)
.venv/bin/python scripts/consumer.py amqp://op-acme:PASSWORD@HOST/acme http://HOST:8000 KEY
What is older than what is known of a market is old news; a recovery's `odds_change` is the full list of its
match; recover after a connect, `alive` with subscribed="0", 20 silent seconds, or an `x-prev-seq` never seen.
"""

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import aio_pika

DEMO, EXCHANGE = Path(__file__).resolve().parents[1] / "var" / "demo.json", "oddsfeed"
OVERLAP_MILLIS = 10_000  # changes written side by side may be told in another order than their stamps
SUSPENDED, CLOSED = "suspended", ""
Ask = Callable[[int, str], Awaitable[tuple[int, float]]]  # (after, request id) -> status, seconds to wait


class Book:
    """What each match offers by market id and specifiers: when told, and a price, SUSPENDED or CLOSED."""

    def __init__(self) -> None:
        self.offers: defaultdict[str, dict[tuple[str, str], tuple[int, str]]] = defaultdict(dict)
        self.full, self.seqs = Counter[str](), Counter[str]()  # when all was told; the newest x-seq
        self.after = 0  # up to then (ms) nothing is missing
        self.due, self.completed = asyncio.Event(), asyncio.Event()
        self.request: str | None = None  # the recovery that we wait for
        self.told = set[str]()  # the matches that it told of
        self._kept: list[tuple[ET.Element, int, int]] = []

    def suspend(self, *matches: str) -> None:
        """Nothing that we know of these (of none named: of all) may be offered until it is told again."""
        for offers in [self.offers[match] for match in matches or self.offers]:
            offers.update({key: (at, SUSPENDED) for key, (at, said) in offers.items() if said})
        self.due.set()

    def hear(self, body: bytes, seq: int = 0, prev: int = 0) -> None:
        """Take a message in; live ones wait while a recovery is not complete."""
        root = ET.fromstring(body)
        request = root.get("request_id")
        if root.tag == "alive":
            if root.get("subscribed") != "1":
                self.suspend()
        elif root.tag == "snapshot_complete":
            if request == self.request:
                for match in self.offers.keys() - self.told:  # over, or not ours any more
                    self.offers[match] = {key: (at, CLOSED) for key, (at, _) in self.offers[match].items()}
                self.after = max(self.after, int(root.get("timestamp", "0")))
                self.request, kept, self._kept = None, self._kept, []
                for each in kept:
                    self.apply(*each)
            self.completed.set()
        elif request is None and self.request:
            self._kept.append((root, seq, prev))
        elif request in (None, self.request):
            self.apply(root, seq, prev)

    def apply(self, root: ET.Element, seq: int, prev: int) -> None:
        match, at, replay = root.get("event_id", ""), int(root.get("timestamp", "0")), root.get("request_id")
        if not replay and prev > self.seqs[match]:
            self.suspend(match)
        self.seqs[match] = max(self.seqs[match], seq)
        self.after = self.after if replay else max(self.after, at)  # cut short, it is asked for again
        self.told.add(match)  # live ones wait while it is told
        offers = self.offers[match]
        for market in root.iter("market"):
            key = (market.get("id", ""), market.get("specifiers", ""))
            if at > max(self.full[match], offers.get(key, (0, ""))[0]):
                halted = root.tag.startswith("rollback") or market.get("status") == "-1"
                odds = "".join(outcome.get("odds", CLOSED) for outcome in market)  # what is over has none
                offers[key] = (at, SUSPENDED if halted else odds)
        if root.tag == "odds_change" and replay and at > self.full[match]:
            self.full[match] = at
            offers.update({key: (at, CLOSED) for key, (told, _) in offers.items() if told < at})

    def digest(self) -> dict[str, Any]:
        """What is open, as POST /cs2/v1/selfcheck takes it, to hold the book against the service's."""
        held = []
        for match, offers in self.offers.items():
            told = [(int(market), text, said) for (market, text), (_, said) in offers.items() if said]
            markets = [[*key, -1] if said == SUSPENDED else [*key, 1, float(said)] for *key, said in told]
            held += [{"match": match, "seq": self.seqs[match], "markets": markets}] if told else []
        return {"matches": held}


async def recover(book: Book, ask: Ask) -> None:
    """Ask for what was missed whenever that is due, for ever."""
    while await book.due.wait():
        book.due.clear()
        book.completed.clear()
        book.request, book.told = str(time.time_ns() // 1000), set()
        status, pause = await ask(max(0, book.after - OVERLAP_MILLIS), book.request)
        book.after = 0 if status == 422 else book.after  # too long ago: only the present can be told
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(600 if status == 202 else pause):
                while book.request and await book.completed.wait() and status == 202:
                    book.completed.clear()  # a 409 waits for whichever is in flight, then asks again
        if book.request:
            book.due.set()


async def consume(url: str, exchange: str, book: Book, ask: Ask) -> None:
    """Listen until the connection ends or is silent for 20 s (then it raises), recovering what was missed."""
    async with await aio_pika.connect(url, timeout=10) as connection, asyncio.TaskGroup() as group:
        queue = await (await connection.channel()).declare_queue(exclusive=True)
        await queue.bind(exchange, "#")
        book.suspend()
        group.create_task(recover(book, ask))
        async with queue.iterator(no_ack=True, timeout=20) as messages:
            async for message in messages:
                seq, prev = (int(str(message.headers.get(name, 0))) for name in ("x-seq", "x-prev-seq"))
                book.hear(message.body, seq, prev)
                count = sum(said != CLOSED for each in book.offers.values() for _, said in each.values())
                print(f"{message.routing_key}: {count} open or suspended", flush=True)
        raise ConnectionError("the queue is gone")


def post(base_url: str, key: str, after: int, request_id: str) -> tuple[int, float]:
    where = f"{base_url}/cs2/v1/recovery/initiate_request?after={after}&request_id={request_id}"
    try:
        with urlopen(Request(where, method="POST", headers={"X-API-Key": key}), timeout=10) as answer:
            status, pause = answer.status, 0.0
    except OSError as error:  # a refusal has a status and says when to ask again
        status = getattr(error, "code", 503)
        # What is in flight takes seconds, may end before we listen, and 409 tells the latest moment.
        pause = 3.0 if status == 409 else float(getattr(error, "headers", {}).get("Retry-After") or 1)
    print(f"recovery {request_id}: {status}", flush=True)
    return status, pause


async def main(url: str, base_url: str = "", key: str = "", *, book: Book | None = None) -> None:
    if "://" not in url:
        demo = json.loads(DEMO.read_text())
        tenant = next(each for each in demo["tenants"] if each["slug"] == url)
        url, base_url, key = tenant["amqp_url"], demo["base_url"], tenant["api_key"]
    book, ask = book or Book(), lambda *asked: asyncio.to_thread(post, base_url, key, *asked)
    book.after = book.after or time.time_ns() // 1_000_000  # with 0 no results are told
    while True:
        try:
            await consume(url, EXCHANGE, book, ask)
        except* Exception as lost:
            print(f"the connection is lost ({lost.exceptions[0]!r})", flush=True)
        await asyncio.sleep(2)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly when nobody reads on (`| head`)
    asyncio.run(main(*sys.argv[1:])) if sys.argv[1:] else print(__doc__)
