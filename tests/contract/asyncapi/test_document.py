"""The AsyncAPI document is complete, and true of what is published."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import jsonschema
import pytest
from lxml import etree

from app.amqp.envelope import ALIVE_KEY, MATCH_MESSAGES, live_key, replayed_key, snapshot_complete_key
from app.channels.feed.asyncapi import feed
from app.channels.stream.asyncapi import stream_document
from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.settings import Settings
from app.store.connections import Store
from app.wire.json_schema import feed_json_schema
from app.wire.xml import feed as envelopes
from tests.support.story import offer
from tests.support.web import issuing, serving


@pytest.fixture
async def client(settings: Settings, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    key = await issuing(store, settings.secret_key)(bundles=("cs2.stats",))
    async with serving(settings) as client:
        client.headers["X-API-Key"] = key
        yield client


@pytest.fixture
async def document(client: httpx.AsyncClient) -> Any:
    answer = await client.get("/v1/asyncapi.json")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("application/json")
    return answer.json()


async def test_every_reference_resolves(document: Any) -> None:
    missing = [ref for ref in references(document) if not leads(document, ref)]
    assert missing == []


def references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [ref for each in node for ref in references(each)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [ref for each in node.values() for ref in references(each)]


def leads(document: Any, ref: str) -> bool:
    node = document
    for part in ref.removeprefix("#/").split("/"):
        if not isinstance(node, dict) or part not in node:
            return False
        node = node[part]
    return True


async def test_both_channels_are_in_it(document: Any) -> None:
    assert set(document["servers"]) == {"feed", "stream"}
    addresses = {channel["address"] for channel in document["channels"].values()}
    assert {
        "/cs2/v1/stream",
        "/cs2/v1/stream/{match_id}",
        ALIVE_KEY,
        snapshot_complete_key("{node_id}"),
    } <= (addresses)
    assert live_key("bet_stop", "{match_num}") in addresses
    assert not [one for one in addresses if one.startswith("lo.") and "bet_stop" in one]
    for name in MATCH_MESSAGES:
        live, replayed = live_key(name, 17), replayed_key(name, 17, "5")
        assert live.replace("match.17.", "match.{match_num}.") in addresses
        assert replayed.replace("match.17.5", "match.{match_num}.{node_id}") in addresses


async def test_the_document_states_when_to_reconnect(document: Any, client: httpx.AsyncClient) -> None:
    (alive,) = [
        described
        for described in document["components"]["messages"].values()
        if "30 seconds" in described.get("summary", "")
    ]
    assert alive["name"] == "alive" and "after 1 second, then after twice as long" in alive["summary"]
    assert alive["summary"] in (await client.get("/v1/docs/pushed")).text


async def test_the_document_states_which_markets_an_odds_change_lists(document: Any) -> None:
    descriptions = {
        name: document["channels"][f"{name}.odds_change"]["description"] for name in ("live", "recovery")
    }
    assert "The markets that changed; what is not listed is as it was." in descriptions["live"]
    assert "The full list" in descriptions["recovery"]


async def test_the_page_is_public_and_fetches_nothing(client: httpx.AsyncClient) -> None:
    del client.headers["X-API-Key"]
    page = await client.get("/v1/docs/pushed")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "base-uri 'none'" in page.headers["content-security-policy"]
    root = etree.fromstring(page.content, etree.HTMLParser())
    assert not root.xpath("//script | //link | //img | //iframe | //@src")
    assert all(str(href).startswith("#") for href in root.xpath("//@href"))
    ids = {f"#{each}" for each in root.xpath("//@id")}
    assert set(root.xpath("//a/@href")) <= ids
    assert "bet_settlement" in page.text and "scoreboard.frame" in page.text
    assert (await client.get("/v1/asyncapi.json")).status_code == 401


def test_no_name_is_in_both_parts() -> None:
    ours, theirs = feed("oddsfeed", "mq.example:5672", "https://api.example"), stream_document()
    for part in ("channels", "operations"):
        assert not ours[part].keys() & theirs[part].keys()


def rendered() -> list[bytes]:
    """An envelope of each kind."""
    moved = (LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON)
    entries = [LedgerEntry(*offer(1).key, *moved, "test")]
    about = ("od:match:17", 2, 1_900_000_000_000)
    return [
        envelopes.odds_change(*about, None, [offer(1), offer(2)]),
        envelopes.bet_stop(*about),
        envelopes.ledger_message("bet_settlement", *about, entries, "5"),
        envelopes.ledger_message("bet_cancel", *about, entries),
        envelopes.ledger_message("rollback_bet_settlement", *about, entries),
        envelopes.ledger_message("rollback_bet_cancel", *about, entries),
        envelopes.fixture_change(*about, 1),
        envelopes.alive(2, 1_900_000_000_000, True),
        envelopes.snapshot_complete(2, 1_900_000_000_000, "5"),
    ]


@pytest.mark.parametrize("body", rendered(), ids=lambda body: body[:24].decode())
def test_envelopes_match_the_document(body: bytes) -> None:
    shapes = feed_json_schema()
    root = etree.fromstring(body)
    schema = shapes.message(root.tag) | {"components": {"schemas": shapes.types()}}
    strict = closed(schema)
    jsonschema.Draft7Validator(strict).validate(as_json(root, strict, strict))


def closed(node: Any) -> Any:
    """The schema, with nothing allowed that it does not name."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = {key: closed(value) for key, value in node.items()}
    return inner | ({"additionalProperties": False} if node.get("type") == "object" else {})


def as_json(node: etree._Element, shape: Any, whole: Any) -> Any:
    """An element as the schema describes it."""
    if "$ref" in shape:
        shape = whole["components"]["schemas"][shape["$ref"].rsplit("/", 1)[-1]]
    made: dict[str, Any] = {}
    for name, value in node.attrib.items():
        kind = shape["properties"][name]["type"]
        made[str(name)] = {"integer": int, "number": float}.get(kind, str)(value)
    for child in node:
        inner = shape["properties"][child.tag]
        if inner.get("type") == "array":
            made.setdefault(child.tag, []).append(as_json(child, inner["items"], whole))
        else:
            made[child.tag] = as_json(child, inner, whole)
    return made
