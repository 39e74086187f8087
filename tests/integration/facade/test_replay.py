"""Replays as SDKs request them, and as JSON: the list, the player, and what is refused."""

from typing import Any

import httpx
import pytest
from lxml import etree

from app.domain import scopes
from app.domain.match import Match
from app.domain.replay import MAX_LISTED, MAX_OPEN, ReplayState
from app.store import changes, tenants
from app.store.connections import Store
from tests.support.facade import SCHEMA, document
from tests.support.replays import prune_all, service
from tests.support.story import Story, offer
from tests.support.tenants import book
from tests.support.web import Headers, IssueKey

LIST, STATUS, PLAY = "/v1/replay", "/v1/replay/status", "/v1/replay/play"


@pytest.fixture
async def matches(story: Story) -> list[Match]:
    """Two matches that are over."""
    found = [await story.match(offer(1)) for _ in range(2)]
    for match in found:
        await story.finish(match)
    return found


class Sdk:
    """What the SDKs' replay managers send and read."""

    def __init__(self, client: httpx.AsyncClient, headers: Headers, node: str = "7") -> None:
        self._client, self._headers, self._node = client, headers, {"node_id": node} if node else {}

    async def send(self, method: str, path: str, **params: Any) -> httpx.Response:
        return await self._client.request(method, path, headers=self._headers, params=self._node | params)

    async def done(self, method: str, path: str, **params: Any) -> None:
        answer = await self.send(method, path, **params)
        assert answer.status_code == 200, answer.text
        root = etree.fromstring(answer.content)
        SCHEMA.assertValid(root)
        assert (root.tag, root.get("response_code")) == ("response", "OK")
        assert [node.tag for node in root] == ["action", "message"]

    async def listed(self) -> list[tuple[str, str]]:
        root = document(await self.send("GET", LIST), "replay_set_content")
        return [(node.get("id"), node.get("position")) for node in root]

    async def status(self) -> str:
        found: str = document(await self.send("GET", STATUS), "player_status").get("status")
        return found


def event(match: Match) -> str:
    return f"/v1/replay/events/od:match:{match.number}"


async def test_the_replay_manager_of_an_sdk(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match], store: Store
) -> None:
    sdk, other = Sdk(client, provisioned), Sdk(client, provisioned, node="")
    assert (await sdk.listed(), await sdk.status()) == ([], "stopped")
    for match in (matches[1], matches[0], matches[1]):
        await sdk.done("PUT", event(match))
    urns = [f"od:match:{match.number}" for match in matches]
    assert await sdk.listed() == [(urns[1], "0"), (urns[0], "1")]
    assert await other.listed() == [], "each node has its own list"
    await sdk.done("POST", PLAY, speed=30, max_delay=500, run_parallel="true", use_replay_timestamp="True")
    assert (await sdk.status(), await other.status()) == ("setting_up", "stopped")
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, "acme")
    job = (await service(store).present(tenant, "7", finished_only=False)).job
    assert job and (job.options.speed, job.options.max_delay) == (30, 500)
    assert job.options.parallel and job.options.rewrite_timestamps
    assert job.match_ids == (matches[1].id, matches[0].id)
    refused = await sdk.send("POST", PLAY)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "A replay runs already: stop it first.",
    )
    await sdk.done("POST", "/v1/replay/stop")
    assert await sdk.status() == "stopped"
    await sdk.done("DELETE", event(matches[1]))
    assert await sdk.listed() == [(urns[0], "0")]
    assert (await sdk.send("DELETE", event(matches[1]))).status_code == 404
    await sdk.done("POST", PLAY, product="2")
    await sdk.done("POST", "/v1/replay/clear")
    assert (await sdk.listed(), await sdk.status()) == ([], "stopped")


async def test_only_matches_that_are_over_booked_and_whole(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match], story: Story, store: Store
) -> None:
    sdk = Sdk(client, provisioned)
    live, unbooked = await story.match(offer(1)), matches[0]
    await book(store, unbooked, False)
    torn = await story.match(offer(1))
    await story.match(offer(1))
    while True:
        async with store.transaction() as tx:
            if not await changes.prune(tx, 2**62, keep=False):
                break
    await story.finish(torn)
    for ref, status, code in (
        (f"od:match:{live.number}", 409, "is not over"),
        (f"od:match:{unbooked.number}", 404, "has not booked"),
        (f"od:match:{torn.number}", 404, "is not kept whole"),
        (str(torn.id), 404, "is not kept whole"),
        ("od:match:4711", 404, "no match"),
    ):
        answer = await sdk.send("PUT", f"/v1/replay/events/{ref}")
        assert (answer.status_code, code in answer.json()["detail"]) == (status, True), answer.text
    listed = await client.get("/cs2/v1/replay/matches", headers=provisioned)
    assert listed.json()["data"] == []


async def test_what_does_not_fit_is_named(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match]
) -> None:
    sdk = Sdk(client, provisioned)
    await sdk.done("PUT", event(matches[0]))
    for params, where in [
        ({"speed": "0"}, "speed"),
        ({"speed": "fast"}, "speed"),
        ({"speed": "2000"}, "speed"),
        ({"max_delay": "-1"}, "max_delay"),
        ({"max_delay": "86400001"}, "max_delay"),
        ({"run_parallel": "perhaps"}, "run_parallel"),
        ({"use_replay_timestamp": "2"}, "use_replay_timestamp"),
        ({"node_id": "a"}, "node_id"),
        ({"node_id": ""}, "node_id"),
        ({"product": "prematch"}, "product"),
    ]:
        answer = await sdk.send("POST", PLAY, **params)
        assert answer.status_code == 422, params
        assert [field["loc"][1] for field in answer.json()["detail"]] == [where], params
        assert await sdk.status() == "stopped", params


