"""Soccer's matches and standings, from the seasons of two leagues."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from lxml import etree

from app.commands import entrant_import
from app.commands.soccer_season import read_season_file
from app.store.connections import Store
from tests.support import web
from tests.support.web import Headers, IssueKey

NOW = 1_900_000_000_000
Json = dict[str, Any]
CUP: Json = {
    "name": "Norland Cup 2030/31",
    "matches": [
        {
            "round": "Matchday 1",
            "date": "2030-08-17",
            "team1": "Alder",
            "team2": "Brook",
            "score": {"ft": [2, 1]},
        },
        {"round": "Matchday 1", "date": "2030-08-18", "time": "15:00", "team1": "Cove", "team2": "Dale"},
        {
            "round": "Matchday 2",
            "date": "2030-08-24",
            "team1": "Brook",
            "team2": "Cove",
            "status": "POSTPONED",
        },
        {
            "round": "Final",
            "team1": "Dale",
            "team2": "Alder",
            "score": {"ht": [0, 0], "ft": [1, 1], "et": [1, 1], "p": [4, 2]},
        },
    ],
}


@pytest.fixture
async def headers(issue: IssueKey) -> Headers:
    return {"X-API-Key": await issue("fans", bundles=("cs2.stats",), sports=("soccer",))}


async def imported(store: Store, *seasons: Json) -> Json:
    """What the import of these seasons, by name of their file, counted."""
    async with store.transaction() as tx:
        files = [read_season_file("a.json", json.dumps(season).encode()) for season in seasons]
        rows = [row for file in files for row in entrant_import.season_rows("a.json", file)]
        return dict(await entrant_import.import_rows(tx, rows, files, by="tester", now=NOW))


async def pages(client: httpx.AsyncClient, headers: Headers, **query: Any) -> list[Json]:
    """All rows of the list, page by page."""
    rows: list[Json] = []
    cursor: Json = {}
    while True:
        answer = await client.get("/soccer/v1/matches", params=query | cursor, headers=headers)
        assert answer.status_code == 200, answer.text
        rows += answer.json()["data"]
        meta = answer.json()["meta"]
        if "next_cursor" not in meta:
            return rows
        cursor = {"cursor": meta["next_cursor"]}


async def table(client: httpx.AsyncClient, headers: Headers, tournament: int, **query: str) -> Json:
    answer = await client.get(f"/soccer/v1/tournaments/{tournament}/standings", params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()["data"]
    return found


def independent(season: Json) -> dict[str, tuple[int, ...]]:
    """Rank, played, won, drawn, lost, goals for and against, and points by team, from a season's file."""
    sums: dict[str, list[int]] = {}
    for match in season["matches"]:
        for one in ("team1", "team2"):
            sums.setdefault(match[one], [0] * 6)
        if "ft" not in match.get("score", {}):
            continue
        home, away = match["score"]["ft"]
        for team, own, other in ((match["team1"], home, away), (match["team2"], away, home)):
            won, drawn = own > other, own == other
            change = (won, drawn, own < other, own, other, 3 if won else 1 if drawn else 0)
            sums[team] = [before + more for before, more in zip(sums[team], change, strict=True)]

    def strength(team: str) -> tuple[int, ...]:
        *_, scored, conceded, points = sums[team]
        return points, scored - conceded, scored

    ahead = {team: sum(strength(other) > strength(team) for other in sums) for team in sums}
    return {team: (1 + ahead[team], sum(values[:3]), *values) for team, values in sums.items()}


def goals(score: list[int] | None) -> Json | None:
    return {"home": score[0], "away": score[1]} if score else None


def shown(rows: Iterable[Json]) -> dict[str, tuple[int, ...]]:
    """The same, of the answer."""
    names = ("rank", "played", "won", "drawn", "lost", "goals_for", "goals_against", "points")
    return {row["team"]["name"]: tuple(row[name] for name in names) for row in rows}


@pytest.fixture
def leagues(data: Path) -> list[Json]:
    files = sorted(data.glob("football-*.json.gz"))
    return [json.loads(gzip.decompress(file.read_bytes())) for file in files]


