"""Ratings over HTTP and on the command line: what is imported is listed, what is wrong is named."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.integration.ingest.conftest import NOW
from tests.support.command_line import Run
from tests.support.web import Headers, serving

PATH = "/ops/v1/ratings"
RESULT = {
    "id": "m1/1",
    "at": NOW - 1000,
    "team_a": "Northwind",
    "team_b": "Harbour",
    "score_a": 13,
    "score_b": 4,
}
STRENGTH = {"id": "s1", "at": NOW - 2000, "team": "Harbour", "strength": 1400}


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, lambda: NOW) as client:
        yield client


async def test_what_is_imported_is_listed(client: httpx.AsyncClient, operator: Headers) -> None:
    body = {"results": [RESULT], "strengths": [STRENGTH]}
    for counts in ({"changed": 2, "void": 0, "unchanged": 0}, {"changed": 0, "void": 0, "unchanged": 2}):
        answer = await client.post(PATH, headers=operator, json=body)
        assert (answer.status_code, answer.json()["data"]) == (200, counts), answer.text
    rated = (await client.get(PATH, headers=operator)).json()
    assert rated["meta"]["count"] == 2
    by_name = {one["name"]: one for one in rated["data"]}
    assert by_name["Harbour"]["points"] < 1400 and by_name["Harbour"]["sufficient"]
    assert (by_name["Northwind"]["maps"], by_name["Northwind"]["sufficient"]) == (1, False)
    assert by_name["Northwind"]["team_id"].startswith("mf:competitor:")
    assert len((await client.get(f"{PATH}?limit=1", headers=operator)).json()["data"]) == 1


async def test_what_is_wrong_is_named(client: httpx.AsyncClient, operator: Headers) -> None:
    for change, place in [
        ({"score_b": 13}, ["body", "results", 0, "score_b"]),
        ({"at": NOW + 1}, ["body", "results", 0, "at"]),
        ({"winner": "team_b"}, ["body", "results", 0, "winner"]),
    ]:
        answer = await client.post(PATH, headers=operator, json={"results": [RESULT | change]})
        assert answer.status_code == 422, change
        assert [error["loc"] for error in answer.json()["detail"]] == [place], change
        assert (await client.get(PATH, headers=operator)).json()["data"] == [], change


def test_a_file_is_imported_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    rows = [{"kind": "result"} | RESULT | {"at": 1}, {"kind": "strength"} | STRENGTH | {"at": 0}]
    file.write_text("".join(json.dumps(row) + "\n\n" for row in rows))
    for expected in ("changed: 2\nvoid: 0\nunchanged: 0\n", "changed: 0\nvoid: 0\nunchanged: 2\n"):
        done = run("ratings", "import", file)
        assert (done.exit_code, done.output) == (0, expected)
    listed = run("ratings", "list").output.splitlines()
    assert {line.split()[-1] for line in listed} == {"Harbour", "Northwind"}
    points = [float(line.split()[0]) for line in listed]
    assert points == sorted(points, reverse=True)


@pytest.mark.parametrize(
    "row", [{"kind": "score"}, {"kind": "result", "id": ""}, {"kind": "strength"} | RESULT]
)
def test_a_line_that_is_wrong_is_named(run: Run, tmp_path: Path, row: dict[str, Any]) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({"kind": "result"} | RESULT | {"at": 1}) + "\n" + json.dumps(row) + "\n")
    refused = run("ratings", "import", file)
    assert refused.exit_code != 0 and "results.jsonl" in refused.output and "2" in refused.output
    assert run("ratings", "list").output == ""
