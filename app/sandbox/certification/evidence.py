"""What reached the client during an accident: the messages and frames that a verdict names."""

import time
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.sandbox.certification.deliveries import Delivery, Treatment

_SHOWN, _MOST = 12, 20_000


@dataclass(frozen=True)
class Item:
    """A line of evidence; `about` is the text in which markets are looked for."""

    at: float
    text: str
    about: str = field(default="", repr=False)

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.at, UTC)
        return f"{when:%H:%M:%S}.{when.microsecond // 1000:03d} {self.text}"


class Evidence:
    """Everything in order of time; `quiet_since` is when the client was last sent something but `alive`,
    `alives` has the last `alive` of each consumer."""

    def __init__(self) -> None:
        self.items: deque[Item] = deque(maxlen=_MOST)
        self.begun = 0.0
        self.deliveries: list[Delivery] = []
        self.alives: dict[str, Delivery] = {}
        self.quiet_since = time.monotonic()

    def begin(self) -> None:
        """An accident begins: `deliveries` and `first_about` are of what follows."""
        self.begun, self.deliveries = time.time(), []

    def note(self, text: str, about: str = "") -> None:
        self.items.append(Item(time.time(), text, about))

    def delivered(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)
        if delivery.kind == "alive":
            self.alives[delivery.consumer] = delivery
        else:
            self.quiet_since = time.monotonic()
        self._add("delivered", delivery)

    def treated(self, delivery: Delivery, treatment: Treatment) -> None:
        if treatment in (Treatment.HELD, Treatment.WITHHELD):
            self._add(treatment, delivery)

    def sent(self, what: str, text: str) -> None:
        """Something over HTTP: a page, an event, a frame."""
        self.quiet_since = time.monotonic()
        self.note(f"{what} {text[:300]}", text)

    def _add(self, what: str, delivery: Delivery) -> None:
        named = " ".join(part for part in (delivery.kind, delivery.match, delivery.request_id) if part)
        numbers = [
            f"{name} {delivery.headers[name]}" for name in ("x-seq", "x-prev-seq") if name in delivery.headers
        ]
        self.note(
            f"{what}: {named} ({', '.join(numbers) or 'no x-seq'})", delivery.body.decode(errors="replace")
        )

    def about(self, *texts: str) -> list[Item]:
        """The last lines in which all these texts occur."""
        found = [item for item in self.items if item.about and all(text in item.about for text in texts)]
        return found[-_SHOWN:]

    def first_about(self, *texts: str) -> float:
        """When the first of them came in this accident; infinity if none did."""
        found = (
            item.at
            for item in self.items
            if item.at >= self.begun and item.about and all(text in item.about for text in texts)
        )
        return min(found, default=float("inf"))
