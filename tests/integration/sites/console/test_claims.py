"""Claims in the console: what a tenant says beside what the result rests on; who may take, answer and
uphold."""

from html import unescape

import pytest

from app.access import admin
from app.domain.claims import Claim, ClaimState
from app.domain.market import Market, Result
from app.domain.match import Match
from app.domain.tenant import OperatorRole
from app.store import claims
from app.store.connections import Store
from tests.integration.sites.console.conftest import SignIn
from tests.integration.sites.console.test_commands import done, market_of
from tests.support.claims import claimed
from tests.support.portal import Person
from tests.support.story import Story

PAGE = "/console/claims"


@pytest.fixture
async def settled(store: Store) -> tuple[Match, Market]:
    async with store.transaction() as tx:
        await admin.create_tenant(tx, "acme", "Acme", by="tester", now=1)
    return await Story(store).settled()


@pytest.fixture
async def claim(store: Store, settled: tuple[Match, Market]) -> Claim:
    return await claimed(store, *settled)


async def present(store: Store, claim: Claim) -> Claim:
    async with store.autocommit() as tx:
        found = await claims.get(tx, claim.id)
    assert found
    return found


def path_of(claim: Claim) -> str:
    return f"{PAGE}/{claim.id}"


def uphold(claim: Claim, **fields: str) -> dict[str, str]:
    about = {"claim": str(claim.id), "market_id": str(claim.type_id), "specifiers": claim.specifiers}
    return about | {"result": "lost", "reason": "a correction", "answer": "You are right."} | fields


async def test_a_claim_is_taken_and_answered(sign_in: SignIn, store: Store, claim: Claim) -> None:
    sam, ada = await sign_in(OperatorRole.SETTLER), await sign_in(OperatorRole.ADMIN)
    listed = (await sam.get(PAGE)).text
    assert path_of(claim) in listed and "acme" in listed
    page = (await sam.get(path_of(claim))).text
    for said in ("acme says", "away won it", "VOD 00:14", "contested", "by the test"):
        assert said in page
    assert (await ada.post(f"{path_of(claim)}/take")).status_code == 303
    refused = await sam.post(f"{path_of(claim)}/answer", answer="home won it")
    assert refused.status_code == 409 and ada.email in refused.text
    refused = await sam.post(f"{path_of(claim)}/take", instead_of="")
    assert refused.status_code == 409
    holder = f"operator {ada.email}"
    assert (await sam.post(f"{path_of(claim)}/take", instead_of=holder)).status_code == 303
    empty = await sam.post(f"{path_of(claim)}/answer", answer=" ")
    assert empty.status_code == 422 and "Say why the result stands" in empty.text
    assert (await sam.post(f"{path_of(claim)}/answer", answer="home won it")).status_code == 303
    after = await present(store, claim)
    assert (after.state, after.answer, after.answered_by) == (
        ClaimState.ANSWERED,
        "home won it",
        f"operator {sam.email}",
    )
    page = (await sam.get(path_of(claim))).text
    assert 'id="forms"' not in page and "home won it" in page


async def test_it_is_upheld_by_a_command_that_leads_back(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market], claim: Claim
) -> None:
    sam, (match, market) = await sign_in(OperatorRole.SETTLER), settled
    response = await done(sam, match, "uphold_claim", **uphold(claim), back=path_of(claim))
    assert unescape(response.headers["location"]) == f"{path_of(claim)}?done=command_done"
    assert (await market_of(store, match, market)).result is Result.LOST
    assert (await present(store, claim)).state is ClaimState.CORRECTED
    assert "You are right." in (await sam.get(path_of(claim))).text


async def test_of_an_outdated_claim_the_page_says_that_it_can_only_be_answered(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market], claim: Claim
) -> None:
    sam, (match, market) = await sign_in(OperatorRole.SETTLER), settled
    await Story(store).take_back(match, market)
    page = (await sam.get(path_of(claim))).text
    assert 'id="outdated"' in page and "uphold_claim" not in page
    path = f"/console/matches/od:match:{match.number}/preview"
    refused = await sam.post(path, command="uphold_claim", **uphold(claim))
    assert refused.status_code == 409 and "changed since the claim was made" in refused.text


@pytest.mark.parametrize("role", list(OperatorRole))
async def test_roles(
    sign_in: SignIn, settled: tuple[Match, Market], claim: Claim, role: OperatorRole
) -> None:
    """Everybody reads; settlers and administrators decide."""
    person, (match, _) = await sign_in(role), settled
    may = role in (OperatorRole.SETTLER, OperatorRole.ADMIN)
    page = await person.get(path_of(claim))
    assert page.status_code == 200 and ('id="forms"' in page.text) is may
    path = f"/console/matches/od:match:{match.number}/preview"
    statuses = [
        (await person.post(path, command="uphold_claim", **uphold(claim))).status_code,
        (await person.post(f"{path_of(claim)}/take")).status_code,
        (await person.post(f"{path_of(claim)}/answer", answer="no")).status_code,
    ]
    assert statuses == ([200, 303, 303] if may else [403, 403, 403])


async def test_what_is_due_first_is_on_top(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market], claim: Claim
) -> None:
    person: Person = await sign_in()
    second = await Story(store).settled()
    later = await claimed(store, *second, lambda: claim.opened_at + 600_000)
    sooner = await claimed(store, *await Story(store).settled(), lambda: claim.opened_at - 600_000)
    text = (await person.get(PAGE)).text
    assert [text.index(path_of(each)) for each in (sooner, claim, later)] == sorted(
        text.index(path_of(each)) for each in (sooner, claim, later)
    )
    assert (await person.get(f"{PAGE}/00000000-0000-0000-0000-000000000000")).status_code == 404
