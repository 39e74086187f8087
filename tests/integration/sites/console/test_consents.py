"""Commands that wait for a second operator, in the console: who may decide, what they see, what is done."""

import re
from collections.abc import AsyncIterator
from html import unescape
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.domain.market import Market, Result
from app.domain.match import Match
from app.domain.tenant import OperatorRole
from app.settings import Settings
from app.sites.console.site import Permission, allowed
from app.store import consent_requests, history
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest, ConsentState
from tests.integration.sites.console.conftest import SignIn, serving_console
from tests.integration.sites.console.test_commands import about, done, market_of, path_of
from tests.support.portal import Person
from tests.support.story import Story

_FINGERPRINT = re.compile(r'name="fingerprint" value="(\w+)"')
LONG_AGO = 1_700_000_000_000


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Results older than a minute need consent."""
    async with serving_console(replace(settings, consent_seconds=60)) as client:
        yield client


@pytest.fixture
async def old(store: Store) -> tuple[Match, Market]:
    """A match with a market that was settled as won long ago."""
    return await Story(store, lambda: LONG_AGO).settled()


async def requested(
    person: Person, store: Store, match: Match, command: str, **fields: str
) -> ConsentRequest:
    """The request that a command becomes."""
    response = await done(person, match, command, **fields)
    async with store.autocommit() as tx:
        (request, *_) = await consent_requests.listing(tx, limit=10)
    assert response.headers["location"] == f"/console/consents/{request.id}?done=consent_requested"
    return request


async def decide(person: Person, request: ConsentRequest, what: str, **fields: str) -> Any:
    """Decide with what the request's page shows."""
    page = await person.get(f"/console/consents/{request.id}")
    found = _FINGERPRINT.search(page.text)
    seen = {"fingerprint": found[1]} if found else {"fingerprint": "none"}
    return await person.post(f"/console/consents/{request.id}/{what}", **(seen | fields))


async def test_a_second_operator_sees_the_effect_and_consents(
    sign_in: SignIn, store: Store, old: tuple[Match, Market]
) -> None:
    match, market = old
    sam, ada = await sign_in(OperatorRole.SETTLER), await sign_in(OperatorRole.ADMIN)
    fields = about(market, result="lost")
    preview = await sam.post(f"{path_of(match)}/preview", command="settle_market", **fields)
    assert 'id="needs-consent"' in preview.text and "Ask for consent" in preview.text
    request = await requested(sam, store, match, "settle_market", **fields)
    assert (await market_of(store, match, market)).result is Result.WON
    for page in ("/console", "/console/consents"):
        assert f'href="/console/consents/{request.id}"' in (await ada.get(page)).text
    own = (await sam.get(f"/console/consents/{request.id}")).text
    assert "somebody else must consent" in own and f"/consents/{request.id}/consent" not in own
    shown = (await ada.get(f"/console/consents/{request.id}")).text
    assert "Map 1, round 1: Northwind to win</a>" in shown
    assert "Entries of the ledger (2)" in shown and "rollback_bet_settlement" in shown
    assert (await decide(ada, request, "consent")).headers["location"].endswith("done=consent_given")
    assert (await market_of(store, match, market)).result is Result.LOST
    assert f"with the consent of operator {ada.email}" in (await ada.get(path_of(match))).text
    after = (await sam.get(f"/console/consents/{request.id}")).text
    assert "consented and executed" in after and f"operator {ada.email}" in after


async def test_the_sender_cannot_consent_and_can_withdraw(
    sign_in: SignIn, store: Store, old: tuple[Match, Market]
) -> None:
    match, market = old
    sam = await sign_in(OperatorRole.ADMIN)
    request = await requested(sam, store, match, "roll_back_market", **about(market))
    refused = await sam.post(f"/console/consents/{request.id}/consent", fingerprint=request.fingerprint)
    assert refused.status_code == 403 and "Somebody else must consent" in refused.text
    withdrawn = await decide(sam, request, "refuse", reason="my mistake")
    assert withdrawn.headers["location"].endswith("done=consent_withdrawn")
    assert (await market_of(store, match, market)).result is Result.WON