async def test_limits_and_an_empty_list(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match], story: Story, store: Store
) -> None:
    assert (await Sdk(client, provisioned).send("POST", PLAY)).status_code == 409
    for node in range(1, MAX_OPEN + 2):
        sdk = Sdk(client, provisioned, node=str(node))
        await sdk.done("PUT", event(matches[0]))
        assert (await sdk.send("POST", PLAY)).status_code == (200 if node <= MAX_OPEN else 409)
    many = [await story.match() for _ in range(MAX_LISTED)]
    for number, match in enumerate(many, 1):
        await story.finish(match)
        answer = await Sdk(client, provisioned, node="1").send("PUT", event(match))
        assert answer.status_code == (200 if number < MAX_LISTED else 409)
    parallel = await Sdk(client, provisioned, node="1").send("POST", "/v1/replay/stop")
    assert parallel.status_code == 200
    refused = await Sdk(client, provisioned, node="1").send("POST", PLAY, run_parallel="true")
    assert (refused.status_code, "in parallel" in refused.json()["detail"]) == (409, True)


async def test_a_key_for_finished_matches_plays_what_its_list_shows(
    client: httpx.AsyncClient, provisioned: Headers, issue: IssueKey, story: Story
) -> None:
    off = await story.match(offer(1))
    await story.cancel(off)
    await Sdk(client, provisioned).done("PUT", event(off))
    key = await issue("acme", scopes=(scopes.RECOVERY,), finished_only=True)
    sdk = Sdk(client, {"X-API-Key": key})
    assert await sdk.listed() == []
    for path in (PLAY, "/cs2/v1/replay/play"):
        json = {"node_id": "7"} if path != PLAY else None
        answer = await client.post(
            path, params={"node_id": "7"} if json is None else None, json=json, headers={"X-API-Key": key}
        )
        assert (answer.status_code, "is empty" in answer.json()["detail"]) == (409, True), answer.text


async def test_a_tenant_without_a_vhost_is_refused(
    client: httpx.AsyncClient, issue: IssueKey, matches: list[Match]
) -> None:
    headers = {"X-API-Key": await issue("bare", scopes=(scopes.RECOVERY,))}
    sdk = Sdk(client, headers)
    await sdk.done("PUT", event(matches[0]))
    answer = await sdk.send("POST", PLAY)
    assert (answer.status_code, "no vhost" in answer.json()["detail"]) == (409, True)


async def test_another_tenants_list_is_its_own(
    client: httpx.AsyncClient, provisioned: Headers, issue: IssueKey, matches: list[Match]
) -> None:
    other = {"X-API-Key": await issue("other", scopes=(scopes.RECOVERY,))}
    await Sdk(client, provisioned).done("PUT", event(matches[0]))
    assert await Sdk(client, other).listed() == []
    await Sdk(client, other).done("POST", "/v1/replay/clear")
    assert len(await Sdk(client, provisioned).listed()) == 1


async def test_the_same_as_json(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match], story: Story, store: Store
) -> None:
    await story.match(offer(1))
    await prune_all(store)
    first = (await client.get("/cs2/v1/replay/matches?limit=1", headers=provisioned)).json()
    cursor = first["meta"]["next_cursor"]
    second = (
        await client.get("/cs2/v1/replay/matches", params={"cursor": cursor}, headers=provisioned)
    ).json()
    found = [*first["data"], *second["data"]]
    assert {one["match"] for one in found} == {f"od:match:{match.number}" for match in matches}
    assert len(found) == 2 and "next_cursor" not in second["meta"]
    for one in found:
        added = await client.put(f"/cs2/v1/replay/events/{one['id']}?node_id=7", headers=provisioned)
    assert [one["id"] for one in added.json()["data"]["matches"]] == [one["id"] for one in found]
    accident = {"kind": "outage", "after": 2, "messages": 3}
    body = {"node_id": "7", "speed": 2.5, "max_delay": 0, "accidents": [accident]}
    started = await client.post("/cs2/v1/replay/play", json=body, headers=provisioned)
    assert started.status_code == 202
    replay = started.json()["data"]
    assert (replay["state"], replay["speed"], replay["accidents"]) == ("scheduled", 2.5, [accident])
    present = (await client.get("/cs2/v1/replay?node_id=7", headers=provisioned)).json()["data"]
    assert present["replay"] == replay
    stopped = await client.post("/cs2/v1/replay/stop?node_id=7", headers=provisioned)
    assert stopped.json()["data"]["replay"]["state"] == ReplayState.STOPPED
    cleared = await client.post("/cs2/v1/replay/clear?node_id=7", headers=provisioned)
    assert cleared.json()["data"]["matches"] == []
    for wrong in ({"speed": 0}, {"max_delay": -1}, {"accidents": [{"kind": "flood"}]}, {"colour": 1}):
        answer = await client.post("/cs2/v1/replay/play", json=wrong, headers=provisioned)
        assert answer.status_code == 422, wrong


async def test_a_match_that_is_forgotten_while_it_is_added_is_not_listed(
    client: httpx.AsyncClient, provisioned: Headers, matches: list[Match], store: Store
) -> None:
    sdk = Sdk(client, provisioned)
    await sdk.done("PUT", event(matches[0]))
    async with store.autocommit() as tx:
        await tx.execute("DELETE FROM match WHERE id = $1", matches[0].id)
    assert await sdk.listed() == []
    answer = await client.get("/cs2/v1/replay?node_id=7", headers=provisioned)
    assert (answer.status_code, answer.json()["data"]["matches"]) == (200, [])
