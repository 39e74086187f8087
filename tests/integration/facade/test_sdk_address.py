"""The SDK address: what it answers otherwise, and that the public one answers as without it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from lxml import etree

from app.kit.clock import system_clock
from app.settings import Settings
from app.wire.xml.dialect import SDK as DIALECT
from tests.support.facade import (
    LOCALES,
    PATHS,
    POSTS,
    SCHEMA,
    SDK,
    World,
    detail,
    document,
    same_in_the_dialect,
    with_sdk_address,
)
from tests.support.recoveries import WINDOW
from tests.support.web import Headers, serving

RECOVERY = "/v1/live/recovery/initiate_request"


@pytest.fixture
async def both(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application that has the SDK address, too."""
    async with serving(with_sdk_address(settings)) as client:
        yield client


async def test_the_public_address_answers_as_without_it(
    settings: Settings, world: World, provisioned: Headers
) -> None:
    """Every path, both languages: body, status and headers are the same, also after the same request at the
    SDK address, whose documents are cached beside the others."""
    templates = [
        *PATHS,
        "/v1/sports/{locale}/tournaments/9/info",
        "/v1/sports/de/sports",
        "/v1/replay/scenario",
    ]
    paths = [world.path(template, locale) for template in templates for locale in LOCALES]

    async def answers(client: httpx.AsyncClient, *addresses: str) -> list[tuple[Any, ...]]:
        found = []
        for path in paths:
            for address in addresses:
                answer = await client.get(address + path, headers=provisioned | {"X-Request-Id": "same"})
                headers = {name: value for name, value in answer.headers.items() if name != "ratelimit"}
                found.append((answer.status_code, headers, answer.content))
        return found

    async with serving(settings, lambda: 1_900_000_000_000) as client:
        before = await answers(client, "")
    async with serving(with_sdk_address(settings), lambda: 1_900_000_000_000) as client:
        assert (await answers(client, SDK, ""))[1::2] == before


@pytest.mark.usefixtures("world")
async def test_sports_have_the_number_of_routing_keys(both: httpx.AsyncClient, basic: Headers) -> None:
    listed = document(await both.get(f"{SDK}/v1/sports/en/sports", headers=basic), "sports")
    assert [sport.get("id") for sport in listed] == ["od:sport:2"]
    found = await both.get(f"{SDK}/v1/sports/en/sports/od:sport:2/tournaments", headers=basic)
    nested = document(found, "sport_tournaments").findall(".//sport")
    assert len(nested) > 1
    assert {sport.get("id") for sport in nested} == {"od:sport:2"}


@pytest.mark.usefixtures("world")
async def test_ids_are_repeated_as_they_were_requested(both: httpx.AsyncClient, basic: Headers) -> None:
    """Plain and encoded; the public address answers with its own."""
    for path, urn, element in [
        ("/v1/sports/en/sports/{}/tournaments", "od:sport:3", "sport"),
        ("/v1/sports/en/tournaments/{}/info", "od:tournament:5", "tournament"),
        ("/v1/sports/en/competitors/{}/profile", "od:competitor:11", "competitor"),
        ("/v1/sports/en/players/{}/profile", "od:player:101", "player"),
        ("/v1/sports/en/sport_events/{}/summary", "od:match:1", "sport_event"),
        ("/v1/sports/en/sport_events/{}/fixture", "od:match:1", "fixture"),
    ]:
        for spelling in (urn, urn.replace(":", "%3A")):
            answer = await both.get(SDK + path.format(spelling), headers=basic)
            found = document(answer, etree.fromstring(answer.content).tag)
            assert found.find(element).get("id") == urn, path
            public = etree.fromstring((await both.get(path.format(spelling), headers=basic)).content)
            assert (public.find(element).get("id") == urn) == (element in ("sport_event", "fixture")), path
        bare = urn.rpartition(":")[2]
        if not urn.startswith("od:match:"):
            same_in_the_dialect(
                await both.get(path.format(bare), headers=basic),
                await both.get(SDK + path.format(bare), headers=basic),
            )


def accepted(answer: httpx.Response) -> Any:
    """The acknowledgement, with the status and the code that every SDK takes for success."""
    assert answer.status_code == 200, answer.text
    found = etree.fromstring(answer.content)
    SCHEMA.assertValid(found)
    assert (found.tag, found.get("response_code")) == ("response", "ACCEPTED")
    assert [child.tag for child in found] == ["action", "message"]
    return found


