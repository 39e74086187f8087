"""A reference client of the feed: it maintains a book of what is on offer, and recovers what it missed.

.venv/bin/python scripts/consumer.py {a tenant of the running demo, as acme | AMQP_URL BASE_URL API_KEY}
A message older than the last about a market changes nothing; a recovery's `odds_change` is all of its match;
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
OVERLAP_MILLIS, DAY_MILLIS = 120_000, 86_400_000  # we may be notified of a loss more than a minute after it
SUSPENDED, CLOSED, SEQS = "suspended", "", ("x-seq", "x-prev-seq")
# (after, request id) -> status, seconds to wait
RecoveryRequest = Callable[[int, str], Awaitable[tuple[int, float]]]


class Book:
    """What each match offers by market id and specifiers: a timestamp, and a price, SUSPENDED or CLOSED."""

    def __init__(self) -> None:
        self.offers: defaultdict[str, dict[tuple[str, str], tuple[int, str]]] = defaultdict(dict)
        self.full, self.seqs = Counter[str](), Counter[str]()  # when last published in full; last x-seq
        self.due, self.completed = asyncio.Event(), asyncio.Event()
        self.after, self.request = 0, ""  # up to then (ms) nothing is missing; the open recovery
        self.halted: defaultdict[str, dict[tuple[str, str], tuple[int, str]]] = defaultdict(dict)
        self.replayed, self._deferred = set[str](), list[tuple[ET.Element, int, int]]()

    def suspend(self, *matches: str) -> None:
        """Offer nothing of these matches (of none named: of all) until it is published again."""
        for match in matches or tuple(self.offers):
            self.halt(match)
            if match in self.halted:
                self.halted[match] = {}
        self.due.set()

    def halt(self, match: str) -> dict[tuple[str, str], tuple[int, str]]:
        """Suspend what is open of the match; returns it."""
        offers = self.offers[match]
        opened = {key: (at, price) for key, (at, price) in offers.items() if price not in (SUSPENDED, CLOSED)}
        offers.update({key: (at, SUSPENDED) for key, (at, _) in opened.items()})
        return opened

    def receive(self, body: bytes, seq: int = 0, prev: int = 0) -> None:
        """Apply a message; live ones wait until a recovery is complete."""
        request = (root := ET.fromstring(body)).get("request_id")
        if root.tag == "alive":
            if root.get("subscribed") != "1":
                self.suspend()
        elif root.tag == "snapshot_complete" and request == self.request:
            for match in self.offers.keys() - self.replayed:  # over, or not ours any more
                self.offers[match] = {key: (at, CLOSED) for key, (at, _) in self.offers[match].items()}
            if not self.due.is_set():
                self.after = max(self.after, int(root.get("timestamp", "0")))
            self.request = ""
            for match, halted in self.halted.items():  # what has come newer since stays
                same = {
                    key: had for key, had in halted.items() if self.offers[match][key] == (had[0], SUSPENDED)
                }
                self.offers[match].update(same)
            self.halted.clear()
            while self._deferred:
                self.apply(*self._deferred.pop(0))
            self.completed.set()
        elif request is None and self.request:
            self._deferred.append((root, seq, prev))
            match = root.get("event_id", "")  # its prices are not the newest any more
            self.halted[match] |= self.halt(match)
        elif request in (None, self.request):
            self.apply(root, seq, prev)

    def apply(self, root: ET.Element, seq: int, prev: int) -> None:
        match, at, replay = root.get("event_id", ""), int(root.get("timestamp", "0")), root.get("request_id")
        if not replay and prev > self.seqs[match]:  # since its last message; others may have come meanwhile
            had = max((each for each, _ in self.offers[match].values()), default=0)
            self.after = min(self.after, max(had, at - DAY_MILLIS))
            self.suspend(match)
        self.seqs[match] = max(self.seqs[match], seq)
        if not replay and not self.due.is_set():  # what is missing is older; a cut replay is requested again
            self.after = max(self.after, at)
        self.replayed.add(match)  # live messages wait meanwhile
        offers = self.offers[match]
        if root.tag == "bet_stop":  # of all that was on offer
            offers |= {key: (at, SUSPENDED) for key, (had, odds) in offers.items() if odds and had < at}
        for market in () if root.get("end_time") else root.iter("market"):  # void bets: it stays on offer
            key = (market.get("id", ""), market.get("specifiers", ""))
            if at > max(self.full[match], offers.get(key, (0, ""))[0]):
                halted = root.tag.startswith("rollback") or market.get("status") == "-1"
                odds = "".join(outcome.get("odds", CLOSED) for outcome in market)  # none when it is over
                offers[key] = (at, SUSPENDED if halted else odds)
        if root.tag == "odds_change" and replay and at > self.full[match]:
            self.full[match] = at
            offers.update({key: (at, CLOSED) for key, (since, _) in offers.items() if since < at})
        if self.due.is_set():  # something was missed since, or is missing before
            self.suspend(match)
        elif match in self.halted:  # a live message waits that is newer than what is replayed
            self.halted[match] |= self.halt(match)

    def digest(self) -> dict[str, Any]:
        """What is open, as POST /cs2/v1/selfcheck takes it, to compare the book with the service's."""
        held = []
        for match, offers in self.offers.items():
            known = [(int(market), text, price) for (market, text), (_, price) in offers.items() if price]
            markets = [[*key, -1] if price == SUSPENDED else [*key, 1, float(price)] for *key, price in known]
            held += [{"match": match, "seq": self.seqs[match], "markets": markets}] if known else []
        return {"matches": held}


