"""What the broker delivers to a client, as the proxy in between sees it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_ROOT = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<([a-z_]+)")
_MATCH = re.compile(rb'event_id="([^"]+)"')
_REQUEST = re.compile(rb'request_id="([^"]+)"')


class Treatment(StrEnum):
    """What is done to a delivery: `HELD` ones are delivered once they are released, `WITHHELD` ones never;
    `REPEATED` is delivered twice."""

    PASSED = "passed"
    WITHHELD = "withheld"
    HELD = "held"
    REPEATED = "repeated"


@dataclass(frozen=True)
class Delivery:
    """One message for one consumer. `frames` are its header and body as the broker sent them; a delivery with
    another body has frames of its own."""

    consumer: str
    exchange: str
    routing_key: str
    headers: Mapping[str, Any]
    body: bytes
    frames: tuple[bytes, ...] = field(repr=False)

    @property
    def kind(self) -> str:
        """The root element: `odds_change`, `alive`, …"""
        found = _ROOT.match(self.body)
        return found[1].decode() if found else ""

    @property
    def match(self) -> str:
        """`od:match:<n>`; "" where it is about none."""
        found = _MATCH.search(self.body)
        return found[1].decode() if found else ""

    @property
    def request_id(self) -> str:
        found = _REQUEST.search(self.body)
        return found[1].decode() if found else ""

    @property
    def live(self) -> bool:
        return self.routing_key.startswith("hi.")

    @property
    def replayed(self) -> bool:
        """Whether a recovery published it, its end included."""
        return self.routing_key.startswith("lo.") or ".snapshot_complete." in self.routing_key

    @property
    def seq(self) -> int:
        """`x-seq`, 0 without."""
        return int(self.headers.get("x-seq") or 0)
