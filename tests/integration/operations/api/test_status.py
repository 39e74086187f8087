"""What operators add to the status: maintenance, and words on incidents; audited, and read by anybody."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.domain.service_status import Incident, IncidentKind, IncidentUpdate, PartState
from app.kit.clock import system_clock
from app.store import audit, incidents
from app.store.connections import Store
from tests.support.command_line import Run
from tests.support.eventually import eventually
from tests.support.web import Headers

SOON = datetime.now(UTC) + timedelta(hours=1)


def announcement(**changed: Any) -> dict[str, Any]:
    given = {"begins_at": SOON, "ends_at": SOON + timedelta(hours=2), "parts": ["recoveries", "feed"]}
    body = given | {"text": "The broker is replaced."} | changed
    return {name: each.isoformat() if isinstance(each, datetime) else each for name, each in body.items()}


async def published(client: httpx.AsyncClient, what: str) -> Any:
    return (await client.get("/v1/status")).json()["data"][what]


async def test_maintenance_is_announced_read_by_anybody_and_cancelled(
    client: httpx.AsyncClient, operator: Headers, store: Store
) -> None:
    made = await client.post("/ops/v1/maintenance", json=announcement(), headers=operator)
    assert made.status_code == 201
    number = made.json()["data"]["id"]
    assert made.json()["data"]["parts"] == ["feed", "recoveries"]
    [shown] = await eventually(lambda: published(client, "maintenance"))
    assert shown == made.json()["data"]
    cancelled = await client.post(f"/ops/v1/maintenance/{number}/cancel", headers=operator)
    assert cancelled.json()["data"]["cancelled_at"] is not None
    again = await client.post(f"/ops/v1/maintenance/{number}/cancel", headers=operator)
    assert again.status_code == 409
    listed = await client.get("/ops/v1/maintenance", headers=operator)
    assert [each["id"] for each in listed.json()["data"]] == [number]
    async with store.autocommit() as tx:
        records = await audit.about(tx, str(number), limit=9)
    assert [each.action for each in records] == ["maintenance.cancel", "maintenance.announce"]


async def test_what_cannot_be_announced_is_refused(client: httpx.AsyncClient, operator: Headers) -> None:
    for changed in [
        {"ends_at": SOON},
        {"ends_at": SOON + timedelta(days=8)},
        {"begins_at": SOON - timedelta(days=2), "ends_at": SOON - timedelta(days=1)},
        {"parts": []},
        {"parts": ["everything"]},
        {"text": ""},
        {"text": "   "},
        {"text": "two\nlines"},
        {"text": "x" * 501},
        {"begins_at": "2031-04-02T03:00:00"},
    ]:
        answer = await client.post("/ops/v1/maintenance", json=announcement(**changed), headers=operator)
        assert answer.status_code == 422, changed
        [field] = changed if len(changed) == 1 else ["ends_at"]
        assert field in str(answer.json()["detail"]), changed


async def test_only_operators_announce(client: httpx.AsyncClient, basic: Headers) -> None:
    for path in ("maintenance", "incidents/1/notes"):
        assert (await client.post(f"/ops/v1/{path}", json={}, headers=basic)).status_code == 403


@pytest.fixture
async def ended(store: Store) -> int:
    """The number of an incident that is over."""
    now = system_clock()
    update = IncidentUpdate(now - 9_000, "No process applies logs.", PartState.DOWN)
    async with store.transaction() as tx:
        await incidents.add(tx, Incident(0, IncidentKind.INGEST, now - 10_000, now - 5_000, (update,)))
        [found] = await incidents.ended_since(tx, 0, limit=1)
    return found.id


async def test_words_on_an_incident_are_read_by_anybody_without_who_wrote_them(
    client: httpx.AsyncClient, operator: Headers, ended: int, store: Store
) -> None:
    words = {"text": "A disk was full."}
    noted = await client.post(f"/ops/v1/incidents/{ended}/notes", json=words, headers=operator)
    assert noted.status_code == 200 and noted.json()["data"]["updates"][-1]["text"] == words["text"]
    [shown] = await eventually(
        lambda: published(client, "incidents"), lambda found: found and len(found[0]["updates"]) == 2
    )
    assert shown["state"] == "down" and "by" not in shown["updates"][-1]
    listed = (await client.get("/ops/v1/incidents", headers=operator)).json()["data"]
    assert listed == [shown]
    async with store.autocommit() as tx:
        [record] = await audit.about(tx, str(ended), limit=9)
    assert (record.action, record.details) == ("incident.note", words)
    for number in (999, 2**31, 2**63):
        for path in (f"incidents/{number}/notes", f"maintenance/{number}/cancel"):
            missing = await client.post(f"/ops/v1/{path}", json=words, headers=operator)
            assert missing.status_code == 404, path


def test_the_command_line_does_the_same(run: Run, ended: int) -> None:
    planned = ("announce", "2031-04-02T03:00", "2031-04-02T05:00", "--part", "feed", "--text", "New broker.")
    made = run("maintenance", *planned)
    assert made.exit_code == 0, made.output
    line = "2031-04-02T03:00:00+00:00 to 2031-04-02T05:00:00+00:00 feed: New broker."
    number, _, rest = made.output.strip().partition(" ")
    assert rest == line
    assert run("maintenance", "list").output.strip() == f"{number} {line}"
    assert "(cancelled " in run("maintenance", "cancel", number).output
    assert "over or cancelled" in run("maintenance", "cancel", number).output
    assert run("incident", "list").output.strip() == "no open incident"
    assert run("incident", "note", ended, "A disk was full.").exit_code == 0
    assert "ingest: A disk was full." in run("incident", "list", "--all").output
