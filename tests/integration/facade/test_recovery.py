"""The three requests for a recovery: what is acknowledged, and what is refused."""

from typing import Any

import httpx
import pytest

from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.domain.recovery import MAX_QUEUED, RecoveryKind
from app.kit.clock import system_clock
from app.store import recovery_jobs, tenants
from app.store.connections import Store
from tests.support.facade import detail, document
from tests.support.story import Story
from tests.support.tenants import book
from tests.support.web import Headers, IssueKey

ALL = "/v1/live/recovery/initiate_request"
ODDS = "/v1/live/odds/events/{event}/initiate_request"
STATEFUL = "/v1/live/stateful_messages/events/{event}/initiate_request"
EVENTS = {ODDS: RecoveryKind.EVENT_ODDS, STATEFUL: RecoveryKind.EVENT_STATEFUL}


@pytest.fixture
async def match(store: Store) -> Match:
    return await Story(store).match(status=Status.LIVE)


class RecoveryClient:
    """A client with one key; a node for each request, so that none waits for another."""

    def __init__(self, client: httpx.AsyncClient, headers: Headers, store: Store) -> None:
        self._client, self._headers, self._store = client, headers, store
        self._nodes = iter(range(1, 1000))

    async def __call__(self, path: str, **params: Any) -> httpx.Response:
        query = {"node_id": next(self._nodes)} | params
        return await self._client.post(path, headers=self._headers, params=query)

    async def job(self, request_id: str) -> Any:
        async with self._store.transaction() as tx:
            tenant = await tenants.by_slug(tx, "acme")
            return await recovery_jobs.find(tx, tenant.id, request_id)


@pytest.fixture
def recover(client: httpx.AsyncClient, provisioned: Headers, store: Store) -> RecoveryClient:
    return RecoveryClient(client, provisioned, store)


def acknowledged(answer: httpx.Response) -> dict[str, str]:
    found = document(answer, "response", 202)
    assert [node.tag for node in found] == ["action", "message"]
    assert found.get("response_code") == "ACCEPTED"
    assert all(node.text for node in found)
    return dict(found.attrib)


async def test_everything_is_acknowledged(recover: RecoveryClient) -> None:
    before, after = system_clock(), system_clock() - 60_000
    attributes = acknowledged(await recover(ALL, request_id="12345678901234567890", after=after, node_id=3))
    assert before <= int(attributes.pop("scheduled_at")) <= system_clock()
    assert attributes == {
        "response_code": "ACCEPTED",
        "request_id": "12345678901234567890",
        "node_id": "3",
        "after": str(after),
    }
    job = await recover.job("12345678901234567890")
    request = job.request
    assert (request.kind, request.after, request.node_id) == (RecoveryKind.FACADE_FULL, after, "3")


@pytest.mark.parametrize("product", ["live", "2"])
async def test_the_product_is_an_id_a_scope_or_a_name(
    recover: RecoveryClient, match: Match, product: str
) -> None:
    for path in (ALL, *EVENTS):
        address = path.replace("/live/", f"/{product}/").format(event=match.id)
        acknowledged(await recover(address, request_id="7", product="another"))


async def test_any_other_product_is_422(recover: RecoveryClient, match: Match) -> None:
    scopes = ["sports", "descriptions", "schemas", "users"]
    for product in ["pre", "prematch", "1", "3", "LIVE", "02", "x", "live%20", *scopes]:
        for path in (ALL, *EVENTS):
            address = path.replace("/live/", f"/{product}/").format(event=match.id)
            (field,) = detail(await recover(address, request_id="7", product="2"), 422)
            assert field["loc"] == ["path", "product"], product


@pytest.mark.parametrize("path", EVENTS)
async def test_a_request_for_one_match_without_an_id_is_assigned_one(
    recover: RecoveryClient, match: Match, path: str
) -> None:
    for reference in (match_urn(match.number), str(match.id), f"od%3Amatch%3A{match.number}"):
        attributes = acknowledged(await recover(path.format(event=reference)))
        assert int(attributes["request_id"]) > 0
        assert "after" not in attributes
        job = await recover.job(attributes["request_id"])
        assert (job.request.kind, job.request.match_id) == (EVENTS[path], match.id)
    assert acknowledged(await recover(path.format(event=match.id), request_id="77"))["request_id"] == "77"


@pytest.mark.parametrize("path", EVENTS)
async def test_an_event_that_cannot_be_read_is_named(recover: RecoveryClient, path: str) -> None:
    (field,) = detail(await recover(path.format(event="x")), 422)
    assert (field["loc"], field["input"]) == (["path", "event_id"], "x")


