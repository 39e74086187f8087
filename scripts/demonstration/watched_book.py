"""The reference client's book, with a report of what happens to it."""

from collections import deque
from statistics import median
from xml.etree import ElementTree as ET

from aio_pika.abc import AbstractIncomingMessage

from scripts.consumer import SUSPENDED, Book
from scripts.demonstration.report import ENVELOPES, STORY, Latency, Line, ReceivedEnvelope, Report, now
from scripts.lab.evidence import numbers

_RECENT = 500  #: the median is that of so many
_REMEMBERED = 2_000  #: message ids, to recognise duplicates


class WatchedBook(Book):
    """`receive_message` replaces `receive`: a message changes the book and the report."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report
        self._latencies: deque[int] = deque(maxlen=_RECENT)
        self._known: deque[str] = deque(maxlen=_REMEMBERED)

    def add_line(self, kind: str, text: str) -> None:
        story = self.report.story
        story.append(Line(story[-1].id + 1 if story else 1, now(), kind, text))
        del story[:-STORY]

    def suspend(self, *matches: str) -> None:
        super().suspend(*matches)
        self.count()
        if self.report.suspended and not matches:
            self.add_line(
                "suspended",
                f"all {self.report.suspended} offers are suspended until they are published again",
            )

    def receive_message(self, message: AbstractIncomingMessage) -> None:
        """Apply a message to the book and report it."""
        seq, prev = numbers(message.headers)
        root = ET.fromstring(message.body)
        if root.tag == "alive":
            self._alive(root)
        elif seq and "request_id" not in root.attrib:
            match = root.get("event_id", "")
            if prev > self.seqs[match] and not self.request:
                self.add_line("gap", f"{match}: message {prev} before {seq} never came")
        due, match = self.request, root.get("event_id", "")
        open_before = self._open(match)
        self.receive(message.body, seq, prev)
        self.count()
        if open_before and not self._open(match) and not self.request:
            self.add_line("suspended", f"{match}: no price is open any more ({open_before} were)")
        if root.tag == "snapshot_complete" and due and not self.request:
            self.add_line(
                "recovery", f"recovery {due} is complete: {self.report.active} prices are open again"
            )
        if root.tag not in ("alive", "snapshot_complete"):
            self._note(message, root, seq)

    def count(self) -> None:
        prices = [what for offers in self.offers.values() for _, what in offers.values() if what]
        self.report.suspended = prices.count(SUSPENDED)
        self.report.active = len(prices) - self.report.suspended

    def _open(self, match: str) -> int:
        return sum(what not in ("", SUSPENDED) for _, what in self.offers[match].values()) if match else 0

    def _alive(self, root: ET.Element) -> None:
        subscribed = root.get("subscribed") == "1"
        if self.report.state == "silent":
            self.report.state = "following"
        if not subscribed:
            self.add_line("alive", 'alive subscribed="0": something was missed, a recovery is due')
        self.report.subscribed = subscribed

    def _note(self, message: AbstractIncomingMessage, root: ET.Element, seq: int) -> None:
        name = message.message_id or ""
        markets = list(root.iter("market"))
        suspended = sum(market.get("status") == "-1" for market in markets)
        received = ReceivedEnvelope(
            at=now(),
            type=root.tag,
            key=message.routing_key or "",
            match=root.get("event_id", ""),
            seq=seq,
            markets=len(markets),
            suspended=suspended,
            replayed="request_id" in root.attrib,
            again=bool(name) and name in self._known,
            latency=self._latency(message),
        )
        if received.again:
            self.add_line(
                "again", f"{received.type} of {received.match} came again (x-seq {seq}): the book ignores it"
            )
        elif received.type.startswith("rollback"):
            self.add_line("back", f"{received.match}: {received.type} of {len(markets)} markets")
        self._known.append(name)
        self.report.envelopes.append(received)
        del self.report.envelopes[:-ENVELOPES]

    def _latency(self, message: AbstractIncomingMessage) -> int | None:
        arrived = int(str(message.headers.get("x-arrived-at", 0)))
        if not arrived or (message.message_id or "") in self._known:
            return None
        millis = max(0, now() - arrived)
        latency: Latency = self.report.latency
        self._latencies.append(millis)
        place = next(
            (place for place, edge in enumerate(latency.edges) if millis <= edge), len(latency.edges)
        )
        latency.bars[place] += 1
        latency.count, latency.last = latency.count + 1, millis
        latency.slowest, latency.median = max(latency.slowest, millis), round(median(self._latencies))
        return millis