async def recover(book: Book, request_recovery: RecoveryRequest) -> None:
    """Request what was missed whenever that is due, without end."""
    while book.request or await book.due.wait():  # a refused request is repeated
        book.due.clear()
        book.request, book.replayed, book.completed = str(time.time_ns() // 1000), set(), asyncio.Event()
        status, pause = await request_recovery(max(0, book.after - OVERLAP_MILLIS), book.request)
        print(f"recovery {book.request}: {status}", flush=True)
        book.after = 0 if status == 422 else book.after  # too long ago: only the present can be replayed
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(600 if status == 202 else pause):
                await book.completed.wait()


async def consume(url: str, exchange: str, book: Book, request_recovery: RecoveryRequest) -> None:
    """Consume until the connection ends or is silent for 20 s (then it raises); recover what was missed."""
    async with await aio_pika.connect(url, timeout=10) as connection, asyncio.TaskGroup() as group:
        queue = await (await connection.channel()).declare_queue(exclusive=True)
        await queue.bind(exchange, "#")
        book.suspend()
        group.create_task(recover(book, request_recovery))
        incoming = asyncio.Queue[Any]()  # not its iterator: with a timeout that may lose a cancellation
        connection.close_callbacks.add(lambda *_: incoming.put_nowait(None))
        await queue.consume(incoming.put, no_ack=True)
        async with asyncio.timeout(20) as silence:
            while message := await incoming.get():
                silence.reschedule(asyncio.get_running_loop().time() + 20)
                book.receive(message.body, *(int(str(message.headers.get(name, 0))) for name in SEQS))
                count = sum(price != CLOSED for each in book.offers.values() for _, price in each.values())
                print(f"{message.routing_key}: {count} open", flush=True)
        raise ConnectionError("the queue is gone")


def post(base_url: str, key: str, after: int, request_id: str) -> tuple[int, float]:
    where = f"{base_url}/cs2/v1/recovery/initiate_request?after={after}&request_id={request_id}"
    try:
        with urlopen(Request(where, method="POST", headers={"X-API-Key": key}), timeout=10) as answer:
            return answer.status, 0.0
    except OSError as error:  # the Retry-After of a 409 is the latest moment, it is mostly sooner
        status = getattr(error, "code", 503)
        return status, 3.0 if status == 409 else float(getattr(error, "headers", {}).get("Retry-After") or 1)


async def main(url: str, base_url: str = "", key: str = "", *, book: Book | None = None) -> None:
    if "://" not in url:
        demo = json.loads(DEMO.read_text())
        tenant = {each["slug"]: each for each in demo["tenants"]}[url]
        url, base_url, key = tenant["amqp_url"], demo["base_url"], tenant["api_key"]
    book, request_recovery = book or Book(), lambda *request: asyncio.to_thread(post, base_url, key, *request)
    book.after = book.after or time.time_ns() // 1_000_000  # with 0 no results are replayed
    while True:
        try:
            await consume(url, EXCHANGE, book, request_recovery)
        except* Exception as lost:
            print(f"the connection is lost ({lost.exceptions[0]!r})", flush=True)
        await asyncio.sleep(2)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly when the output's reader has ended (`| head`)
    asyncio.run(main(*sys.argv[1:])) if sys.argv[1:] else print(__doc__)
