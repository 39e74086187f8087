"""One odds_change, and every way of encoding it that the XML benchmark compares."""

import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from lxml import etree
from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.formats.dataclass.serializers import XmlSerializer
from xsdata.formats.dataclass.serializers.writers import LxmlEventWriter, XmlEventWriter

from app.domain.market import Market, MarketStatus
from app.domain.match import MapPlay, MatchSummary, Status
from app.wire.generated import common
from app.wire.generated import feed as models
from app.wire.xml import feed

SCHEMAS = Path(__file__).parents[2] / "schemas"
XSDATA = "xsdata XmlSerializer, native writer"
LXML = "lxml build + tostring"
OURS = "ours, generated writer"
CACHED = "ours, fragments cached"
JSON = "msgspec.json.encode"

EVENT, PRODUCT, STAMP = "od:match:4711", 2, 1_900_000_000_123

HEADLINE = MatchSummary(
    number=4711,
    status=Status.LIVE,
    home="Northern Lights",
    away="Iron Tide",
    score_home=1,
    maps=(
        MapPlay(number=1, name="de_mirage", status="finished", home_score=13, away_score=9, winner="home"),
        MapPlay(number=2, name="de_nuke", status="live", home_score=4, away_score=6, home_side="CT"),
        MapPlay(number=3, name="de_inferno"),
    ),
    round=11,
)


def markets(count: int) -> list[Market]:
    """`count` open markets, all different, as a live map offers them."""
    return [
        Market(
            type_id=13 + n % 2,
            specifiers=f"map={1 + n // 60}|round={1 + n // 2 % 30}|team={'home' if n % 2 else 'away'}",
            status=MarketStatus.ACTIVE,
            odds=Decimal(1010 + 37 * n % 4000).scaleb(-3),
            probability=0.5,
        )
        for n in range(count)
    ]


def reference(directory: Path) -> Any:
    """xsdata's own dataclasses for the feed, written into `directory` and imported from there."""
    command = [sys.executable, "-m", "xsdata", "generate", str(SCHEMAS), "--package", "reference"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(command, cwd=directory, check=True, capture_output=True, env=os.environ | {"PATH": path})
    sys.path.insert(0, str(directory))
    return import_module("reference.feed")


def envelope(offers: list[Market]) -> bytes:
    return feed.odds_change(EVENT, PRODUCT, STAMP, HEADLINE, offers)


def from_nothing(offers: list[Market]) -> bytes:
    """As the first time that these values are seen."""
    feed.clear_caches()
    return envelope(offers)


def build_with_lxml(node: models.OddsChange) -> bytes:
    """The same document, element by element."""
    root = etree.Element("odds_change")
    root.set("product", str(node.product))
    root.set("event_id", node.event_id)
    root.set("timestamp", str(node.timestamp))
    if node.sport_event_status is not None:
        _status_with_lxml(root, node.sport_event_status)
    odds = etree.SubElement(root, "odds")
    for market in node.odds.market:
        element = etree.SubElement(odds, "market")
        element.set("id", str(market.id))
        if market.specifiers is not None:
            element.set("specifiers", market.specifiers)
        element.set("status", str(int(market.status)))
        for outcome in market.outcome:
            leaf = etree.SubElement(element, "outcome")
            leaf.set("id", outcome.id)
            if outcome.odds is not None:
                leaf.set("odds", str(outcome.odds))
            leaf.set("active", "1" if outcome.active else "0")
    document: bytes = etree.tostring(root)
    return document


def _status_with_lxml(root: Any, status: common.EventStatus) -> None:
    element = etree.SubElement(root, "sport_event_status")
    element.set("status", str(int(status.status)))
    element.set("match_status", str(int(status.match_status)))
    element.set("home_score", str(status.home_score))
    element.set("away_score", str(status.away_score))
    element.set("scoreboard_available", "1" if status.scoreboard_available else "0")
    if status.period_scores is not None:
        periods = etree.SubElement(element, "period_scores")
        for score in status.period_scores.period_score:
            period = etree.SubElement(periods, "period_score")
            for name in score.__struct_fields__:
                if (value := getattr(score, name)) is not None:
                    period.set(name, value if isinstance(value, str) else str(int(value)))
    if status.scoreboard is not None:
        board = etree.SubElement(element, "scoreboard")
        for name in status.scoreboard.__struct_fields__:
            if (value := getattr(status.scoreboard, name)) is not None:
                board.set(name, str(int(value)))


def document_model(offers: list[Market]) -> models.OddsChange:
    """The object that every contender encodes."""
    return models.OddsChange(
        product=PRODUCT,
        event_id=EVENT,
        timestamp=STAMP,
        sport_event_status=feed.event_status(HEADLINE),
        odds=models.OddsList(market=tuple(map(feed.odds_market, offers))),
    )


def subjects(count: int, directory: Path) -> dict[str, Callable[[], bytes]]:
    """The contenders by name, each a call that yields the document (or its JSON) for the same object."""
    offers = markets(count)
    again = msgspec.json.decode(msgspec.json.encode(offers), type=list[Market])
    node = document_model(offers)
    document = models.write_odds_change(node)
    twin = XmlParser().from_bytes(document, reference(directory).OddsChange)
    native, by_lxml = XmlSerializer(writer=XmlEventWriter), XmlSerializer(writer=LxmlEventWriter)
    found: dict[str, Callable[[], bytes]] = {
        XSDATA: lambda: native.render(twin).encode(),
        "xsdata XmlSerializer, lxml writer": lambda: by_lxml.render(twin).encode(),
        LXML: lambda: build_with_lxml(node),
        "ours, from domain values, nothing cached": lambda: from_nothing(offers),
        OURS: lambda: models.write_odds_change(node),
        "ours, fragments cached, markets read again": lambda: envelope(again),
        CACHED: lambda: envelope(offers),
        JSON: lambda: msgspec.json.encode(node),
    }
    canonical = etree.tostring(etree.fromstring(document), method="c14n")
    for name, encode in found.items():
        if name != JSON and etree.tostring(etree.fromstring(encode()), method="c14n") != canonical:
            raise AssertionError(f"{name} writes another document")
    return found
