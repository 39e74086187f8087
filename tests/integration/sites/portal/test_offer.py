"""Matches booked and given back, and market types switched, in the portal."""

import re

import pytest

from app.domain.match import Match, Status
from app.domain.tenant import Role
from app.store import audit, tenants
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import SCRIPT, Person, found_in
from tests.support.story import Story
from tests.support.tenants import give_vhost
from tests.support.web import IssueKey

UPCOMING = "/portal/offer?list=upcoming"


@pytest.fixture
async def sign_in(sign_in: SignIn, issue: IssueKey) -> SignIn:
    """As everywhere; tenant `acme` has a key that sees all matches."""
    await issue(bundles=("cs2.stats",))
    return sign_in


async def add_matches(store: Store, count: int) -> list[Match]:
    """Matches to come."""
    to_come = {"home": SCRIPT, "status": Status.UPCOMING}
    return [await Story(store).match(**to_come, scheduled_at=1_900_000_000_000 + n) for n in range(count)]


async def booked(store: Store, match: Match, slug: str = "acme") -> bool:
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        return match.id in await tenants.booked(tx, tenant.id, [match.id])


async def last_audit(store: Store) -> tuple[str, str]:
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        record = (await audit.listing(tx, tenant.id, limit=1))[0]
    return record.actor, record.action


@pytest.mark.parametrize("role", [Role.OWNER, Role.TRADER])
async def test_a_match_is_given_back_and_booked_again(sign_in: SignIn, store: Store, role: Role) -> None:
    person, (match, other) = await sign_in(role), await add_matches(store, 2)
    await person.get(UPCOMING)
    given = await person.post(UPCOMING, change="give_back", match=f"od:match:{match.number}")
    assert given.status_code == 303
    assert not await booked(store, match) and await booked(store, other)
    assert await last_audit(store) == (f"user {person.email}", "match.unbook")
    page = await person.get(given.headers["location"])
    assert SCRIPT not in page.text and page.text.count("<b>given back</b>") == 1
    await person.post(UPCOMING, change="book", match=f"od:match:{match.number}")
    assert await booked(store, match)


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.READER])
async def test_others_only_see_the_offer(sign_in: SignIn, store: Store, role: Role) -> None:
    person, (match,) = await sign_in(role), await add_matches(store, 1)
    for path in (UPCOMING, "/portal/market-types"):
        page = await person.get(path)
        assert page.status_code == 200 and 'type="checkbox"' not in page.text
    refused = await person.post(UPCOMING, change="give_back", match=f"od:match:{match.number}")
    assert refused.status_code == 403 and await booked(store, match)
    assert (await person.post("/portal/market-types", change="off", type="13")).status_code == 403


async def test_what_cannot_be_booked_is_said(person: Person) -> None:
    for fields, status in [
        ({"change": "book"}, 422),
        ({"change": "sell", "match": "od:match:1"}, 422),
        ({"change": "book", "match": "od:match:999999999"}, 404),
        ({"change": "book", "match": "nothing"}, 422),
    ]:
        response = await person.post(UPCOMING, **fields)
        assert response.status_code == status and 'role="alert"' in response.text, fields


async def test_tenants_see_no_more_matches_than_their_keys(
    sign_in: SignIn, store: Store, issue: IssueKey
) -> None:
    """Finished-only keys: none in play and none to come, not even whether there are such. A vhost makes
    these the tenant's own; without it and without a key there is nothing to see."""
    match, *_ = await add_matches(store, 2)
    urn, unknown = f"od:match:{match.number}", "od:match:999999999"
    await issue("past", bundles=("cs2.scoretock",))
    past, keyless = await sign_in(Role.OWNER, "past"), await sign_in(Role.OWNER, "keyless")
    for path in (UPCOMING, "/portal/offer"):
        page = await past.get(path)
        assert page.status_code == 200 and "finished matches only" in page.text
        assert urn not in page.text and "Harbour" not in page.text
        assert (await keyless.get(path)).status_code == 403
    hidden, missing = [await past.post(UPCOMING, change="give_back", match=ref) for ref in (urn, unknown)]
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace(urn, unknown) == missing.text
    assert await booked(store, match, "past")
    await give_vhost(store, "past")
    assert urn in (await past.get(UPCOMING)).text
    assert (await past.post(UPCOMING, change="give_back", match=urn)).status_code == 303
    assert not await booked(store, match, "past")


async def test_many_matches_are_paged(person: Person, store: Store) -> None:
    await add_matches(store, 60)
    page = await person.get(UPCOMING)
    shown = set(re.findall(r"od:match:\d+", page.text))
    assert len(shown) == 50
    rest = await person.get(found_in(page.text, r'href="(/portal/offer\?list=upcoming&amp;after=[^"]+)"'))
    assert not shown & set(re.findall(r"od:match:\d+", rest.text))


async def test_market_types_are_switched_in_one_transaction(sign_in: SignIn, store: Store) -> None:
    person = await sign_in(Role.TRADER)
    path = "/portal/market-types"
    page = await person.get(path)
    types = re.findall(r'name="type" value="(\d+)"', page.text)
    assert len(types) > 20 and "<b>off</b>" not in page.text
    assert (await person.post(path, change="off", type=types[:2])).status_code == 303
    assert (await person.get(path)).text.count("<b>off</b>") == 2
    assert await last_audit(store) == (f"user {person.email}", "tenant.market_types_off")
    for wrong in ({"change": "off", "type": [types[2], "999999"]}, {"change": "off"}, {"change": "x"}):
        assert (await person.post(path, **wrong)).status_code == 422
    assert (await person.get(path)).text.count("<b>off</b>") == 2
    await person.post(path, change="on", type=types)
    assert "<b>off</b>" not in (await person.get(path)).text
