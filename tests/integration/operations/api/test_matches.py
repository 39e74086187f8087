"""Operators' commands over HTTP: refusals name the field or the state, and the audit is readable."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.integration.ingest.conftest import NOW
from tests.integration.ingest.test_routes import NEW, create
from tests.support.web import Headers, IssueKey, serving


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, lambda: NOW) as client:
        yield client


@pytest.fixture
async def match(client: httpx.AsyncClient, operator: Headers) -> str:
    return f"/ops/v1/matches/{(await create(client, operator))['id']}"


async def test_commands_change_the_match_and_are_on_record(
    client: httpx.AsyncClient, operator: Headers, match: str
) -> None:
    vetoes = [
        {"action": "ban", "map": "de_nuke", "team": "team_a"},
        {"action": "pick", "map": "de_mirage", "team": "team_b"},
    ]
    for command in (
        {"command": "rename_team", "team": "team_b", "name": "Harbour Town", "request_id": "1"},
        {"command": "set_maps", "vetoes": vetoes},
        {"command": "describe", "streams": [{"url": "https://example.test/live", "language": "en"}]},
        {"command": "award_match", "winner": "team_b"},
    ):
        answer = await client.post(f"{match}/commands", headers=operator, json=command)
        assert answer.status_code == 200, answer.text
    assert (answer.json()["data"]["status"], answer.json()["data"]["team_b"]) == ("finished", "Harbour Town")
    late = await client.post(f"{match}/commands", headers=operator, json={"command": "suspend"})
    assert (late.status_code, "is finished" in late.json()["detail"]) == (409, True)
    records = (await client.get(f"{match}/audit?limit=2", headers=operator)).json()["data"]
    assert [record["action"] for record in records] == ["match.award_match", "match.describe"]
    assert records[0]["details"]["winner"] == "team_b"


async def test_the_record_names_the_key_and_an_id_is_its_holders(
    client: httpx.AsyncClient, operator: Headers, issue: IssueKey, match: str
) -> None:
    other = {"X-API-Key": await issue("house", bundles=("cs2.operator",), label="other")}
    keys = (await client.get("/ops/v1/tenants/house/keys", headers=operator)).json()["data"]
    actors = {key["label"]: f"key:house/{key['key_id']}" for key in keys}
    first, second = actors[""], actors["other"]
    command = {"command": "rename_team", "team": "team_b", "name": "Harbour Town", "request_id": "1"}
    back = {"command": "rename_team", "team": "team_b", "name": "Harbour", "request_id": "2"}
    for caller, body in ((operator, command), (other, back), (other, command)):
        answer = await client.post(f"{match}/commands", headers=caller, json=body)
        assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["team_b"] == "Harbour"
    records = (await client.get(f"{match}/audit", headers=operator)).json()["data"]
    assert [record["actor"] for record in records] == [second, first, first]
    path = f"/ops/v1/tenants/house/bookings/{match.rsplit('/', 1)[1]}"
    assert (await client.put(path, headers=other, json={"booked": False})).status_code == 200
    latest = (await client.get("/ops/v1/tenants/house/audit?limit=1", headers=operator)).json()["data"]
    assert [record["actor"] for record in latest] == [second]


async def test_a_suspension_may_be_lifted_with_a_reason_that_is_on_record(
    client: httpx.AsyncClient, operator: Headers, match: str
) -> None:
    for command in ("suspend", "unsuspend"):
        body = {"command": command, "reason": f"why we {command}"}
        answer = await client.post(f"{match}/commands", headers=operator, json=body)
        assert answer.status_code == 200, answer.text
    records = (await client.get(f"{match}/audit?limit=2", headers=operator)).json()["data"]
    assert [(record["action"], record["details"]["reason"]) for record in records] == [
        ("match.unsuspend", "why we unsuspend"),
        ("match.suspend", "why we suspend"),
    ]


def anchored(*anchors: dict[str, Any]) -> dict[str, Any]:
    """The command that names a recording with these anchors."""
    return {"command": "describe", "streams": [{"url": "https://vod.example/1", "vod_anchors": anchors}]}


async def test_what_does_not_fit_is_refused_with_its_field(
    client: httpx.AsyncClient, operator: Headers, match: str
) -> None:
    for command, loc in [
        ({"command": "schedule", "scheduled_at": -1}, ["body", "scheduled_at"]),
        ({"command": "schedule"}, ["body", "scheduled_at"]),
        ({"command": "set_format", "bo_type": "bo2"}, ["body", "bo_type"]),
        ({"command": "set_format", "max_rounds": 25}, ["body", "max_rounds"]),
        ({"command": "suspend", "why": "?"}, ["body", "why"]),
        ({"command": "set_teams", "team_a": "One", "team_b": "One"}, ["body", "team_b"]),
        ({"command": "explode"}, ["body", "command"]),
        ({}, ["body", "command"]),
        ({"command": "describe", "streams": [{"url": "ftp://x"}]}, ["body", "streams", "0", "url"]),
        (
            anchored({"at": 1, "offset_seconds": -1}),
            ["body", "streams", "0", "vod_anchors", "0", "offset_seconds"],
        ),
        (anchored({"at": 1}), ["body", "streams", "0", "vod_anchors", "0", "offset_seconds"]),
        (anchored({"at": 5, "offset_seconds": 1}, {"at": 5, "offset_seconds": 2}), ["body", "streams"]),
        (anchored({"at": 5, "offset_seconds": 1}, {"at": 6, "offset_seconds": 1}), ["body", "streams"]),
        (
            {"command": "void_market", "market_id": 13, "reason": "r", "void_reason_id": 3},
            ["body", "void_reason_id"],
        ),
    ]:
        answer = await client.post(f"{match}/commands", headers=operator, json=command)
        assert answer.status_code == 422, command
        assert [str(part) for part in answer.json()["detail"][0]["loc"]] == loc, command


async def test_only_known_teams_and_tournaments_are_named(
    client: httpx.AsyncClient, operator: Headers, match: str
) -> None:
    for field in ("id_a", "id_b", "tournament_id"):
        refused = await client.post("/ops/v1/matches", headers=operator, json=NEW | {field: 99})
        assert refused.status_code == 422
        assert refused.json()["detail"][0]["loc"] == ["body", field]
    command = {"command": "describe", "tournament_id": 99}
    refused = await client.post(f"{match}/commands", headers=operator, json=command)
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "tournament_id"]
