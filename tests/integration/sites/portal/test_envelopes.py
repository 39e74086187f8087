"""Envelopes in the portal: what a tenant sees of the change log, and what it must not see."""

import re
from decimal import Decimal
from html import unescape

import pytest
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer
from app.domain.market import MarketStatus
from app.domain.tenant import Role
from app.domain.tenant_offer import NO_CHANGES
from app.kit.clock import system_clock
from app.settings import Settings
from app.store import changes, tenants
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import SCRIPT, Person
from tests.support.story import Story, offer
from tests.support.tenants import book, give_vhost, switch

PAGE = "/portal/envelopes"


@pytest.fixture
def sign_in(sign_in: SignIn, store: Store) -> SignIn:
    """As everywhere; every tenant has a vhost, as far as the store knows."""

    async def with_vhost(role: Role = Role.OWNER, slug: str = "acme") -> Person:
        person = await sign_in(role, slug)
        await give_vhost(store, slug)
        return person

    return with_vhost


async def listed(person: Person, query: str = "") -> list[int]:
    """The seqs on all pages of a search."""
    found: list[int] = []
    path = f"{PAGE}?{query}"
    for _ in range(20):
        page = await person.get(path)
        assert page.status_code == 200, page.text
        found += map(int, re.findall(r'<a href="/portal/envelopes/(\d+)">', page.text))
        older = re.search(r'<a href="(/portal/envelopes\?[^"]*before=[^"]*)"', page.text)
        if older is None:
            return found
        path = unescape(older[1])
    raise AssertionError("the pages have no end")


async def seqs(store: Store, condition: str = "true") -> list[int]:
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            f"SELECT DISTINCT envelope_seq FROM change WHERE message <> '' AND {condition} ORDER BY 1 DESC"
        )
    return [row["envelope_seq"] for row in rows]


async def test_recent_envelopes_are_found_by_match_message_type_and_time(
    sign_in: SignIn, store: Store
) -> None:
    person, story = await sign_in(Role.READER), Story(store)
    first, second = await story.match(), await story.match()
    for number in range(60):
        await story.offer(first, offer(number))
    between = story.at
    await story.offer(second, offer(1))
    await story.settle(second, offer(1))
    everything = await seqs(store)
    assert await listed(person) == everything and len(everything) > 60
    own = await seqs(store, f"match_id = '{second.id}'")
    assert await listed(person, f"match=od:match:{second.number}") == own
    assert await listed(person, f"match={second.id}") == own
    assert await listed(person, "message=bet_settlement") == await seqs(store, "message = 'bet_settlement'")
    assert await listed(person, "type=13&message=") == await seqs(store, "key LIKE '13:%'")
    assert await listed(person, "type=1") == []
    assert await listed(person, f"from={between + 1}") == await seqs(store, f"at > {between}")
    assert await listed(person, f"to={between}") == await seqs(store, f"at <= {between}")


async def test_a_page_says_how_far_the_log_reaches_back(sign_in: SignIn, store: Store) -> None:
    person, story = await sign_in(Role.READER), Story(store, lambda: 1_932_921_000_000)
    assert "The change log is empty" in (await person.get(PAGE)).text
    await story.offer(await story.match(), offer(1))
    assert 'reaches back to <time datetime="2031-04-02T18:30:00' in (await person.get(PAGE)).text


async def test_a_match_that_is_not_booked_is_not_shown(sign_in: SignIn, store: Store) -> None:
    person, story = await sign_in(), Story(store)
    match = await story.match(offer(1))
    [seq] = await listed(person)
    async with store.transaction() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        await tenants.unbook(tx, tenant.id, match.id)
    assert await listed(person) == []
    stranger = await sign_in(Role.OWNER, "beta")
    assert await listed(stranger) == [seq], "another tenant still has it"
    missing = [await person.get(f"{PAGE}/{seq}"), await person.get(f"{PAGE}/{seq}/body")]
    missing += [await person.get(f"{PAGE}?match=od:match:{match.number}"), await person.get(f"{PAGE}/999999")]
    missing += [await person.get(f"{PAGE}?match=od:match:999"), await person.get(f"{PAGE}/{10**30}")]
    assert {each.status_code for each in missing} == {404}
    assert all("Northwind" not in each.text for each in missing)


async def test_without_a_vhost_nothing_was_published(sign_in: SignIn, store: Store) -> None:
    person, story = await sign_in(), Story(store)
    match = await story.match(offer(1))
    [seq] = await listed(person)
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant SET amqp = false")
    assert await listed(person) == [] and "no vhost yet" in (await person.get(PAGE)).text
    for path in (f"/{seq}", f"/{seq}/body", f"?match={match.id}"):
        assert (await person.get(PAGE + path)).status_code == 404, path