async def test_both_seasons_at_hand_are_whole_and_their_tables_are_their_sums(
    client: httpx.AsyncClient, headers: Headers, store: Store, leagues: list[Json]
) -> None:
    counts = await imported(store, *leagues)
    assert (counts["soccer_match"], counts["soccer_match_changed"]) == (760, 760)
    rows = await pages(client, headers, limit=200)
    assert len({row["id"] for row in rows}) == len(rows) == 760
    found = {
        (row["tournament"]["name"], row["round"], row["home"]["name"], row["away"]["name"]): row
        for row in rows
    }
    for number, season in enumerate(leagues, start=1):
        name = season["name"].removesuffix(" 2025/26")
        for match in season["matches"]:
            row = found[name, match["round"], match["team1"], match["team2"]]
            score = match["score"]
            assert (row["date"], row["time"]) == (match["date"], match.get("time"))
            assert row["full_time"] == goals(score.get("ft"))
            assert row["half_time"] == goals(score.get("ht"))
            assert row["matchday"] == int(match["round"].split()[1])
            expected = match.get("status") or ("finished" if "ft" in score else "scheduled")
            assert row["status"] == expected
        standings = await table(client, headers, number)
        assert standings["tournament"]["name"] == name and standings["season"] == "2025/26"
        assert shown(standings["standings"]) == independent(season)
        ranks = [row["rank"] for row in standings["standings"]]
        assert ranks == sorted(ranks) and len(ranks) == 20
    again = await imported(store, *leagues)
    assert (again["soccer_match_changed"], again["soccer_match_removed"]) == (0, 0)
    assert await pages(client, headers, limit=200) == rows


async def test_a_correction_changes_the_table_and_not_the_numbers(
    client: httpx.AsyncClient, headers: Headers, store: Store
) -> None:
    await imported(store, CUP)
    before = await pages(client, headers)
    first = await table(client, headers, 1)
    corrected = json.loads(json.dumps(CUP))
    corrected["matches"][0]["score"]["ft"] = [1, 1]
    counts = await imported(store, corrected)
    assert (counts["soccer_match_changed"], counts["soccer_match_removed"]) == (1, 0)
    after = await pages(client, headers)
    assert [row["id"] for row in after] == [row["id"] for row in before]
    second = await table(client, headers, 1)
    assert shown(first["standings"]) == independent(CUP) != independent(corrected)
    assert shown(second["standings"]) == independent(corrected)


async def test_a_match_that_the_source_lists_no_longer_is_removed_and_may_return(
    client: httpx.AsyncClient, headers: Headers, store: Store
) -> None:
    await imported(store, CUP)
    [final] = [row for row in await pages(client, headers) if row["round"] == "Final"]
    fewer = CUP | {"matches": CUP["matches"][:3]}
    assert (await imported(store, fewer))["soccer_match_removed"] == 1
    assert (await imported(store, fewer))["soccer_match_removed"] == 0
    seen = await web.data(client, f"/soccer/v1/matches/{final['external_id']}", headers)
    assert seen == final | {"status": "removed"}
    assert shown((await table(client, headers, 1))["standings"]) == independent(fewer)
    await imported(store, CUP)
    assert await web.data(client, f"/soccer/v1/matches/{final['external_id']}", headers) == final


async def test_one_match(client: httpx.AsyncClient, headers: Headers, store: Store) -> None:
    await imported(store, CUP)
    final = (await pages(client, headers))[0]  # without a day
    assert final == {
        "id": "sr:match:4",
        "external_id": 4,
        "tournament": {"id": "sr:competition:1", "external_id": 1, "name": "Norland Cup"},
        "season": "2030/31",
        "round": "Final",
        "matchday": None,
        "group": None,
        "status": "finished",
        "date": None,
        "time": None,
        "home": {"id": "sr:competitor:4", "external_id": 4, "name": "Dale"},
        "away": {"id": "sr:competitor:1", "external_id": 1, "name": "Alder"},
        "half_time": {"home": 0, "away": 0},
        "full_time": {"home": 1, "away": 1},
        "extra_time": {"home": 1, "away": 1},
        "penalties": {"home": 4, "away": 2},
    }
    for name in ("4", "sr:match:4", "x:match:4"):
        assert await web.data(client, f"/soccer/v1/matches/{quote(name, safe='')}", headers) == final
    xml = await client.get("/soccer/v1/matches/4", headers=headers | {"Accept": "application/xml"})
    [match] = etree.fromstring(xml.content)
    assert (match.get("id"), match.find("full_time").attrib) == ("sr:match:4", {"home": "1", "away": "1"})
    xml = await client.get("/soccer/v1/tournaments/1/standings", headers=headers | {"Accept": "text/xml"})
    assert len(etree.fromstring(xml.content).findall("data/standings/standing")) == 4


