"""Search by name: what is found, how well it fits, and who finds it."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from app.commands import match_commands as c
from app.domain import scopes
from app.domain.entrants import Competitor, Player, Tournament
from app.store import entrants
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW
from tests.support.matches import create_match, execute
from tests.support.stored import put_entrants
from tests.support.web import IssueKey

Search = Callable[..., Awaitable[dict[str, Any]]]
TEAMS = ("Northwind", "Northwind Academy", "Great North", "Harbour", "Северный Ветер", "100% Luck_")


@pytest.fixture
async def known(store: Store) -> None:
    teams = [Competitor(number, name, region="EU") for number, name in enumerate(TEAMS, start=1)]
    await put_entrants(store, entrants.TEAMS, *teams)
    await put_entrants(store, entrants.TOURNAMENTS, Tournament(1, "Northern Cup", tier="S"))
    await put_entrants(store, entrants.PLAYERS, Player(1, "northman", team_id=4))


async def create(store: Store, home: str, away: str, event: str, finished: bool = False) -> str:
    match = await create_match(store, NOW, home=home, away=away, event=event)
    if finished:
        await execute(store, match, c.AwardMatch(winner="team_a"), NOW)
    return str(match.id)


@pytest.fixture
def search(client: httpx.AsyncClient, basic: dict[str, str]) -> Search:
    async def fetch(q: str, headers: dict[str, str] = basic, **query: Any) -> dict[str, Any]:
        answer = await client.get("/cs2/v1/search", params={"q": q, **query}, headers=headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return fetch


def scored(found: dict[str, Any], kind: str) -> dict[str, float]:
    return {hit["label"]: hit["score"] for hit in found["data"] if hit["type"] == kind}


@pytest.mark.usefixtures("known")
async def test_a_name_fits_as_well_as_it_is_named(search: Search) -> None:
    whole = scored(await search(" NORTHwind ", types="team"), "team")
    assert (whole["Northwind"], whole["Northwind Academy"]) == (1.0, 0.9)
    assert whole.get("Great North", 0) < 0.7
    part = scored(await search("orth", types="team"), "team")
    assert part == {"Northwind": 0.7, "Northwind Academy": 0.7, "Great North": 0.7}
    like = scored(await search("nortwind", types="team"), "team")
    assert 0.3 <= like["Northwind"] < 1 and "Harbour" not in like


@pytest.mark.usefixtures("known")
async def test_hits_of_all_types_the_best_first(store: Store, search: Search) -> None:
    match = await create(store, "Harbour", "Other", "Northern Cup")
    found = await search("north")
    assert [hit["score"] for hit in found["data"]] == sorted(
        (h["score"] for h in found["data"]), reverse=True
    )
    hits = {(hit["type"], hit["id"]): (hit["label"], hit["sub_label"]) for hit in found["data"]}
    assert hits["match", match] == ("Harbour vs Other", "Northern Cup · discovered")
    assert hits["tournament", "mf:tournament:1"] == ("Northern Cup", "S-tier")
    assert hits["player", "mf:player:1"] == ("northman", "Harbour")
    assert hits["team", "mf:competitor:1"] == ("Northwind", "EU")
    assert found["meta"] == {
        "count": len(found["data"]),
        "by_type": {"match": 1, "team": 3, "player": 1, "tournament": 1},
        "types_searched": ["match", "team", "player", "tournament"],
        "q": "north",
    }
    assert len((await search("north", limit=2))["data"]) == 2


@pytest.mark.usefixtures("known")
async def test_every_part_of_a_name_finds_it(search: Search) -> None:
    for name in TEAMS:
        for begin in range(0, len(name) - 2, 2):
            for size in (2, 3, 5):
                part = name[begin : begin + size]
                if len(" ".join(part.split())) == size:
                    scores = scored(await search(part, types="team", limit=50), "team")
                    assert scores[name] >= 0.7, part


@pytest.mark.usefixtures("known")
async def test_a_renamed_team_is_found_by_its_new_name_only(store: Store, search: Search) -> None:
    await put_entrants(store, entrants.TEAMS, Competitor(1, "Southwind"))
    assert "Southwind" in scored(await search("southwind"), "team")
    assert 1.0 not in scored(await search("northwind", types="team"), "team").values()


@pytest.mark.usefixtures("known")
async def test_types_that_a_key_may_not_list_are_left_out(issue: IssueKey, search: Search) -> None:
    teams = {"X-API-Key": await issue("teams", scopes=(scopes.TEAMS_LIST,))}
    found = await search("north", teams)
    assert {hit["type"] for hit in found["data"]} == {"team"} and found["meta"]["types_searched"] == ["team"]
    nothing = {"X-API-Key": await issue("maps", scopes=(scopes.MAPS,))}
    assert await search("north", nothing) == {
        "data": [],
        "meta": {"count": 0, "by_type": {}, "types_searched": [], "q": "north"},
    }


async def test_keys_for_finished_matches_find_nothing_of_others(
    store: Store, issue: IssueKey, search: Search, basic: dict[str, str]
) -> None:
    every = (scopes.LIST, scopes.TEAMS_LIST, scopes.TOURNAMENTS_LIST, scopes.PLAYERS_LIST)
    headers = {"X-API-Key": await issue("late", scopes=every, finished_only=True)}
    await create(store, "Northwind", "Harbour", "Secret North")
    assert (await search("north", headers))["data"] == []
    assert len((await search("north"))["data"]) == 3
    await create(store, "Northwind", "Port", "Open North", finished=True)
    found = {(hit["type"], hit["label"]) for hit in (await search("north", headers))["data"]}
    assert found == {("match", "Northwind vs Port"), ("team", "Northwind"), ("tournament", "Open North")}
    assert (await search("harbour", headers))["data"] == []


async def test_what_does_not_fit_is_refused(client: httpx.AsyncClient, basic: dict[str, str]) -> None:
    for query in ["q=a", "q=%20%20a%20", "q=", "", f"q={'x' * 101}", "q=abc&types=x", "q=abc&limit=51"]:
        refused = await client.get(f"/cs2/v1/search?{query}", headers=basic)
        assert refused.status_code == 422, query
        expected = next((name for name in ("types", "limit") if f"{name}=" in query), "q")
        assert refused.json()["detail"][0]["loc"][-1] == expected, query