@pytest.mark.parametrize("role", list(OperatorRole))
async def test_who_may_give_a_command_may_consent_to_it(
    sign_in: SignIn, store: Store, old: tuple[Match, Market], role: OperatorRole
) -> None:
    match, market = old
    sender, person = await sign_in(OperatorRole.ADMIN), await sign_in(role)
    may = Permission.SETTLE in allowed(role)
    for what in ("refuse", "consent"):
        request = await requested(sender, store, match, "void_market", void_reason_id="4", **about(market))
        assert (await decide(person, request, what)).status_code == (303 if may else 403)
    changed = (await market_of(store, match, market)).result is Result.VOID
    assert changed is may


async def test_a_stale_decision_is_refused_with_the_new_effect(
    sign_in: SignIn, store: Store, old: tuple[Match, Market]
) -> None:
    match, market = old
    sam, ada, eve = [await sign_in(OperatorRole.ADMIN) for _ in range(3)]
    request = await requested(sam, store, match, "settle_market", **about(market, result="lost"))
    other = await requested(eve, store, match, "void_market", void_reason_id="4", **about(market))
    assert (await decide(ada, other, "consent")).status_code == 303
    late = await ada.post(f"/console/consents/{request.id}/consent", fingerprint=request.fingerprint)
    assert late.status_code == 409 and "not what" not in late.text
    assert "It would do something else now" in unescape(late.text) and 'id="moved"' in late.text
    assert "rollback_bet_cancel" in late.text
    assert (await decide(ada, request, "consent")).status_code == 303
    assert (await market_of(store, match, market)).result is Result.LOST
    again = await ada.post(f"/console/consents/{request.id}/consent", fingerprint="x")
    assert again.status_code == 409 and "consented already" in again.text


async def test_what_cannot_be_done_any_more_can_be_refused(
    sign_in: SignIn, store: Store, old: tuple[Match, Market]
) -> None:
    match, market = old
    sam, ada = await sign_in(OperatorRole.SETTLER), await sign_in(OperatorRole.SETTLER)
    first, second = [
        await requested(sam, store, match, "settle_market", **about(market, result="lost")) for _ in range(2)
    ]
    await decide(ada, first, "consent")
    page = await ada.get(f"/console/consents/{second.id}")
    assert page.status_code == 200 and "by an operator already" in page.text
    assert f"/consents/{second.id}/consent" not in page.text
    assert (await decide(ada, second, "refuse", reason="done")).status_code == 303
    async with store.autocommit() as tx:
        states = [each.state(LONG_AGO) for each in await consent_requests.listing(tx, limit=2)]
        assert len(await history.ledger(tx, match.id)) == 3
    assert states == [ConsentState.REFUSED, ConsentState.GIVEN]


async def test_who_may_not_give_a_command_may_not_consent_to_its_undoing(
    sign_in: SignIn, store: Store, old: tuple[Match, Market]
) -> None:
    match, market = old
    settler, admin = await sign_in(OperatorRole.SETTLER), await sign_in(OperatorRole.ADMIN)
    trader = await sign_in(OperatorRole.TRADER)
    rolled_back = await requested(settler, store, match, "roll_back_market", **about(market))
    assert (await decide(trader, rolled_back, "consent")).status_code == 403
    assert (await decide(admin, rolled_back, "consent")).status_code == 303
    assert (await done(settler, match, "undo", of="1")).status_code == 303, "it is no old result"


async def test_there_is_no_such_request(sign_in: SignIn) -> None:
    person = await sign_in(OperatorRole.ADMIN)
    assert (await person.get("/console/consents/99")).status_code == 404
    assert (await person.post("/console/consents/99/consent", fingerprint="x")).status_code == 404
