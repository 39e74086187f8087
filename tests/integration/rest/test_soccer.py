"""Soccer's profiles, found by number or by a URN of any prefix."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from msgspec.structs import replace

from app.domain.entrants import Country, Season, SoccerCompetitor, SoccerTournament
from app.settings import Settings
from app.store import entrants
from app.store.connections import Store
from tests.support import web
from tests.support.stored import put_entrants
from tests.support.web import IssueKey, serving


@pytest.fixture
async def headers(store: Store, issue: IssueKey) -> dict[str, str]:
    clubs = [SoccerCompetitor(number, f"Club {number}") for number in range(2, 9)]
    known = SoccerCompetitor(1, "Port Alder", "Norland", "NOR", "PAL", False, "men", "https://img.test/1.svg")
    season = Season("2030/31", "2030-08-01", "2031-05-20")
    cup = SoccerTournament(
        4, "Norland Cup", "Norland Football", "men", Country("Norland", "NOR"), season, 2, "", (1, 3)
    )
    await put_entrants(store, entrants.SOCCER_COMPETITORS, known, *clubs)
    await put_entrants(store, entrants.SOCCER_TOURNAMENTS, cup, SoccerTournament(9, "Friendlies"))
    return {"X-API-Key": await issue("fans", bundles=("cs2.stats",), sports=("soccer",))}


async def data(client: httpx.AsyncClient, path: str, headers: dict[str, str]) -> Any:
    return await web.data(client, f"/soccer/v1/{path}", headers)


async def test_a_competitor(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    assert await data(client, "competitors/1", headers) == {
        "id": "sr:competitor:1",
        "external_id": 1,
        "name": "Port Alder",
        "country": "Norland",
        "country_code": "NOR",
        "abbreviation": "PAL",
        "is_national": False,
        "gender": "men",
        "icon_path": "https://img.test/1.svg",
    }


async def test_a_tournament(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    seen = await data(client, "tournaments/4", headers)
    assert seen["category"] == {"name": "Norland", "country_code": "NOR"}
    assert seen["season"] == {"name": "2030/31", "starts_on": "2030-08-01", "ends_on": "2031-05-20"}
    assert (seen["name"], seen["gender"]) == ("Norland Cup", "men")
    assert (seen["id"], seen["parent"]) == ("sr:competition:4", "Norland Football")
    assert (seen["risk_tier"], seen["icon_path"]) == (2, None)
    assert [one["id"] for one in seen["competitors"]] == ["sr:competitor:1", "sr:competitor:3"]
    bare = await data(client, "tournaments/9", headers)
    assert (bare["category"], bare["season"], bare["competitors"]) == (None, None, [])


async def test_every_form_of_an_id(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    refs = ["competitors/1", "competitors/sr:competitor:1", "competitors/x:competitor:1", "tournaments/4"]
    for ref in refs:
        kind, name = ref.split("/")
        quoted = await data(client, f"{kind}/{quote(name, safe='')}", headers)
        assert quoted == await data(client, ref, headers), ref


async def test_unknown_references_are_not_found(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    for ref in ["competitors/77", "competitors/sr:competition:1", "tournaments/sr:player:4"]:
        assert (await client.get(f"/soccer/v1/{ref}", headers=headers)).status_code == 404, ref


async def test_pages_list_every_competitor_once(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    whole = await data(client, "competitors", headers)
    assert [one["external_id"] for one in whole] == list(range(1, 9))
    paged, cursors = [], ["0"]
    for cursor in cursors:
        answer = await client.get(f"/soccer/v1/competitors?limit=3&cursor={cursor}", headers=headers)
        paged += answer.json()["data"]
        cursors += filter(None, [answer.json()["meta"].get("next_cursor")])
    assert (paged, cursors) == (whole, ["0", "3", "6"])
    assert [one["external_id"] for one in await data(client, "tournaments", headers)] == [4, 9]


async def test_the_prefix_of_urns_is_a_setting(settings: Settings, headers: dict[str, str]) -> None:
    async with serving(replace(settings, soccer_urn_prefix="fd")) as other:
        assert (await data(other, "competitors/1", headers))["id"] == "fd:competitor:1"
        assert (await data(other, "tournaments/sr:competition:4", headers))["id"] == "fd:competition:4"
