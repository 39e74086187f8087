"""Reference data over the operators' API and on the command line: the same documents, the same reports."""

import json
from pathlib import Path
from typing import Any

import httpx
from lxml import etree

from tests.support.command_line import Run
from tests.support.web import Headers

PATH = "/ops/v1/reference"
FIXTURE: dict[str, Any] = {
    "kind": "fixture",
    "id": "f-1",
    "team_a": "Copper Owls",
    "team_b": "Dune Larks",
    "event": "Norland Masters",
    "scheduled_at": "2099-04-02T18:00:00+02:00",
}
TEAM = {"kind": "team", "name": "Copper Owls", "strength": 1610}
BODY = {"source": "acme", "rows": [TEAM, FIXTURE, FIXTURE | {"id": "f-2", "team_b": ""}]}


async def sent(client: httpx.AsyncClient, operator: Headers, body: Any, query: str = "") -> dict[str, Any]:
    answer = await client.post(f"{PATH}{query}", headers=operator, json=body)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


async def test_a_report_says_what_changed_and_what_was_refused(
    client: httpx.AsyncClient, operator: Headers
) -> None:
    dry = await sent(client, operator, BODY, "?dry_run=true")
    report = await sent(client, operator, BODY)
    assert (dry["dry_run"], report["dry_run"]) == (True, False)
    assert dry["counts"] == report["counts"] == {"team": 1, "team_changed": 1}
    [change] = report["fixtures"]
    assert (change["reference"], change["action"], change["fields"]) == ("acme/f-1", "created", [])
    assert dry["fixtures"] == [change | {"match_id": None, "urn": None}]
    [refused] = report["refused"]
    assert (refused["row"], refused["field"]) == (3, "team_b")
    match = await client.get(f"/ops/v1/matches/{change['urn']}", headers=operator)
    assert match.json()["data"]["match"]["scheduled_at"] == "2099-04-02T16:00:00+00:00"
    assert match.json()["data"]["id"] == change["match_id"]
    assert (await sent(client, operator, BODY))["unchanged"] == 1
    listed = (await client.get(f"{PATH}/reports", headers=operator)).json()["data"]
    assert [(one["created"], one["changed"], one["refused"]) for one in listed] == [(0, 0, 1), (1, 0, 1)]
    assert listed[1]["id"] == report["id"]
    path = f"{PATH}/reports/{report['id']}"
    assert (await client.get(path, headers=operator)).json()["data"] == report
    xml = etree.fromstring((await client.get(path, headers=operator | {"Accept": "text/xml"})).content)
    assert xml.find("data/refused/*").get("row") == "3"
    unknown = await client.get(f"{PATH}/reports/{change['match_id']}", headers=operator)
    assert unknown.status_code == 404


async def test_a_season_is_a_document_too(client: httpx.AsyncClient, operator: Headers) -> None:
    game = {"round": "Matchday 1", "date": "2030-08-17", "team1": "Alder", "team2": "Brook"}
    season = {"name": "Norland Cup 2030/31", "matches": [game]}
    report = await sent(client, operator, {"season": season, "file": "es.1.json"})
    assert report["counts"]["soccer_match_changed"] == 1 and report["refused"] == []
    twice = await sent(client, operator, {"season": season | {"matches": [game, game]}})
    assert twice["counts"] == {} and "occurs twice" in twice["refused"][0]["reason"]


async def test_a_document_of_another_form_is_refused_as_a_whole(
    client: httpx.AsyncClient, operator: Headers
) -> None:
    for body in ([FIXTURE], {"rows": [1]}, {"source": "a/b", "rows": []}, {"fixtures": []}):
        answer = await client.post(PATH, headers=operator, json=body)
        assert answer.status_code == 422, body
    assert (await client.get(f"{PATH}/reports", headers=operator)).json()["data"] == []


def test_the_command_imports_a_file_and_prints_the_report(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    file.write_text(json.dumps(BODY))
    dry = run("reference", "import", file, "--dry-run")
    assert dry.exit_code == 1 and json.loads(dry.stdout)["fixtures"][0]["action"] == "created"
    assert run("reference", "reports").stdout == ""
    done = run("reference", "import", file)
    report = json.loads(done.stdout)
    assert done.exit_code == 1 and [one["row"] for one in report["refused"]] == [3]
    listed = run("reference", "reports")
    assert report["id"] in listed.stdout and "acme.json" in listed.stdout
    assert json.loads(run("reference", "reports", report["id"]).stdout) == report
    good = tmp_path / "teams.csv"
    good.write_text("kind,name,strength\nteam,Copper Owls,1700\n")
    assert run("reference", "import", good).exit_code == 0
    turning = tmp_path / "a\u202eb.csv"
    turning.write_bytes(good.read_bytes())
    assert run("reference", "import", turning).exit_code == 0
    assert "\u202e" not in run("reference", "reports").stdout
    bad = tmp_path / "teams.xlsx.csv"
    bad.write_bytes(b"\xff\xfe")
    unread = run("reference", "import", bad)
    assert unread.exit_code == 1 and "CSV in UTF-8" in unread.output
