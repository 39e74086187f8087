"""The soak's faults are as promised, and no response to its people goes unnoticed."""

from itertools import pairwise

import httpx
import pytest

from scripts.lab import person
from scripts.lab.local_faults import KINDS, FaultRecord, Happened, pairs
from scripts.lab.person import CheckedPerson, UnexpectedResponse, Visits

MINUTES = (1, 3, 15, 60)
SEEDS = range(20)


@pytest.mark.parametrize("minutes", MINUTES)
def test_two_faults_of_different_targets_overlap_within_the_day(minutes: int) -> None:
    for seed in SEEDS:
        day = pairs(seed, minutes * 60)
        for first, second in day:
            assert first.target != second.target
            assert first.at < second.at and min(first.until, second.until) - second.at >= 2
            assert first.at > 0 and max(first.until, second.until) < minutes * 60
        for before, after in pairwise(day):
            assert max(fault.until for fault in before) + 30 < after[0].at


def test_a_day_can_be_repeated_and_another_seed_gives_another_one() -> None:
    assert pairs(1, 900) == pairs(1, 900) != pairs(2, 900)


def test_a_longer_day_has_more_pairs_and_an_hour_every_kind() -> None:
    assert [len(pairs(1, minutes * 60)) for minutes in MINUTES] == [1, 2, 8, 30]
    for seed in SEEDS:
        assert {(fault.how, fault.target) for pair in pairs(seed, 3_600) for fault in pair} == set(KINDS)


def test_a_pair_is_on_until_the_service_is_healthy_again() -> None:
    record, [pair] = FaultRecord(), pairs(1, 60)
    assert not record.touched(0.0)
    record.begin()
    assert record.touched(record.now())
    record.end(Happened(pair, 10.0, 20.0, 23.0, 5.0))
    assert record.touched(22.0) and not record.touched(24.0)


class Site:
    """A person whose requests get these responses, one after another, the last one for ever."""

    def __init__(self, *statuses: int, location: str = "") -> None:
        self.record, self.visits, self._statuses, self._location = FaultRecord(), Visits(), statuses, location
        self.requests = 0
        client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer), base_url="http://site.test")
        self.person = CheckedPerson(client, "ann@site.test", "/portal", self.record, self.visits)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        status = self._statuses[min(self.requests, len(self._statuses) - 1)]
        self.requests += 1
        if not status:
            raise httpx.ConnectError("refused", request=request)
        headers = {"location": self._location} if self._location else {}
        return httpx.Response(status, html="<p>a page</p>", headers=headers)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "_AGAIN_SECONDS", 0)


async def test_failures_during_a_fault_are_counted_and_repeated() -> None:
    site = Site(503, 0, 200)
    site.record.begin()
    assert (await site.person.get("/portal")).status_code == 200
    assert site.visits.failed == {"503": 1, "ConnectError": 1}
    assert len(site.visits.pages_in_faults) == 1 and not site.visits.pages


@pytest.mark.parametrize("status", [503, 0])
async def test_the_same_failures_without_a_fault_are_an_error(status: int) -> None:
    with pytest.raises(UnexpectedResponse, match="503" if status else "ConnectError"):
        await Site(status, 200).person.get("/portal")


@pytest.mark.parametrize(
    ("status", "location"), [(404, ""), (429, ""), (303, "/portal/sign-in?next=/portal")]
)
async def test_no_fault_explains_a_refusal_or_a_lost_session(status: int, location: str) -> None:
    site = Site(status, location=location)
    site.record.begin()
    with pytest.raises(UnexpectedResponse, match=str(status)):
        await site.person.get("/portal")


async def test_a_form_may_be_refused_by_the_present_state_and_a_page_not() -> None:
    assert (await Site(409).person.post("/portal/recoveries")).status_code == 409
    with pytest.raises(UnexpectedResponse, match="409"):
        await Site(409).person.get("/portal/recoveries")
