"""From a message's bytes to what the auditor compares."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from scripts.histories.evidence import Delivery, Market

_RESULT = {"1": "won", "0": "lost"}
_OPEN = ("1", "-1")


def read(body: bytes, headers: Mapping[str, Any], moment: float, connection: int) -> Delivery:
    """A message, received at `moment` over the connection with this number."""
    root = ET.fromstring(body)
    number, previous = (int(str(headers.get(name) or 0)) for name in ("x-seq", "x-prev-seq"))
    return Delivery(
        moment=moment,
        connection=connection,
        name=root.tag,
        match=root.get("event_id", ""),
        at=int(root.get("timestamp", "0")),
        number=number,
        previous=previous,
        request=root.get("request_id", ""),
        body=body,
        states=tuple(_states(root)),
        subscribed=root.get("subscribed", ""),
    )


def _states(root: ET.Element) -> Iterator[tuple[Market, str]]:
    """What a message says of results: an open market has none."""
    for market in root.iter("market"):
        if root.tag == "odds_change":
            if market.get("status") in _OPEN:
                yield _named(root, market), "pending"
        elif root.tag == "bet_settlement":
            yield _named(root, market), _RESULT[market[0].get("result", "")]
        else:
            yield _named(root, market), "void" if root.tag == "bet_cancel" else "pending"


def _named(root: ET.Element, market: ET.Element) -> Market:
    start, end = root.get("start_time"), root.get("end_time")
    return int(market.get("id", "0")), windowed(market.get("specifiers", ""), start, end)


def windowed(specifiers: str, start: object, end: object) -> str:
    """The specifiers, with the window where only the bets in it are void."""
    return specifiers if end is None else f"{specifiers} {start}-{end}"
