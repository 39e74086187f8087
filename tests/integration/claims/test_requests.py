"""What may be claimed, by whom, how often; and what each step writes beside the claim."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.commands.command_service import CommandService
from app.commands.execution import Sender
from app.commands.match_commands import UpholdClaim
from app.domain.match import Status
from app.kit.errors import Unavailable
from app.operations.api.alerts import AlertMonitor
from app.store import audit
from app.store.alerts import AlertKind
from app.store.connections import Store
from app.store.tenants import by_slug
from app.trading.pricing import PricingConfig
from tests.support import stored
from tests.support.claims import Dispute
from tests.support.story import offer
from tests.support.tenants import switch
from tests.support.web import IssueKey

_MINUTE = 60_000


async def records(dispute: Dispute) -> list[tuple[str, str]]:
    """Who did what to the claim, in order, as both the operators' log and the tenant's have it."""
    async with dispute.store.autocommit() as tx:
        about = await audit.about(tx, dispute.claim, limit=100)
        owner = await by_slug(tx, "acme")
        of_tenant = [each for each in await audit.listing(tx, owner.id, limit=100) if each in about]
        of_all = [record for _, record in await audit.page(tx, 2**62, limit=100) if record in about]
    assert about == of_tenant == of_all
    return [(each.actor.partition("/")[0], each.action) for each in reversed(about)]


async def test_a_claim_shows_what_was_said_of_which_result(dispute: Dispute) -> None:
    made = (await dispute.make(request_id="bet-1")).json()["data"]
    (entry,) = await stored.ledger(dispute.store, dispute.match)
    assert made == await dispute.shown()
    assert made | {"opened_at": "", "deadline_at": ""} == {
        "id": dispute.claim,
        "state": "open",
        "match_id": str(dispute.match.id),
        "match_urn": f"od:match:{dispute.match.number}",
        "market_offer_id": "13:map=1|round=1|team=home",
        "market_id": 13,
        "specifiers": "map=1|round=1|team=home",
        "settlement_id": entry.id,
        "result": "won",
        "expected": "lost",
        "reason": "away won it",
        "evidence": "VOD at 00:14:32",
        "request_id": "bet-1",
        "opened_at": "",
        "deadline_at": "",
    }


async def test_a_repeated_request_makes_one_claim(dispute: Dispute) -> None:
    answers = await asyncio.gather(*(dispute.make(request_id="bet-1") for _ in range(5)))
    assert {each.status_code for each in answers} == {201}
    assert len({each.json()["data"]["id"] for each in answers}) == 1
    other = await dispute.make(request_id="bet-1", reason="for another reason")
    assert other.status_code == 409 and "choose a new one" in other.json()["detail"]
    listed = await dispute.client.get("/cs2/v1/claims", headers=dispute.keys["acme"])
    assert listed.json()["meta"]["count"] == 1


async def test_a_market_has_one_undecided_claim_of_a_tenant(dispute: Dispute) -> None:
    answers = await asyncio.gather(*(dispute.make() for _ in range(5)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409, 409]
    assert (await dispute.make("rival")).status_code == 201, "another tenant has its own"


async def test_a_tenant_may_have_so_many_undecided_claims(dispute: Dispute) -> None:
    limit = 20
    offers = [offer(number) for number in range(2, limit + 3)]
    await dispute.story.offer(dispute.match, *offers)
    await dispute.story.settle(dispute.match, *offers)
    markets = [f"13:map=1|round={number}|team=home" for number in range(2, limit + 3)]
    answers = [await dispute.make(market_offer_id=name) for name in markets]
    assert [each.status_code for each in answers] == [201] * limit + [409]
    assert "as many as you may have" in answers[-1].json()["detail"]
    await dispute.withdraw()
    assert (await dispute.make(market_offer_id=markets[-1])).status_code == 409, "until its deadline"
    dispute.clock.now += 30 * 60_000
    assert (await dispute.make(market_offer_id=markets[-1])).status_code == 201


async def test_what_cannot_be_claimed_is_refused_with_the_reason(dispute: Dispute) -> None:
    for fields, status, words in [
        ({"match": "od:match:999999"}, 422, "There is no match"),
        ({"match": "final"}, 422, "match"),
        ({"market_offer_id": "13:map=1|round=9|team=home"}, 409, "has no result now"),
        ({"market_offer_id": "round 9"}, 422, "match"),
        ({"expected": "won"}, 422, "won already"),
        ({"expected": "refund"}, 422, "refund"),
        ({"reason": ""}, 422, "length"),
        ({"evidence": "x" * 4_001}, 422, "length"),
        ({"stake": 5}, 422, "stake"),
    ]:
        refused = await dispute.make(**fields)
        assert refused.status_code == status, fields
        assert words in refused.text, fields


async def test_a_market_that_was_rolled_back_has_nothing_to_claim(dispute: Dispute) -> None:
    await dispute.roll_back()
    assert (await dispute.make()).status_code == 409


async def test_a_market_that_was_never_offered_to_a_tenant_does_not_exist_for_it(dispute: Dispute) -> None:
    await switch(dispute.store, False, now=dispute.clock.now)
    dispute.clock.now += 1
    later = offer(2, first_opened_at=dispute.clock.now + _MINUTE)
    await dispute.story.offer(dispute.match, later)
    await dispute.story.settle(dispute.match, later)
    name = "13:map=1|round=2|team=home"
    assert (await dispute.make(market_offer_id=name)).status_code == 409
    assert (await dispute.make("rival", market_offer_id=name)).status_code == 201


async def test_a_key_for_finished_matches_claims_nothing_of_others(dispute: Dispute, issue: IssueKey) -> None:
    scopes = frozenset({"cs2:markets:settlements"})
    dispute.keys["acme"] = {"X-API-Key": await issue(scopes=scopes, finished_only=True)}
    assert (await dispute.make()).status_code == 422
    await dispute.story.finish(dispute.match)
    assert (await dispute.make()).status_code == 201
    assert (await stored.present(dispute.store, dispute.match)).status is Status.FINISHED
    assert (await dispute.read()).status_code == 200


async def test_a_key_needs_the_scope_of_settlements(dispute: Dispute, issue: IssueKey) -> None:
    dispute.keys["acme"] = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    refused = await dispute.make()
    assert refused.status_code == 403 and "cs2:markets:settlements" in refused.text


async def test_lists_show_every_claim_once_newest_first(dispute: Dispute) -> None:
    offers = [offer(number) for number in range(2, 9)]
    await dispute.story.offer(dispute.match, *offers)
    await dispute.story.settle(dispute.match, *offers)
    made = []
    for number in range(2, 9):
        await dispute.make(market_offer_id=f"13:map=1|round={number}|team=home")
        made.append(dispute.claim)
    await dispute.make("rival")
    dispute.claim = made[0]
    await dispute.withdraw()

    async def read(**query: Any) -> httpx.Response:
        answer = await dispute.client.get("/cs2/v1/claims", headers=dispute.keys["acme"], params=query)
        return answer.raise_for_status()

    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await read(limit=3, **cursor)).json()
        found += [each["id"] for each in page["data"]]
        if "next_cursor" not in page["meta"]:
            break
        cursor = {"cursor": page["meta"]["next_cursor"]}
    assert sorted(found) == sorted(made) and len(found) == 7
    withdrawn = (await read(state="withdrawn")).json()["data"]
    assert [each["id"] for each in withdrawn] == [made[0]]
    xml = await dispute.client.get(
        f"/cs2/v1/claims/{made[0]}", headers=dispute.keys["acme"] | {"Accept": "application/xml"}
    )
    assert xml.status_code == 200 and 'state="withdrawn"' in xml.text
    listed = await dispute.client.get(
        "/ops/v1/claims?tenant=acme&undecided=true", headers=dispute.keys["house"]
    )
    assert {each["claim"]["id"] for each in listed.json()["data"]} == set(made[1:])


async def test_each_step_is_in_both_audit_logs(dispute: Dispute) -> None:
    await dispute.make()
    await dispute.take()
    await dispute.uphold_old()
    await dispute.give_consent()
    assert await records(dispute) == [
        ("key:acme", "claim.opened"),
        ("key:house", "claim.taken"),
        ("key:house", "claim.upheld"),
        ("key:house", "claim.corrected"),
    ]
    of_match = await stored.records(dispute.store, dispute.match.id, 3)
    assert [each.action for each in of_match] == ["match.uphold_claim", "consent.give", "consent.request"]
    await dispute.make(market_offer_id="13:map=1|round=1|team=home", expected="won")
    await dispute.answer()
    assert await records(dispute) == [("key:acme", "claim.opened"), ("key:house", "claim.answered")]


async def test_a_correction_is_in_the_ledger_and_says_nothing_of_the_claim(dispute: Dispute) -> None:
    await dispute.make()
    corrected = (await dispute.uphold()).json()["data"]
    entries = await stored.ledger(dispute.store, dispute.match)
    assert [(each.result, each.new_status.value, each.settled_by) for each in entries[1:]] == [
        (None, "pending", "admin"),
        ("lost", "settled", "admin"),
    ]
    claim = corrected["claim"]
    assert (claim["state"], claim["correction_id"]) == ("corrected", entries[-1].id)
    assert (claim["answer"], corrected["answered_by"].partition("/")[0]) == ("you are right", "key:house")
    shown = await dispute.client.get(
        f"/cs2/v1/matches/{dispute.match.id}/settlements", headers=dispute.keys["rival"]
    )
    assert dispute.claim not in shown.text and "acme" not in shown.text


async def test_an_operator_may_correct_otherwise_than_the_tenant_expects(dispute: Dispute) -> None:
    await dispute.make()
    assert (await dispute.uphold(result="void", void_reason_id=14)).status_code == 200
    last = (await stored.ledger(dispute.store, dispute.match))[-1]
    assert (last.result, last.void_reason_id) == ("void", 14)


async def test_a_correction_changes_the_result(dispute: Dispute) -> None:
    await dispute.make()
    refused = await dispute.uphold(result="won")
    assert refused.status_code == 422 and "won already" in refused.text
    assert (await dispute.shown())["state"] == "open"


async def test_of_two_claims_about_a_result_one_corrects_it(dispute: Dispute) -> None:
    await dispute.make("acme")
    first = dispute.claim
    await dispute.make("rival")
    answers = []

    async def uphold(claim: str) -> None:
        path = f"/ops/v1/claims/{claim}/uphold"
        answers.append((await dispute.post("house", path, {"reason": "away won it"})).status_code)

    await asyncio.gather(uphold(first), uphold(dispute.claim))
    assert sorted(answers) == [200, 409]
    assert len(await stored.ledger(dispute.store, dispute.match)) == 3
    listed = await dispute.client.get("/ops/v1/claims", headers=dispute.keys["house"])
    (left,) = [each for each in listed.json()["data"] if each["claim"]["state"] == "open"]
    shown = await dispute.client.get(f"/ops/v1/claims/{left['claim']['id']}", headers=dispute.keys["house"])
    assert shown.json()["data"]["outdated"] is True
    assert len(shown.json()["data"]["ledger"]) == 3


async def test_the_answer_is_that_of_the_command_that_corrected(dispute: Dispute) -> None:
    """The first one waited for consent, which was refused; the second one does not wait."""
    await dispute.make()
    assert (await dispute.uphold_old()).status_code == 202
    await dispute.refuse_consent()
    await CommandService(dispute.store, PricingConfig()).send(
        str(dispute.match.id),
        UpholdClaim(
            claim=UUID(dispute.claim),
            market_id=dispute.market.type_id,
            specifiers=dispute.market.specifiers,
            result="void",
            reason="nobody won it",
            answer="the round was void",
        ),
        Sender("second", "second"),
        dispute.clock.now,
    )
    shown = await dispute.shown()
    assert (shown["state"], shown["answer"]) == ("corrected", "the round was void")


async def test_a_command_that_names_another_market_is_refused(dispute: Dispute) -> None:
    await dispute.make()
    command = {
        "command": "uphold_claim",
        "claim": dispute.claim,
        "market_id": 13,
        "specifiers": "map=1|round=2|team=home",
        "result": "lost",
        "reason": "away won it",
    }
    path = f"/ops/v1/matches/{dispute.match.id}/commands"
    assert (await dispute.post("house", path, command)).status_code == 404
    own = command | {"specifiers": dispute.market.specifiers}
    preview = await dispute.post("house", f"{path}/preview", own)
    assert len(preview.json()["data"]["entries"]) == 2
    assert (await dispute.shown())["state"] == "open", "a preview changes nothing"
    for _ in range(2):
        assert (await dispute.post("house", path, own | {"request_id": "r1"})).status_code == 200
    assert (await dispute.shown())["state"] == "corrected"


async def open_alerts(store: Store) -> list[tuple[AlertKind, str, str]]:
    found = await stored.open_alerts(store, AlertKind.CLAIM_OPEN, AlertKind.CLAIM_LATE)
    return sorted((each.kind, each.tenant, each.subject) for each in found)


@pytest.mark.parametrize("end", [Dispute.answer, Dispute.withdraw, Dispute.uphold])
async def test_alerts_begin_with_the_claim_and_its_deadline_and_end_with_it(
    dispute: Dispute, end: Any
) -> None:
    monitor = AlertMonitor(dispute.store, dispute.clock, dead_seconds=10**9)
    await dispute.make()
    opened = (AlertKind.CLAIM_OPEN, "acme", dispute.claim)
    assert await open_alerts(dispute.store) == [opened]
    await dispute.story.finish(dispute.match)
    dispute.clock.now += 30 * _MINUTE - 1
    await monitor.update()
    assert await open_alerts(dispute.store) == [opened], "matches that are over have claims, too"
    dispute.clock.now += 1
    await monitor.update()
    late = (AlertKind.CLAIM_LATE, "acme", dispute.claim)
    assert await open_alerts(dispute.store) == [late, opened]
    shown = await dispute.client.get(f"/ops/v1/claims/{dispute.claim}", headers=dispute.keys["house"])
    assert shown.json()["data"]["claim"]["late"] is True
    await end(dispute)
    if end is Dispute.uphold:  # the result has grown old
        assert await open_alerts(dispute.store) == [late, opened], "what waits for consent is not decided"
        await dispute.give_consent()
    assert await open_alerts(dispute.store) == []
    await monitor.update()
    assert await open_alerts(dispute.store) == []


async def test_of_a_withdrawal_and_a_correction_at_once_one_happens(dispute: Dispute) -> None:
    await dispute.make()
    withdrawn, upheld = await asyncio.gather(dispute.withdraw(), dispute.uphold())
    assert sorted((withdrawn.status_code, upheld.status_code)) == [200, 409]
    state = (await dispute.shown())["state"]
    corrected = len(await stored.ledger(dispute.store, dispute.match)) == 3
    assert (state == "corrected") is corrected is upheld.is_success


async def test_the_result_and_the_claim_change_together_or_not_at_all(
    dispute: Dispute, monkeypatch: pytest.MonkeyPatch
) -> None:
    await dispute.make()
    before = await dispute.shown(), await stored.head(dispute.store)

    async def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("the database is gone")

    with monkeypatch.context() as broken:
        broken.setattr("app.claims.steps.publish", fail)
        assert (await dispute.uphold()).status_code == 503
    assert (await dispute.shown(), await stored.head(dispute.store)) == before
    assert len(await stored.ledger(dispute.store, dispute.match)) == 1
    assert (await dispute.uphold()).status_code == 200