@pytest.mark.parametrize("probabilities", [False, True])
async def test_the_body_is_the_one_that_is_published(
    sign_in: SignIn, store: Store, settings: Settings, probabilities: bool
) -> None:
    person, story = await sign_in(Role.READER), Story(store)
    match = await story.match()
    for number in (1, 2, 3):
        await story.offer(match, offer(number))
    async with store.transaction() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        await tx.execute("UPDATE tenant SET probabilities = $2 WHERE id = $1", tenant.id, probabilities)
        rows = await changes.read(tx, 0, 1_000)
    renderer = EnvelopeRenderer(settings.exchange, settings.producer_id)
    before, envelope, after = list(renderer.envelopes(rows))[-3:]
    message = envelope.rendered_for(NO_CHANGES, probabilities=probabilities)[0]
    assert (b"probabilit" in message.body) is probabilities
    body = await person.get(f"{PAGE}/{envelope.seq}/body")
    assert body.content == message.body and body.headers["content-disposition"].startswith("attachment")
    page = unescape((await person.get(f"{PAGE}/{envelope.seq}")).text)
    assert f">{message.body.decode()}</pre>" in page
    assert message.routing_key in page
    for name, value in message.headers.items():
        assert f"<code>{name}</code></th><td><code>{value}</code>" in page
    assert f'"{PAGE}/{before.seq}"' in page and f'"{PAGE}/{after.seq}"' in page


async def test_only_who_may_recover_is_offered_it(sign_in: SignIn, store: Store) -> None:
    reader, trader, story = await sign_in(Role.READER), await sign_in(Role.TRADER), Story(store)
    await story.offer(await story.match(), offer(1))
    [seq] = await listed(reader)
    for path in (PAGE, f"{PAGE}/{seq}"):
        assert "/portal/recoveries?since" not in (await reader.get(path)).text
        assert 'action="/portal/recoveries"' not in (await reader.get(path)).text
    assert f"/portal/recoveries?since={story.at}" in (await trader.get(PAGE)).text
    assert f'name="since" value="{story.at}"' in (await trader.get(f"{PAGE}/{seq}")).text


async def test_names_are_no_markup(sign_in: SignIn, store: Store) -> None:
    person, story = await sign_in(), Story(store)
    await story.match(offer(1), number=77, home=SCRIPT)
    page = await person.get(f"{PAGE}?match=od:match:77")
    assert SCRIPT not in page.text and "&lt;script&gt;" in page.text
    echoed = await person.get(f'{PAGE}?match="><script>')
    assert echoed.status_code == 422 and "<script>" not in echoed.text.replace("<script src", "")


async def test_what_cannot_be_searched_is_refused_with_a_sentence(sign_in: SignIn) -> None:
    person = await sign_in()
    wrong = [
        "match=x",
        "message=alive",
        "type=0",
        "type=x",
        "from=x",
        "to=2031-02-30T10:00",
        "before=x",
        "y=1",
    ]
    for query in wrong:
        page = await person.get(f"{PAGE}?{query}")
        assert page.status_code == 422 and 'role="alert"' in page.text, query


async def names(person: Person, query: str = "") -> list[tuple[int, str]]:
    """The seq and the name of each envelope on the first page of a search."""
    text = (await person.get(f"{PAGE}?{query}")).text
    rows = re.findall(r'<a href="/portal/envelopes/(\d+)">.*?</tr>', text, re.DOTALL)
    kinds = re.findall(r"(odds_change|bet_settlement)(?=</)", text.partition("<tbody>")[2])
    return list(zip(map(int, rows), kinds, strict=True))


async def test_envelopes_of_types_that_are_off_are_listed_as_the_tenant_received_them(
    sign_in: SignIn, store: Store
) -> None:
    """A switch is an `odds_change` to one tenant; a settlement of which nothing is left is one too."""
    person, other, story = await sign_in(Role.READER), await sign_in(Role.READER, "beta"), Story(store)
    match = await story.match(offer(1))
    await switch(store, False)
    await story.offer(match, offer(2))
    await story.settle(match, offer(1))
    await story.settle(match, offer(2))
    everything = await seqs(store)
    assert [seq for seq, _ in await names(other)] == everything
    own = await names(person)
    added = [seq for seq, _ in own if seq not in everything]
    assert len(added) == 1 and len(own) == len(everything) + 1
    for seq, name in own:
        page = await person.get(f"{PAGE}/{seq}")
        assert page.status_code == 200 and f".{name}." in page.text, name
    settled, kept = [seq for seq, name in await names(other) if name == "bet_settlement"]
    assert dict(own)[settled] == "odds_change" and dict(own)[kept] == "bet_settlement"
    assert await listed(person, "message=bet_settlement") == [kept]
    found = await listed(person, "type=13")
    assert added[0] in found and kept in found and settled not in found
    assert (await other.get(f"{PAGE}/{added[0]}")).status_code == 404
    assert await listed(other) == everything
    following = [seq for seq, _ in own if seq > added[0]][-1]
    assert f'"{PAGE}/{added[0]}"' in (await person.get(f"{PAGE}/{following}")).text
    assert f'"{PAGE}/{added[0]}"' not in (await other.get(f"{PAGE}/{following}")).text