async def test_recoveries_are_answered_200(
    both: httpx.AsyncClient, world: World, provisioned: Headers
) -> None:
    for path in map(world.path, POSTS):
        accepted(await both.post(SDK + path, headers=provisioned))
    document(await both.post(world.path(POSTS[1]), headers=provisioned), "response", 202)


@pytest.mark.parametrize("request_id", [None, "0"])
async def test_a_recovery_needs_no_request_id(
    both: httpx.AsyncClient, provisioned: Headers, request_id: str | None
) -> None:
    params = {} if request_id is None else {"request_id": request_id}
    found = accepted(await both.post(SDK + RECOVERY, headers=provisioned, params=params))
    assert int(found.get("request_id")) > 0
    detail(await both.post(RECOVERY, headers=provisioned, params=params), 422)


async def test_the_edge_of_the_window_has_room(both: httpx.AsyncClient, provisioned: Headers) -> None:
    """Clients send exactly the window's edge, by their own clock."""
    late = system_clock() - WINDOW - DIALECT.edge_millis // 2
    for address, status in ((SDK, 200), ("", 422)):
        params: dict[str, Any] = {"request_id": 7, "after": late}
        answer = await both.post(address + RECOVERY, headers=provisioned, params=params)
        assert answer.status_code == status, answer.text
    params = {"request_id": 8, "after": system_clock() - WINDOW - 2 * DIALECT.edge_millis}
    detail(await both.post(SDK + RECOVERY, headers=provisioned, params=params), 422)


async def test_no_recovery_is_refused_for_another(both: httpx.AsyncClient, provisioned: Headers) -> None:
    """At the SDK address; at the public one the slot is taken, also by one that waits."""
    for request_id in range(1, 9):
        params = {"request_id": request_id, "node_id": 5}
        accepted(await both.post(SDK + RECOVERY, headers=provisioned, params=params))
    refused = await both.post(RECOVERY, headers=provisioned, params={"request_id": 9, "node_id": 5})
    assert "request_id 1," in detail(refused, 409)


async def test_a_repeated_request_is_the_same_recovery(both: httpx.AsyncClient, provisioned: Headers) -> None:
    """Some clients send it again when they are in doubt, and with a body, which does not matter."""
    sent = [
        await both.post(SDK + RECOVERY, headers=provisioned, params={"request_id": 7}, content=b"<x/>")
        for _ in range(3)
    ]
    assert len({answer.content for answer in sent}) == 1


async def test_the_sdk_address_serves_what_sdks_request(both: httpx.AsyncClient, basic: Headers) -> None:
    assert (await both.get(f"{SDK}/v1/users/whoami", headers=basic)).status_code == 200
    assert (await both.get(f"{SDK}/v1/health", headers=basic)).status_code == 200
    for path in ("/", "/cs2/v1/matches", "/ops/v1/tenants", "/ops/v1/matches/x/log", "/v1/../ops/v1/feed"):
        assert (await both.get(SDK + path, headers=basic)).status_code == 404


async def test_the_producer_names_the_address_that_lists_it(both: httpx.AsyncClient, basic: Headers) -> None:
    for address, url in (("", "http://127.0.0.1:8000/v1/"), (SDK, f"{SDK}/v1/")):
        found = document(await both.get(f"{address}/v1/descriptions/producers", headers=basic), "producers")
        assert [producer.get("api_url") for producer in found] == [url]


async def test_a_variant_is_found_by_market_and_variant(both: httpx.AsyncClient, basic: Headers) -> None:
    """Clients look for exactly this pair in the answer, whatever the variant."""
    for locale in LOCALES:
        path = f"/v1/descriptions/{locale}/markets/1/variants/od:dynamic_outcomes:1"
        (market,) = document(await both.get(SDK + path, headers=basic), "market_descriptions")
        assert (market.get("id"), market.get("variant")) == ("1", "od:dynamic_outcomes:1")
        assert [outcome.get("id") for outcome in market.find("outcomes")] == ["1"]
        assert market.get("name") and market.find("outcomes")[0].get("name")
