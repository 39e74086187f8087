"""A match as XML shows what its JSON shows: every set of scopes opens the same in all formats.

Marks of a group in XML are things that only its scope opens; what XML does not carry (rounds, player
statistics, operational fields) is nowhere in it.
"""

from itertools import chain, combinations
from typing import Any

import httpx
from lxml import etree

from app.store.connections import Store
from tests.contract.access.tables import DETAIL, LIST, MARKETS, READ
from tests.support import world
from tests.support.web import IssueKey

OTHER = ("cs2:matches:scoreboard", "cs2:matches:internals")
OPENING = (LIST, READ, DETAIL, MARKETS, *OTHER)
MATCH = "/cs2/v1/matches/od:match:1"
RATE = 100_000


async def read(client: httpx.AsyncClient, path: str, raw: str, accept: str) -> httpx.Response:
    return await client.get(path, headers={"X-API-Key": raw, "Accept": accept})


async def test_every_set_of_scopes_opens_the_same_in_xml(
    client: httpx.AsyncClient, store: Store, issue: IssueKey
) -> None:
    await world.made(store)
    for granted in chain.from_iterable(combinations(OPENING, size + 1) for size in range(len(OPENING))):
        raw = await issue(scopes=granted, rate_limit_rpm=RATE)
        plain = await read(client, MATCH, raw, "application/json")
        addresses = [(MATCH, "application/xml"), (f"{MATCH}.xml", "*/*")]
        if READ in granted:
            addresses.append(("/v1/sports/en/sport_events/od:match:1/fixture", "*/*"))
        for path, accept in addresses:
            answer = await read(client, path, raw, accept)
            assert answer.status_code == plain.status_code, granted
            if plain.status_code == 200:
                _same(plain.json()["data"], etree.fromstring(answer.content), granted)
        _guarded(await read(client, f"{MATCH}/summary.xml", raw, "*/*"), READ in granted)
        markets = await read(client, f"{MATCH}/markets.xml", raw, "*/*")
        _guarded(markets, MARKETS in granted)
        if MARKETS in granted:
            shown = etree.fromstring(markets.content).find("sport_event_status") is not None
            assert shown == (READ in granted), granted


def _same(match: dict[str, Any], fixture: etree._Element, granted: tuple[str, ...]) -> None:
    begun = fixture[0].get("start_time")
    wanted = match["started_at"] if READ in granted else match["scheduled_at"]
    assert begun and str(wanted).startswith(begun.removesuffix("Z")), granted
    urls = [channel.get("stream_url") for channel in fixture.iter("tv_channel")]
    assert urls == [stream["url"] for stream in match.get("streams", [])], granted
    assert ("streams" in match) == bool(urls) == (DETAIL in granted), granted
    assert not {"round", "market", "scoreboard"} & {each.tag for each in fixture.iter()}


def _guarded(answer: httpx.Response, open_: bool) -> None:
    assert answer.status_code == (200 if open_ else 403)
