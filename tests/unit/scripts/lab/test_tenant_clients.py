"""No response to a tenant's clients goes unnoticed, and no copy that differs."""

from collections.abc import Callable
from random import Random
from typing import Any, cast

import httpx
import pytest
from matchfeed_client import Comparison, Rest

from scripts.lab import tenant_clients
from scripts.lab.local_faults import FaultRecord
from scripts.lab.operators import Account
from scripts.lab.person import UnexpectedResponse, Visits
from scripts.lab.tenant_clients import Copy, Requests

ACCOUNT = Account("acme", "", "key", "")
OFFERS = [{"market_offer_id": f"8:map=1|threshold={n}.5", "status": "active"} for n in range(9)]
SETTLED = [{"market_offer_id": "13:map=1|round=3|team=home", "outcome": "won"}]


class Service:
    """Answers as ours does, `told` by path first: a number is a status, 0 no response at all."""

    def __init__(self, told: dict[str, list[Any]]) -> None:
        self.told, self.record, self.visits, self.posted = told, FaultRecord(), Visits(), list[str]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method == "POST":
            self.posted.append(path)
        if told := self.told.get(path):
            answer = told.pop(0)
            if answer == 0:
                raise httpx.ConnectError("refused", request=request)
            if isinstance(answer, int):
                return httpx.Response(answer, json={"detail": "no"})
            return httpx.Response(200, json={"data": answer})
        data: Any = {"id": "c1", "odds": 3.5}
        if path.endswith("/matches"):
            data = [{"urn": "od:match:1"}]
        elif path.endswith("/markets"):
            data = OFFERS
        elif path.endswith("/settlements"):
            data = SETTLED
        return httpx.Response(200, json={"data": data})


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Callable[[Service], Requests]:
    def made(service: Service) -> Requests:
        http = httpx.AsyncClient(transport=httpx.MockTransport(service), base_url="http://service.test")
        monkeypatch.setattr(tenant_clients, "client", lambda *_: http)
        operators = cast(Any, type("Operators", (), {"http": http}))
        return Requests(ACCOUNT, "http://service.test", operators, service.record, service.visits, Random(1))

    monkeypatch.setattr(tenant_clients, "_AGAIN_SECONDS", 0)
    return made


Made = Callable[[Service], Requests]


async def test_failures_during_a_fault_are_counted_and_repeated(requests: Made) -> None:
    service = Service({"/cs2/v1/combinations": [503, 0]})
    service.record.begin()
    await requests(service)._combine()
    assert service.visits.failed == {"503": 1, "ConnectError": 1}
    assert service.visits.done == {"combination": 1, "combination repeated": 1}


async def test_the_same_failures_without_a_fault_are_an_error(requests: Made) -> None:
    for status in (503, 0):
        with pytest.raises(UnexpectedResponse, match="503" if status else "ConnectError"):
            await requests(Service({"/cs2/v1/combinations": [status]}))._combine()


async def test_a_refusal_is_an_error_unless_play_has_moved_on(requests: Made) -> None:
    for status in (401, 404, 429):
        service = Service({"/cs2/v1/combinations": [status]})
        service.record.begin()
        with pytest.raises(UnexpectedResponse, match=str(status)):
            await requests(service)._combine()
    service = Service({"/cs2/v1/combinations": [422]})
    await requests(service)._combine()
    assert service.visits.refused == {"combination": 1}


async def test_a_combination_must_be_the_same_when_it_is_repeated_and_read(requests: Made) -> None:
    other = {"id": "c1", "odds": 3.4}
    for told in (
        {"/cs2/v1/combinations": [{"id": "c1", "odds": 3.5}, other]},
        {"/cs2/v1/combinations/c1": [other]},
    ):
        with pytest.raises(UnexpectedResponse, match="the same combination"):
            await requests(Service(dict(told)))._combine()


async def test_each_claim_is_withdrawn_or_answered(requests: Made) -> None:
    service = Service({})
    client = requests(service)
    for _ in range(20):
        await client._claim()
    ends = service.visits.done["claim withdrawn"], service.visits.done["claim answered"]
    assert service.visits.done["claim"] == 20 == sum(ends) and all(ends)
    assert "/cs2/v1/claims/c1/withdraw" in service.posted and "/ops/v1/claims/c1/answer" in service.posted


async def test_a_copy_that_stays_different_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Comparison(1, 2, ({"market": "1:team=home"},)), Comparison(0, 2, ())]

    class Compared:
        async def compare(self, digest: Any) -> Comparison:
            return found.pop(0) if len(found) > 1 else found[0]

    copy = Copy(ACCOUNT, "http://service.test", cast(Rest, Compared()), "pages")
    copy.book.stale = False
    assert await copy.differences() == ""
    monkeypatch.setattr(tenant_clients, "_COMPARED_SECONDS", 0.01)
    found[:] = [Comparison(1, 2, ({"market": "1:team=home"},))]
    assert "acme over pages" in await copy.differences()
    copy.book.stale = True
    assert "not complete" in await copy.differences()


async def test_a_replay_that_fails_is_an_error(requests: Made) -> None:
    listed, state = [{"match": "od:match:1"}], {"replay": {"state": "failed"}}
    told = {"/cs2/v1/replay/matches": [listed], "/cs2/v1/replay": [state]}
    with pytest.raises(UnexpectedResponse, match="the replay failed"):
        await requests(Service(told))._replay()
