"""The reference client's book, which tells a report what happens to it."""

from collections import deque
from statistics import median
from xml.etree import ElementTree as ET

from aio_pika.abc import AbstractIncomingMessage

from scripts.consumer import SUSPENDED, Book
from scripts.demonstration.report import ENVELOPES, STORY, Heard, Latency, Line, Report, now

_RECENT = 500  #: of so many the median is taken
_REMEMBERED = 2_000  #: message ids, to know what comes again


class Watched(Book):
    """`take` instead of `hear`: the message goes into the book and into the report."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report
        self._latencies: deque[int] = deque(maxlen=_RECENT)
        self._known: deque[str] = deque(maxlen=_REMEMBERED)

    def tell(self, kind: str, text: str) -> None:
        story = self.report.story
        story.append(Line(story[-1].id + 1 if story else 1, now(), kind, text))
        del story[:-STORY]

    def suspend(self, *matches: str) -> None:
        super().suspend(*matches)
        self.count()
        if self.report.suspended and not matches:
            self.tell(
                "suspended", f"all {self.report.suspended} offers are suspended until they are told again"
            )

    def take(self, message: AbstractIncomingMessage) -> None:
        """Let a message change the book, and note it."""
        headers = message.headers
        seq, prev = (int(str(headers.get(name, 0))) for name in ("x-seq", "x-prev-seq"))
        root = ET.fromstring(message.body)
        if root.tag == "alive":
            self._alive(root)
        elif seq and "request_id" not in root.attrib:
            match = root.get("event_id", "")
            if prev > self.seqs[match] and not self.request:
                self.tell("gap", f"{match}: message {prev} before {seq} never came")
        due, match = self.request, root.get("event_id", "")
        open_before = self._open(match)
        self.hear(message.body, seq, prev)
        self.count()
        if open_before and not self._open(match) and not self.request:
            self.tell("suspended", f"{match}: no price is open any more ({open_before} were)")
        if root.tag == "snapshot_complete" and due and not self.request:
            self.tell("recovery", f"recovery {due} is complete: {self.report.active} prices are open again")
        if root.tag not in ("alive", "snapshot_complete"):
            self._note(message, root, seq)

    def count(self) -> None:
        said = [what for offers in self.offers.values() for _, what in offers.values() if what]
        self.report.suspended = said.count(SUSPENDED)
        self.report.active = len(said) - self.report.suspended

    def _open(self, match: str) -> int:
        return sum(what not in ("", SUSPENDED) for _, what in self.offers[match].values()) if match else 0

    def _alive(self, root: ET.Element) -> None:
        subscribed = root.get("subscribed") == "1"
        if self.report.state == "silent":
            self.report.state = "following"
        if not subscribed:
            self.tell("alive", 'alive subscribed="0": something was missed, a recovery is due')
        self.report.alive_at, self.report.subscribed = now(), subscribed

    def _note(self, message: AbstractIncomingMessage, root: ET.Element, seq: int) -> None:
        name = message.message_id or ""
        markets = list(root.iter("market"))
        suspended = sum(market.get("status") == "-1" for market in markets)
        heard = Heard(
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
        if heard.again:
            self.tell("again", f"{heard.type} of {heard.match} came again (x-seq {seq}): the book ignores it")
        elif heard.type.startswith("rollback"):
            self.tell("back", f"{heard.match}: {heard.type} of {len(markets)} markets")
        self._known.append(name)
        self.report.envelopes.append(heard)
        del self.report.envelopes[:-ENVELOPES]

    def _latency(self, message: AbstractIncomingMessage) -> int | None:
        arrived = int(str(message.headers.get("x-arrived-at", 0)))
        if not arrived or (message.message_id or "") in self._known:
            return None
        millis = max(0, now() - arrived)
        told: Latency = self.report.latency
        self._latencies.append(millis)
        place = next((place for place, edge in enumerate(told.edges) if millis <= edge), len(told.edges))
        told.bars[place] += 1
        told.count, told.last = told.count + 1, millis
        told.slowest, told.median = max(told.slowest, millis), round(median(self._latencies))
        return millis
