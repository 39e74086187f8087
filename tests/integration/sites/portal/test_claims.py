"""Claims in the portal: made from a market with a result, followed, withdrawn; each by the role that may."""

import re
from typing import Any

import pytest

from app.claims import answer
from app.domain.ids import match_urn
from app.domain.match import Match
from app.domain.tenant import Role
from app.store import claims
from app.store.claims import ClaimFilter
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import Person
from tests.support.story import Story, offer
from tests.support.tenants import give_vhost
from tests.support.web import IssueKey

PAGE = "/portal/claims"
MARKET = "13:map=1|round=1|team=home"


@pytest.fixture
async def match(store: Store, sign_in: SignIn, issue: IssueKey) -> Match:
    """A match with a result; the tenant reads settlements."""
    await issue(bundles=("cs2.odds.basic",))
    match, _ = await Story(store).settled()
    return match


async def of(store: Store) -> list[Any]:
    async with store.autocommit() as tx:
        return await claims.page(tx, ClaimFilter(), limit=10)


def filled(text: str, **fields: str) -> dict[str, str]:
    """The hidden fields of a page's form for a claim, and others."""
    hidden = re.findall(r'<input type="hidden" name="(match|market|request_id)" value="([^"]*)">', text)
    return dict(hidden) | {"expected": "lost", "reason": "away won it", "evidence": "VOD 00:14"} | fields


async def made(person: Person, match: Match, **fields: str) -> Any:
    form = await person.get(f"{PAGE}/new?match={match_urn(match.number)}&market={MARKET}")
    assert form.status_code == 200, form.text
    return await person.post(PAGE, **filled(form.text, **fields))


async def test_a_trader_claims_follows_and_withdraws(sign_in: SignIn, store: Store, match: Match) -> None:
    trader = await sign_in(Role.TRADER)
    assert "There are no claims" in (await trader.get(PAGE)).text
    listed = (await trader.get(f"/portal/settlements?match={match_urn(match.number)}")).text
    entry = re.search(r"/portal/settlements/\d+", listed)
    assert entry
    shown = (await trader.get(entry[0])).text
    link = re.search(r'href="(/portal/claims/new[^"]+)"', shown)
    assert link and "Is this result wrong?" in shown
    form = await trader.get(link[1].replace("&amp;", "&"))
    assert "won" in form.text and "It should be" in form.text
    sent = filled(form.text)
    answers = [await trader.post(PAGE, **sent) for _ in range(2)]
    assert {each.headers["location"] for each in answers} == {answers[0].headers["location"]}
    (claim,) = await of(store)
    assert (claim.opened_by, claim.expected.value) == (f"user {trader.email}", "lost")
    own = f"{PAGE}/{claim.id}"
    page = (await trader.get(own)).text
    assert "VOD 00:14" in page and "Withdraw the claim" in page and trader.email in page
    await answer.take(store, claim.id, by="operator ann@house.test", now=claim.opened_at + 5)
    page = (await trader.get(own)).text
    assert "taken" in page and "ann@house" not in page, "operators are not named to tenants"
    assert (await trader.post(f"{own}/withdraw")).status_code == 303
    again = await trader.post(f"{own}/withdraw")
    assert again.status_code == 303, "it is withdrawn already"
    assert "withdrawn" in (await trader.get(PAGE)).text
    assert "Withdraw the claim" not in (await trader.get(own)).text


@pytest.mark.parametrize("role", list(Role))
async def test_roles(sign_in: SignIn, store: Store, match: Match, role: Role) -> None:
    """Everybody reads; owners and traders claim and withdraw."""
    owner = await sign_in(Role.OWNER)
    await made(owner, match)
    (claim,) = await of(store)
    person = await sign_in(role)
    assert (await person.get(PAGE)).status_code == 200
    assert (await person.get(f"{PAGE}/{claim.id}")).status_code == 200
    may = role in (Role.OWNER, Role.TRADER)
    form = await person.get(f"{PAGE}/new?match={match_urn(match.number)}&market={MARKET}")
    assert form.status_code == (200 if may else 403)
    refused = await person.post(
        PAGE, match=match_urn(match.number), market=MARKET, expected="void", reason="it was restarted"
    )
    assert refused.status_code == (409 if may else 403)
    assert ("undecided claim about this market" in refused.text) is may
    withdrawn = await person.post(f"{PAGE}/{claim.id}/withdraw")
    assert withdrawn.status_code == (303 if may else 403)


async def test_another_tenants_claim_is_not_there(sign_in: SignIn, store: Store, match: Match) -> None:
    await made(await sign_in(Role.OWNER), match)
    (claim,) = await of(store)
    rival = await sign_in(Role.OWNER, "rival")
    assert "There are no claims" in (await rival.get(PAGE)).text
    for answered in (
        await rival.get(f"{PAGE}/{claim.id}"),
        await rival.post(f"{PAGE}/{claim.id}/withdraw"),
    ):
        assert answered.status_code == 404 and "VOD" not in answered.text


async def test_a_form_that_does_not_fit_is_shown_again(sign_in: SignIn, store: Store, match: Match) -> None:
    trader = await sign_in(Role.TRADER)
    for fields, words in [
        ({"reason": ""}, "Say why the result is wrong"),
        ({"expected": "won"}, "The result is that already"),
        ({"expected": "refund"}, "Choose one of"),
        ({"evidence": "x" * 4_001}, "4000"),
    ]:
        refused = await made(trader, match, **fields)
        assert refused.status_code == 422 and words in refused.text, fields
        assert await of(store) == [], fields


async def test_without_the_scope_of_settlements_there_is_nothing_to_claim(
    sign_in: SignIn, store: Store, issue: IssueKey
) -> None:
    trader = await sign_in(Role.TRADER, "other")
    match, _ = await Story(store).settled()
    address = f"{PAGE}/new?match={match_urn(match.number)}&market={MARKET}"
    assert (await trader.get(address)).status_code == 403
    await give_vhost(store, "other")
    assert (await trader.get(address)).status_code == 200, "its vhost receives settlements"


async def test_a_market_without_a_result_says_so(sign_in: SignIn, store: Store, match: Match) -> None:
    await Story(store).offer(match, offer(2))
    trader = await sign_in(Role.TRADER)
    other = "13:map=1|round=2|team=home"
    page = await trader.get(f"{PAGE}/new?match={match_urn(match.number)}&market={other}")
    assert "has no result now" in page.text
    fields = {"match": match_urn(match.number), "market": other, "expected": "lost", "reason": "x"}
    refused = await trader.post(PAGE, **fields)
    assert refused.status_code == 409 and "has no result now" in refused.text


async def test_lists_are_paged(sign_in: SignIn, store: Store, match: Match) -> None:
    trader = await sign_in(Role.TRADER)
    for bad in ("1", "x.y", "1.00000000-0000-0000-0000-00000000000"):
        assert (await trader.get(f"{PAGE}?before={bad}")).status_code == 422
    await made(trader, match)
    (claim,) = await of(store)
    for before, shown in (("9" * 17, True), (str(claim.opened_at - 1), False)):
        page = await trader.get(f"{PAGE}?before={before}.{claim.id}")
        assert (f"{PAGE}/{claim.id}" in page.text) is shown