async def test_the_last_and_first_message_of_a_booking_are_the_tenants_alone(
    sign_in: SignIn, store: Store
) -> None:
    """Given back, a match is listed up to its last message; booked again, from its first one on, too."""
    person, other, story = await sign_in(Role.READER), await sign_in(Role.READER, "beta"), Story(store)
    match = await story.match(offer(1), offer(2, type_id=14))
    everything = await seqs(store)
    await book(store, match, False, now=1)
    last, *earlier = await listed(person)
    assert earlier == everything
    await book(store, match, True, now=1)
    own = await listed(person)
    first = own[0]
    assert own[1] == last
    assert own[2:] == everything == await listed(other) and first > last
    for seq, status in ((last, "-1"), (first, "1")):
        body = (await person.get(f"{PAGE}/{seq}/body")).text
        assert body.count("<market ") == body.count(f'status="{status}"') == 2
        assert (await other.get(f"{PAGE}/{seq}")).status_code == 404
    assert await listed(person, "type=14") == own
    assert f'"{PAGE}/{last}"' in (await person.get(f"{PAGE}/{first}")).text


async def test_what_was_changed_while_a_match_was_given_back_is_not_shown(
    sign_in: SignIn, store: Store
) -> None:
    """In no list and on no page of its own, while it is given back and once it is booked again."""
    person, other, story = await sign_in(Role.READER), await sign_in(Role.READER, "beta"), Story(store)
    match, _ = await story.match(offer(1)), await story.match(offer(1))
    before = await listed(person)
    await book(store, match, False)
    [last] = set(await listed(person)) - set(before)
    await story.offer(match, offer(2))
    [left_out] = set(await listed(other)) - set(before)
    assert await listed(person) == [last, *before]
    ours = f"match=od:match:{match.number}"
    assert await listed(person, ours) == [last, before[1]]
    await book(store, match, True)
    [first] = set(await listed(person)) - {last, *before}
    await story.offer(match, offer(3))
    [newest] = set(await listed(other)) - {left_out, *before}
    assert await listed(person) == [newest, first, last, *before]
    assert await listed(person, ours) == [newest, first, last, before[1]]
    assert await listed(person, "type=13") == [newest, first, last, *before]
    for path in (f"{PAGE}/{left_out}", f"{PAGE}/{left_out}/body"):
        assert ((await person.get(path)).status_code, (await other.get(path)).status_code) == (404, 200)
    around = (await person.get(f"{PAGE}/{first}")).text
    assert f'"{PAGE}/{last}"' in around and f'"{PAGE}/{newest}"' in around
    around = (await person.get(f"{PAGE}/{last}")).text
    assert f'"{PAGE}/{before[1]}"' in around and f'"{PAGE}/{first}"' in around


async def test_a_search_by_type_finds_only_what_lists_the_type_to_the_tenant(
    sign_in: SignIn, store: Store
) -> None:
    """Found are the envelopes whose bodies have a market of the type, whatever changes while it is off."""
    person, other, story = await sign_in(Role.READER), await sign_in(Role.READER, "beta"), Story(store)
    kept = offer(1)
    match = await story.match(kept, offer(2))
    await story.settle(match, offer(2))
    await switch(store, False)
    repriced = replace(kept, odds=Decimal("2.1"))
    suspended = replace(repriced, status=MarketStatus.SUSPENDED, reason="data is missing")
    for changed in (repriced, suspended, kept, offer(3)):
        await story.offer(match, changed)
    behind = Story(store, lambda: system_clock() - 60_000)
    for odds in (offer(4).odds, Decimal("1.9")):
        await behind.offer(match, offer(4, odds=odds))
    await story.take_back(match, offer(2))
    for changed in (offer(2, settled_by="engine"), offer(2, settled_by="engine", odds=Decimal("1.5"))):
        await story.offer(match, changed)
    await story.settle(match, kept)
    await switch(store, True)
    await story.offer(match, replace(offer(3), odds=Decimal("1.7")))
    for reader in (person, other):
        everything = await listed(reader)
        bodies = [(await reader.get(f"{PAGE}/{seq}/body")).text for seq in everything]
        having = [seq for seq, body in zip(everything, bodies, strict=True) if '<market id="13"' in body]
        assert await listed(reader, "type=13") == having
        assert await listed(reader, f"type=13&match={match.id}") == having
        assert len(having) >= 5 and (reader is other or len(having) < len(everything) - 3)
