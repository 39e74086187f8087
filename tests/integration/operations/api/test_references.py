"""Reference prices over HTTP and on the command line: imported as JSON or CSV, shown beside ours."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.market_maker import MarketMaker
from app.sandbox.simulator.match_simulation import MatchPlan
from app.settings import Settings
from app.trading.reference_prices import weight
from tests.integration.ingest.conftest import NOW
from tests.support.command_line import Run
from tests.support.web import Headers, serving

PATH = "/ops/v1/references"
NEW = {
    "team_a": "Northwind",
    "team_b": "Harbour",
    "event": "Cup",
    "home_strength": 1500,
    "away_strength": 1500,
}
HOME = {"source": "one", "specifiers": "team=home", "odds": 1.5, "at": NOW - 1000}
_IMPOSSIBLE = ("team=HOME", "team=draw", "team=home|team=away", "team=home|", "team", "colour=red")
AWAY = HOME | {"specifiers": "team=away", "odds": 2.6}
CSV = {"Content-Type": "text/csv"}


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, lambda: NOW) as client:
        yield client


@pytest.fixture
async def urn(client: httpx.AsyncClient, operator: Headers) -> str:
    made = await client.post("/ops/v1/matches", headers=operator, json=NEW)
    return str(made.json()["data"]["urn"])


def of(urn: str, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [row | {"match": urn} for row in rows]


def as_csv(rows: list[dict[str, Any]]) -> str:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(",".join(map(str, line)) + "\r\n" for line in lines)


async def shown(client: httpx.AsyncClient, operator: Headers, urn: str) -> dict[str, Any]:
    answer = await client.get(f"/ops/v1/matches/{urn}/references", headers=operator)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


async def test_a_match_without_references_says_so(
    client: httpx.AsyncClient, operator: Headers, urn: str
) -> None:
    found = await shown(client, operator, urn)
    assert (found["state"], found["theirs"], found["sources"], found["markets"]) == ("none", None, [], [])
    assert found["own"] == found["blend"] == 0.5 and found["follows"]
    match = (await client.get(f"/ops/v1/matches/{urn}", headers=operator)).json()["data"]
    assert match["price_inputs"] == {
        "strength_a": 1500,
        "strength_b": 1500,
        "spread_a": 0,
        "spread_b": 0,
        "by_ratings": [],
        "references": "no references",
    }


@pytest.mark.parametrize("form", ["json", "csv"])
async def test_what_is_imported_is_shown_beside_ours(
    client: httpx.AsyncClient, operator: Headers, urn: str, form: str
) -> None:
    rows = of(urn, HOME, AWAY)
    for counts in (
        {"new": 2, "unchanged": 0, "matches": 1},
        {"new": 0, "unchanged": 2, "matches": 0},
    ):
        if form == "json":
            answer = await client.post(PATH, headers=operator, json=rows)
        else:
            answer = await client.post(PATH, headers=operator | CSV, content=as_csv(rows))
        assert (answer.status_code, answer.json()["data"]) == (200, counts), answer.text
    found = await shown(client, operator, urn)
    (source,) = found["sources"]
    assert (found["state"], source["source"], source["age_seconds"], source["refused"]) == (
        "followed",
        "one",
        1,
        "",
    )
    assert found["own"] < found["blend"] < found["theirs"] == source["home"]
    assert found["weight"] == pytest.approx(weight(1, fresh=1.0), abs=0.001) and found["divergence"] > 0
    home = next(one for one in found["markets"] if one["specifiers"] == "team=home")
    assert home["theirs"] == found["theirs"]
    assert home["ours"] == pytest.approx(found["blend"], abs=0.005)
    match = (await client.get(f"/ops/v1/matches/{urn}", headers=operator)).json()["data"]
    assert match["price_inputs"]["references"] == "followed, of 1 source"


async def test_odds_of_nobody_are_stored_shown_and_refused(
    client: httpx.AsyncClient, operator: Headers, urn: str
) -> None:
    rows = [row | {"odds": 1.0000001} for row in of(urn, HOME, AWAY)]
    assert (await client.post(PATH, headers=operator, json=rows)).status_code == 200
    found = await shown(client, operator, urn)
    assert (found["state"], found["blend"]) == ("none", found["own"])
    assert found["sources"][0]["refused"] == "inverse odds sum to 2.000"


async def test_what_is_wrong_is_named(client: httpx.AsyncClient, operator: Headers, urn: str) -> None:
    for change, place in [
        ({"odds": 1.0}, ["body", 1, "odds"]),
        ({"at": NOW + 1}, ["body", 1, "at"]),
        ({"match": "od:match:999999"}, ["body", 1, "match"]),
        ({"specifiers": "team=home"}, ["body", 1]),
        *(({"specifiers": text}, ["body", 1, "specifiers"]) for text in _IMPOSSIBLE),
        ({"market_id": 13, "specifiers": "map=1|round=-1|team=home"}, ["body", 1, "specifiers"]),
        ({"market_id": 8, "specifiers": "map=1|threshold=nan"}, ["body", 1, "specifiers"]),
    ]:
        rows = of(urn, HOME, AWAY)
        rows[1] |= change
        answer = await client.post(PATH, headers=operator, json=rows)
        assert answer.status_code == 422, change
        assert [error["loc"] for error in answer.json()["detail"]] == [place], change
        assert (await shown(client, operator, urn))["markets"] == [], change


async def test_csv_that_is_wrong_is_named(client: httpx.AsyncClient, operator: Headers, urn: str) -> None:
    for body, places in [
        ("source,match,odds,at\none,{},x,1\none,{},2.0,y\n", [["body", 0], ["body", 1]]),
        ("source,match,odds,at\none,{},2.0\n", [["body", 0]]),
        ("source,match,odds,at\none,{},2.0,1,2\n", [["body", 0]]),
        ("colour\nred\n", [["body"]]),
        ("source,source\n", [["body"]]),
        ("", [["body"]]),
        ("source\n\xff", [["body"]]),
    ]:
        sent = body.replace("{}", urn).encode("latin-1")
        answer = await client.post(PATH, headers=operator | CSV, content=sent)
        assert answer.status_code == 422, answer.text
        assert [error["loc"] for error in answer.json()["detail"]] == places, body


async def test_no_more_than_a_thousand_prices_at_a_time(
    client: httpx.AsyncClient, operator: Headers, urn: str
) -> None:
    rows = of(urn, *(HOME | {"at": at} for at in range(1001)))
    assert (await client.post(PATH, headers=operator, json=rows)).status_code == 422
    assert (await client.post(PATH, headers=operator | CSV, content=as_csv(rows))).status_code == 422
    assert (await client.post(PATH, headers=operator | CSV, content=as_csv(rows[1:]))).status_code == 200


async def test_other_routes_take_no_csv(client: httpx.AsyncClient, operator: Headers) -> None:
    answer = await client.post("/ops/v1/ratings", headers=operator | CSV, content="a\n1\n")
    assert answer.status_code == 422


async def test_the_switch_is_previewed_and_given(
    client: httpx.AsyncClient, operator: Headers, urn: str
) -> None:
    await client.post(PATH, headers=operator, json=of(urn, HOME, AWAY))
    path, off = f"/ops/v1/matches/{urn}/commands", {"command": "follow_references", "follow": False}
    seen = await client.post(f"{path}/preview", headers=operator, json=off)
    assert seen.status_code == 200 and seen.json()["data"]["markets"]
    assert (await shown(client, operator, urn))["state"] == "followed"
    assert (await client.post(path, headers=operator, json=off)).status_code == 200
    found = await shown(client, operator, urn)
    assert (found["state"], found["switch"], found["follows"]) == ("switched_off", False, False)
    assert found["blend"] == found["own"]


async def test_the_simulated_market_is_imported_and_every_state_can_be_seen(
    client: httpx.AsyncClient, operator: Headers
) -> None:
    """Over the same path as a bookmaker's prices; most matches follow, and some source is refused."""
    maker, states, refused = MarketMaker(3), Counter[str](), Counter[str]()
    for at in range(30):
        home, away = fictional_world().pair(Random(at))
        teams = {"team_a": home.name, "team_b": away.name, "event": "Cup"}
        strengths = {"home_strength": home.points, "away_strength": away.points}
        made = await client.post("/ops/v1/matches", headers=operator, json=teams | strengths)
        match_id = made.json()["data"]["id"]
        rows = maker.quotes(MatchPlan(home, away, at, NOW), match_id, NOW)
        answer = await client.post(PATH, headers=operator, json=rows)
        assert answer.status_code == 200, answer.text
        found = await shown(client, operator, match_id)
        states[found["state"]] += 1
        refused.update(one["refused"].partition(" sum")[0] for one in found["sources"] if one["refused"])
    assert states["followed"] > 20 and len(states) > 1
    assert {"too old", "far from the other sources", "inverse odds"} <= refused.keys()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_file_is_imported_once(run: Run, tmp_path: Path, suffix: str) -> None:
    made = run("match", "create", "Northwind", "Harbour", "--allow-unrated")
    rows = of(str(json.loads(made.stdout)["id"]), HOME | {"at": 1}, AWAY | {"at": 1})
    file = tmp_path / f"prices{suffix}"
    file.write_text(as_csv(rows) if suffix == ".csv" else "".join(json.dumps(row) + "\n" for row in rows))
    for expected in ("new: 2\nunchanged: 0\nmatches: 1\n", "new: 0\nunchanged: 2\nmatches: 0\n"):
        done = run("references", "import", file)
        assert (done.exit_code, done.stdout) == (0, expected)
    file.write_text(file.read_text().replace("team=away", "colour=red"))
    refused = run("references", "import", file)
    line = 3 if suffix == ".csv" else 2
    assert refused.exit_code != 0 and file.name in refused.output and str(line) in refused.output