async def test_filters(client: httpx.AsyncClient, headers: Headers, store: Store) -> None:
    await imported(store, CUP)
    for query, rounds in [
        ({"team": "2"}, ["Matchday 1", "Matchday 2"]),
        ({"team": "sr:competitor:4"}, ["Final", "Matchday 1"]),
        ({"team": "sr:competition:4"}, []),
        ({"tournament": "sr:competition:1", "status": "postponed"}, ["Matchday 2"]),
        ({"tournament": "2"}, []),
        ({"season": "2029/30"}, []),
        ({"status": "finished", "season": "2030/31"}, ["Final", "Matchday 1"]),
        ({"from": "2030-08-18"}, ["Matchday 1", "Matchday 2"]),
        ({"to": "2030-08-18"}, ["Matchday 1", "Matchday 1"]),
        ({"from": "2030-08-18", "to": "2030-08-18"}, ["Matchday 1"]),
    ]:
        whole = await pages(client, headers, **query)
        assert [row["round"] for row in whole] == rounds, query
        assert await pages(client, headers, **query, limit=1) == whole, query


async def test_a_season_is_chosen_and_the_latest_is_the_default(
    client: httpx.AsyncClient, headers: Headers, store: Store
) -> None:
    older = {"name": "Norland Cup 2029/30", "matches": [CUP["matches"][0] | {"date": "2029-08-17"}]}
    await imported(store, CUP, older)
    latest = await table(client, headers, 1)
    assert (latest["season"], latest["seasons"]) == ("2030/31", ["2030/31", "2029/30"])
    chosen = await table(client, headers, 1, season="2029/30")
    assert shown(chosen["standings"]) == independent(older)
    path = "/soccer/v1/tournaments/1/standings"
    unknown = await client.get(path, params={"season": "1999"}, headers=headers)
    assert unknown.status_code == 404 and "2030/31, 2029/30" in unknown.json()["detail"]


async def test_a_key_for_finished_matches_sees_results_only(
    client: httpx.AsyncClient, issue: IssueKey, store: Store
) -> None:
    await imported(store, CUP)
    raw = await issue("limited", bundles=("cs2.stats",), sports=("soccer",), finished_only=True)
    rows = await pages(client, {"X-API-Key": raw})
    assert [row["status"] for row in rows] == ["finished", "finished"]
    assert await pages(client, {"X-API-Key": raw}, status="postponed") == []
    statuses = [
        (await client.get(f"/soccer/v1/matches/{number}", headers={"X-API-Key": raw})).status_code
        for number in range(1, 5)
    ]
    assert statuses == [200, 404, 404, 200]


async def test_what_soccer_lacks_is_said(client: httpx.AsyncClient, headers: Headers) -> None:
    for method, path in [
        ("GET", "/soccer/v1/matches/1/markets"),
        ("GET", "/soccer/v1/markets/descriptions"),
        ("GET", "/soccer/v1/stream"),
        ("POST", "/soccer/v1/recovery/initiate_request"),
    ]:
        answer = await client.request(method, path, headers=headers)
        assert answer.status_code == 404, path
        assert "Soccer has profiles and matches here, without prices" in answer.json()["detail"], path
        other = await client.request(method, path.replace("soccer", "tennis"), headers=headers)
        nothing = (404, "There is nothing at this address.")
        assert (other.status_code, other.json()["detail"]) == nothing, path


async def test_wrong_queries_are_refused(client: httpx.AsyncClient, headers: Headers) -> None:
    wrong = ["from=yesterday", "to=2030-02-30", "team=Alder", "tournament=a%3Ab", "status=live", "cursor=1"]
    for query in wrong:
        answer = await client.get(f"/soccer/v1/matches?{query}", headers=headers)
        assert answer.status_code == 422, query
        assert answer.json()["detail"][0]["loc"] == ["query", query.partition("=")[0]], query
