"""A reference client of the feed: keep a book of what is on offer, and recover what was missed.

.venv/bin/python scripts/consumer.py {a tenant of the running demo, as acme | AMQP_URL BASE_URL API_KEY}
What is older than what is known of a market is old news; a recovery's `odds_change` is all of its match;
recover after a connect, `alive` with subscribed="0", 20 silent seconds, or an `x-prev-seq` never seen."""

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
SUSPENDED, CLOSED, SEQS = "suspended", "", ("x-seq", "x-prev-seq")
Ask = Callable[[int, str], Awaitable[tuple[int, float]]]  # (after, request id) -> status, seconds to wait


class Book:
    """What each match offers by market id and specifiers: when told, and a price, SUSPENDED or CLOSED."""

    def __init__(self) -> None:
        self.offers: defaultdict[str, dict[tuple[str, str], tuple[int, str]]] = defaultdict(dict)
        self.full, self.seqs = Counter[str](), Counter[str]()  # when all was told; the newest x-seq
        self.due, self.completed = asyncio.Event(), asyncio.Event()
        self.after, self.request = 0, ""  # up to then (ms) nothing is missing; the recovery that we wait for
        self.told, self._kept = set[str](), list[tuple[ET.Element, int, int]]()  # matches; live messages

    def suspend(self, *matches: str) -> None:
        """Nothing that we know of these (of none named: of all) may be offered until it is told again."""
        for offers in [self.offers[match] for match in matches or self.offers]:
            offers.update({key: (at, SUSPENDED) for key, (at, said) in offers.items() if said})
        self.due.set()

    def hear(self, body: bytes, seq: int = 0, prev: int = 0) -> None:
        """Take a message in; live ones wait while a recovery is not complete."""
        request = (root := ET.fromstring(body)).get("request_id")
        if root.tag == "alive":
            if root.get("subscribed") != "1":
                self.suspend()
        elif root.tag == "snapshot_complete" and request == self.request:
            for match in self.offers.keys() - self.told:  # over, or not ours any more
                self.offers[match] = {key: (at, CLOSED) for key, (at, _) in self.offers[match].items()}
            self.after, self.request = max(self.after, int(root.get("timestamp", "0"))), ""
            while self._kept:
                self.apply(*self._kept.pop(0))
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
        for market in () if root.get("end_time") else root.iter("market"):  # bets are void: it stays on offer
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
    while book.request or await book.due.wait():  # asked in vain, it asks again
        book.due.clear()
        book.request, book.told, book.completed = str(time.time_ns() // 1000), set(), asyncio.Event()
        status, pause = await ask(max(0, book.after - OVERLAP_MILLIS), book.request)
        print(f"recovery {book.request}: {status}", flush=True)
        book.after = 0 if status == 422 else book.after  # too long ago: only the present can be told
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(600 if status == 202 else pause):
                await book.completed.wait()


async def consume(url: str, exchange: str, book: Book, ask: Ask) -> None:
    """Listen until the connection ends or is silent for 20 s (then it raises), recovering what was missed."""
    async with await aio_pika.connect(url, timeout=10) as connection, asyncio.TaskGroup() as group:
        queue = await (await connection.channel()).declare_queue(exclusive=True)
        await queue.bind(exchange, "#")
        book.suspend()
        group.create_task(recover(book, ask))
        heard = asyncio.Queue[Any]()  # not its iterator: with a timeout that may lose a cancellation
        connection.close_callbacks.add(lambda *_: heard.put_nowait(None))
        await queue.consume(heard.put, no_ack=True)
        async with asyncio.timeout(20) as silence:
            while message := await heard.get():
                silence.reschedule(asyncio.get_running_loop().time() + 20)
                book.hear(message.body, *(int(str(message.headers.get(name, 0))) for name in SEQS))
                count = sum(said != CLOSED for each in book.offers.values() for _, said in each.values())
                print(f"{message.routing_key}: {count} open or suspended", flush=True)
        raise ConnectionError("the queue is gone")


def post(base_url: str, key: str, after: int, request_id: str) -> tuple[int, float]:
    where = f"{base_url}/cs2/v1/recovery/initiate_request?after={after}&request_id={request_id}"
    try:
        with urlopen(Request(where, method="POST", headers={"X-API-Key": key}), timeout=10) as answer:
            return answer.status, 0.0
    except OSError as error:  # a refusal says when to ask again; 409 the latest moment, it is mostly sooner
        status = getattr(error, "code", 503)
        return status, 3.0 if status == 409 else float(getattr(error, "headers", {}).get("Retry-After") or 1)


async def main(url: str, base_url: str = "", key: str = "", *, book: Book | None = None) -> None:
    if "://" not in url:
        demo = json.loads(DEMO.read_text())
        tenant = {each["slug"]: each for each in demo["tenants"]}[url]
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
