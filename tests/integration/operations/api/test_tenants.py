"""Operators' requests about tenants and keys."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.domain import scopes
from app.settings import Settings
from app.store.connections import Store
from tests.support.web import Headers, IssueKey

TENANTS = "/ops/v1/tenants"


class OperatorClient:
    """The API as an operator calls it."""

    def __init__(self, client: httpx.AsyncClient, headers: Headers) -> None:
        self.client, self.headers = client, headers

    async def request(self, method: str, path: str, expect: int, body: Any = None) -> Any:
        answer = await self.client.request(method, f"{TENANTS}{path}", headers=self.headers, json=body)
        assert answer.status_code == expect, answer.text
        return answer.json().get("data", answer.json().get("detail"))

    async def status_of(self, raw: str) -> int:
        return (await self.client.get("/v1/whoami", headers={"X-API-Key": raw})).status_code


@pytest.fixture
async def api(client: httpx.AsyncClient, operator: Headers) -> OperatorClient:
    api = OperatorClient(client, operator)
    await api.request("POST", "", 201, {"slug": "beta", "name": "Beta"})
    return api


async def test_creating_twice_is_creating_once(api: OperatorClient) -> None:
    first = await api.request("POST", "", 201, {"slug": "gamma", "name": "Gamma"})
    assert await api.request("POST", "", 201, {"slug": "gamma", "name": "Gamma"}) == first
    assert await api.request("GET", "/gamma", 200) == first
    assert "'Gamma'" in await api.request("POST", "", 409, {"slug": "gamma", "name": "Other"})
    assert [tenant["slug"] for tenant in await api.request("GET", "", 200)] == ["beta", "gamma", "house"]
    await api.request("GET", "/nobody", 404)


async def test_a_key_lives_and_dies(api: OperatorClient) -> None:
    issued = await api.request("POST", "/beta/keys", 201, {"bundles": ["cs2.stats"], "label": "site"})
    key, raw = issued["key"]["key_id"], issued["api_key"]
    assert await api.status_of(raw) == 200
    rotated = await api.request("POST", f"/beta/keys/{key}/rotate", 201)
    assert (await api.status_of(raw), await api.status_of(rotated["api_key"])) == (403, 200)
    heir = rotated["key"]["key_id"]
    assert heir in await api.request("POST", f"/beta/keys/{key}/rotate", 409)
    assert heir in await api.request("POST", f"/beta/keys/{key}/reactivate", 409)
    for _ in range(2):
        assert not (await api.request("POST", f"/beta/keys/{heir}/revoke", 200))["active"]
    assert await api.status_of(rotated["api_key"]) == 403
    assert (await api.request("POST", f"/beta/keys/{heir}/reactivate", 200))["active"]
    assert await api.status_of(rotated["api_key"]) == 200
    old, new = await api.request("GET", "/beta/keys", 200)
    assert (old["replaced_by"], new["label"]) == (heir, "site")
    assert new["scopes"] == sorted(scopes.BUNDLES["cs2.stats"])


async def test_a_repeated_request_for_a_key_does_not_show_its_secret_again(api: OperatorClient) -> None:
    new = {"scopes": ["cs2:matches:list"], "request_id": "portal-7"}
    first = await api.request("POST", "/beta/keys", 201, new)
    again = await api.request("POST", "/beta/keys", 201, new)
    assert "api_key" in first
    assert again == {"key": first["key"]}
    other = {"bundles": ["cs2.stats"], "request_id": "portal-7"}
    assert first["key"]["key_id"] in await api.request("POST", "/beta/keys", 409, other)
    assert len(await api.request("GET", "/beta/keys", 200)) == 1


async def test_a_key_may_be_altered(api: OperatorClient) -> None:
    issued = await api.request("POST", "/beta/keys", 201, {"bundles": ["cs2.stats"]})
    path = f"/beta/keys/{issued['key']['key_id']}"
    wanted = {"rate_limit_rpm": 42, "sports": ["soccer"], "label": "x"}
    altered = await api.request("PATCH", path, 200, wanted)
    assert (altered["rate_limit_rpm"], altered["sport_allowlist"], altered["label"]) == (42, ["soccer"], "x")
    whoami = await api.client.get("/v1/whoami", headers={"X-API-Key": issued["api_key"]})
    assert whoami.json()["data"]["rate_limit_rpm"] == 42
    await api.request("PATCH", path, 200, {"networks": ["192.0.2.0/24"]})
    assert await api.status_of(issued["api_key"]) == 403


UNFIT: tuple[tuple[dict[str, Any], list[Any]], ...] = (
    ({"bundles": ["cs2.none"]}, ["body", "bundles", 0]),
    ({"bundles": ["cs2.stats"], "sports": ["cs2", "chess"]}, ["body", "sports", 1]),
    ({"bundles": ["cs2.stats"], "rate_limit_rpm": 0}, ["body", "rate_limit_rpm"]),
    ({"bundles": ["cs2.stats"], "networks": ["nowhere"]}, ["body", "networks", 0]),
    ({}, ["body", "scopes"]),
    ({"bundles": ["cs2.scoretock", "cs2.stats"]}, ["body", "bundles"]),
)


async def test_what_does_not_fit_is_named(api: OperatorClient) -> None:
    for body, loc in UNFIT:
        assert [field["loc"] for field in await api.request("POST", "/beta/keys", 422, body)] == [loc]
    for other in ([], {"bundles": "x"}, {"color": "red"}, {"rate_limit_rpm": "much"}):
        assert await api.request("POST", "/beta/keys", 422, other)
    assert await api.request("GET", "/beta/keys", 200) == []


async def test_a_revoked_tenant_has_no_access_with_any_key(api: OperatorClient) -> None:
    raw = (await api.request("POST", "/beta/keys", 201, {"bundles": ["cs2.stats"]}))["api_key"]
    assert not (await api.request("POST", "/beta/revoke", 200))["active"]
    assert await api.status_of(raw) == 403
    assert "revoked" in await api.request("POST", "/beta/amqp", 409)
    assert (await api.request("POST", "/beta/reactivate", 200))["active"]
    assert await api.status_of(raw) == 200


async def test_a_key_is_found_under_its_own_tenant_only(api: OperatorClient, issue: IssueKey) -> None:
    await issue(bundles=("cs2.stats",))
    (key,) = await api.request("GET", "/acme/keys", 200)
    for command in ("rotate", "revoke", "reactivate"):
        await api.request("POST", f"/beta/keys/{key['key_id']}/{command}", 404)
        await api.request("POST", f"/beta/keys/{uuid4()}/{command}", 404)
    await api.request("PATCH", f"/beta/keys/{key['key_id']}", 404, {"label": "mine"})


async def test_everything_is_audited_and_no_secret_is(api: OperatorClient, store: Store) -> None:
    issued = await api.request("POST", "/beta/keys", 201, {"bundles": ["cs2.stats"]})
    key = issued["key"]["key_id"]
    new = await api.request("POST", f"/beta/keys/{key}/rotate", 201)
    await api.request("PATCH", f"/beta/keys/{new['key']['key_id']}", 200, {"rate_limit_rpm": 7})
    records = await api.request("GET", "/beta/audit", 200)
    done = [record["action"] for record in records]
    assert done == ["key.alter", "key.rotate", "key.issue", "tenant.create"]
    assert {record["actor"].split("/")[0] for record in records} == {"key:house"}
    assert len(await api.request("GET", "/beta/audit?limit=2", 200)) == 2
    async with store.autocommit() as tx:
        kept = str(await tx.fetch("SELECT * FROM audit, api_key"))
    for raw in (issued["api_key"], new["api_key"]):
        assert raw[12:] not in kept


async def test_amqp_access_is_returned_once_it_works(
    api: OperatorClient, settings: Settings, slug: str
) -> None:
    await api.request("POST", "", 201, {"slug": slug, "name": "T"})
    given = await api.request("POST", f"/{slug}/amqp", 201)
    assert given["exchange"] == settings.exchange
    assert given["amqp_url"].startswith(f"amqp://op-{slug}:")
    assert given["amqp_url"].endswith(f"@{settings.rabbitmq_public_host}/{slug}")
    assert (await api.request("GET", f"/{slug}", 200))["amqp"]
    password = given["amqp_url"].split(":")[2].split("@")[0]
    assert password not in str(await api.request("GET", f"/{slug}/audit", 200))


async def test_probabilities_are_switched_on_and_off(api: OperatorClient) -> None:
    assert (await api.request("GET", "/beta", 200))["probabilities"] is False
    for wanted in (True, True, False):
        changed = await api.request("PUT", "/beta/probabilities", 200, {"probabilities": wanted})
        assert changed["probabilities"] is wanted
        assert await api.request("GET", "/beta", 200) == changed
    records = await api.request("GET", "/beta/audit", 200)
    changes = [one["details"] for one in records if one["action"] == "tenant.probabilities"]
    assert changes == [{"probabilities": False}, {"probabilities": True}]
    await api.request("PUT", "/nobody/probabilities", 404, {"probabilities": True})


async def test_bet_stop_is_switched_on_and_off(api: OperatorClient) -> None:
    assert (await api.request("GET", "/beta", 200))["bet_stop"] is False
    for wanted in (True, True, False):
        changed = await api.request("PUT", "/beta/bet-stop", 200, {"bet_stop": wanted})
        assert changed["bet_stop"] is wanted
        assert await api.request("GET", "/beta", 200) == changed
    records = await api.request("GET", "/beta/audit", 200)
    changes = [one["details"] for one in records if one["action"] == "tenant.bet_stop"]
    assert changes == [{"bet_stop": False}, {"bet_stop": True}]
    await api.request("PUT", "/nobody/bet-stop", 404, {"bet_stop": True})


async def test_market_types_are_switched_once(api: OperatorClient) -> None:
    types = {each["id"]: each for each in await api.request("GET", "/beta/market-types", 200)}
    assert {(each["on"], each["since"]) for each in types.values()} == {(True, None)}
    for on in (True, False, False, True):
        switched = await api.request("PUT", "/beta/market-types/13", 200, {"on": on})
        assert (switched["id"], switched["on"]) == (13, on)
        now = {each["id"]: each for each in await api.request("GET", "/beta/market-types", 200)}
        assert now == types | {13: switched}
    assert now[13]["since"] is not None
    audited = [(each["action"], each["details"]) for each in await api.request("GET", "/beta/audit", 200)]
    assert audited[:2] == [
        ("tenant.market_types_on", {"market_types": [13]}),
        ("tenant.market_types_off", {"market_types": [13]}),
    ]
    assert [action for action, _ in audited].count("tenant.market_types_off") == 1
    (fault,) = await api.request("PUT", "/beta/market-types/9999", 422, {"on": False})
    assert fault["type"] == "market_type" and "9999" in fault["msg"]
    await api.request("PUT", "/nobody/market-types/13", 404, {"on": False})


async def test_the_number_of_queues_is_part_of_a_tenants_contract(api: OperatorClient) -> None:
    assert (await api.request("GET", "/beta", 200))["max_queues"] == 10
    for _ in range(2):
        changed = await api.request("PUT", "/beta/queues", 200, {"max_queues": 24})
        assert changed == await api.request("GET", "/beta", 200) | {"max_queues": 24}
    records = await api.request("GET", "/beta/audit", 200)
    changes = [one["details"] for one in records if one["action"] == "tenant.max_queues"]
    assert changes == [{"max_queues": 24}]
    await api.request("PUT", "/beta/queues", 422, {"max_queues": 0})