async def test_everything_needs_an_id(recover: RecoveryClient) -> None:
    (field,) = detail(await recover(ALL), 422)
    assert field["loc"] == ["query", "request_id"]


async def test_ids_that_do_not_fit_are_named(recover: RecoveryClient, match: Match) -> None:
    for query, wrong in [
        ({"request_id": "0"}, "request_id"),
        ({"request_id": "x"}, "request_id"),
        ({"request_id": "1" * 65}, "request_id"),
        ({"request_id": ""}, "request_id"),
        ({"request_id": "7", "node_id": "01"}, "node_id"),
    ]:
        for path in (ALL, *EVENTS):
            (field,) = detail(await recover(path.format(event=match.id), **query), 422)
            assert field["loc"] == ["query", wrong], query


@pytest.mark.parametrize("after", ["soon", "-1", "1", "99999999999999"])
async def test_the_window_holds_for_everything_and_one_match_has_none(
    recover: RecoveryClient, match: Match, after: str
) -> None:
    (field,) = detail(await recover(ALL, request_id="7", after=after), 422)
    assert field["loc"] == ["query", "after"]
    acknowledged(await recover(ODDS.format(event=match.id), after=after))


async def test_one_at_a_time_for_each_node(recover: RecoveryClient) -> None:
    acknowledged(await recover(ALL, request_id="7", node_id=5))
    answer = await recover(ALL, request_id="8", node_id=5)
    assert "request_id 7," in detail(answer, 409)
    assert int(answer.headers["retry-after"]) > 0


async def test_matches_are_queued_and_delay_nothing_else(recover: RecoveryClient, match: Match) -> None:
    """Neither does a recovery of one match wait for one of everything, nor everything for one match."""
    for path in EVENTS:
        acknowledged(await recover(path.format(event=match.id), request_id="7", node_id=5))
        acknowledged(await recover(path.format(event=match.id), request_id="8", node_id=5))
    acknowledged(await recover(ALL, request_id="9", node_id=5))
    acknowledged(await recover(ODDS.format(event=match.id), request_id="10", node_id=5))


async def test_a_full_queue_returns_when_to_retry(recover: RecoveryClient, match: Match) -> None:
    for _ in range(MAX_QUEUED):
        acknowledged(await recover(ODDS.format(event=match.id)))
    answer = await recover(ODDS.format(event=match.id))
    assert f"{MAX_QUEUED} event-level recoveries" in detail(answer, 409)
    assert int(answer.headers["retry-after"]) > 0
    acknowledged(await recover(ALL, request_id="9"))


async def test_a_match_that_the_tenant_does_not_have_is_404(
    recover: RecoveryClient, match: Match, store: Store
) -> None:
    await book(store, match, False)
    for path in EVENTS:
        for reference in (match.id, match_urn(404404)):
            assert str(reference) in detail(await recover(path.format(event=reference)), 404)
        assert (await recover(path.format(event="x"))).status_code == 422


async def test_a_finished_only_key_learns_of_no_other_match(
    client: httpx.AsyncClient, provisioned: Headers, match: Match, issue: IssueKey, store: Store
) -> None:
    limited = {"X-API-Key": await issue(scopes=(scopes.RECOVERY,), finished_only=True)}
    for node, path in enumerate(EVENTS, start=1):
        address = path.format(event=match_urn(match.number))
        known = await client.post(address, headers=limited, params={"node_id": node})
        unknown = await client.post(path.format(event="od:match:404404"), headers=limited)
        assert match_urn(match.number) in detail(known, 404)
        assert detail(unknown, 404).replace("404404", str(match.number)) == detail(known, 404)
    await Story(store).finish(match)
    acknowledged(await client.post(address, headers=limited))


async def test_without_a_vhost_it_is_409(client: httpx.AsyncClient, basic: Headers, match: Match) -> None:
    for path in (ALL, *EVENTS):
        answer = await client.post(path.format(event=match.id), headers=basic, params={"request_id": "7"})
        assert "vhost" in detail(answer, 409)


async def test_an_unexpected_body_is_not_read(client: httpx.AsyncClient, provisioned: Headers) -> None:
    """One client sends XML that is not even in the encoding that it claims."""
    body = b'<?xml version="1.0" encoding="utf-16"?><request/>'
    headers = provisioned | {"content-type": "application/xml"}
    acknowledged(await client.post(ALL, headers=headers, params={"request_id": "7"}, content=body))
