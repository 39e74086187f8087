"""Commands on a match: what is shown before, what is done, and who may do it."""

import re
from html import unescape
from typing import Any

import pytest

from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match
from app.domain.tenant import OperatorRole
from app.sites.console.command_forms import FORMS
from app.sites.console.site import Permission, allowed, market_path
from app.store import log_state
from app.store.connections import Store
from app.store.log_state import LogSender
from tests.integration.sites.console.conftest import SignIn
from tests.support import stored
from tests.support.portal import Person
from tests.support.story import Story, offer

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


def path_of(match: Match) -> str:
    return f"/console/matches/{match_urn(match.number)}"


def about(market: Market, **fields: str) -> dict[str, str]:
    return {"market_id": str(market.type_id), "specifiers": market.specifiers, "reason": "a test"} | fields


async def market_of(store: Store, match: Match, market: Market) -> Market:
    return (await stored.book(store, match))[market.key]


def hidden_in(page: Any, match: Match) -> dict[str, str]:
    """The fields of the form with which a page offers to do the command that it shows."""
    form = page.text.partition(f'action="{path_of(match)}/commands"')[2]
    return {name: unescape(value) for name, value in _HIDDEN.findall(form)}


async def done(person: Person, match: Match, command: str, **fields: str) -> Any:
    """Preview a command, and submit the form of its preview."""
    preview = await person.post(f"{path_of(match)}/preview", command=command, **fields)
    assert preview.status_code == 200, preview.text
    return await person.post(f"{path_of(match)}/commands", **hidden_in(preview, match))


@pytest.fixture
async def settled(store: Store) -> tuple[Match, Market]:
    """A match with a market that was settled as won."""
    return await Story(store).settled()


async def test_a_preview_shows_entries_and_envelopes_and_writes_nothing(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market]
) -> None:
    person, (match, market) = await sign_in(OperatorRole.SETTLER), settled
    before = await stored.ledger(store, match)
    page = await person.post(
        f"{path_of(match)}/preview", command="settle_market", **about(market, result="lost")
    )
    assert page.status_code == 200
    assert "Entries of the ledger (2)" in page.text
    order = [page.text.index(each) for each in ("rollback_bet_settlement", "<code>bet_settlement")]
    assert order == sorted(order)
    assert await stored.ledger(store, match) == before
    assert await stored.records(store, match.id) == []


async def test_only_what_was_chosen_has_the_name_of_its_choice(sign_in: SignIn, store: Store) -> None:
    """Neither the number of a market type that is also one of a void reason, nor a reason in words."""
    market = offer(1, type_id=15, specifiers="map=1|round=1")
    person, match = await sign_in(), await Story(store).match(market)
    page = await person.post(
        f"{path_of(match)}/preview",
        command="void_market",
        **about(market, void_reason_id="4", reason="lost"),
    )
    shown = re.findall(r"<dd>(.*?)</dd>", page.text.partition("</main>")[0])
    assert shown == ["4: did not take place", "lost"]
    assert "<b>Map 1, round 1: first kill to be a headshot</b>" in page.text


async def test_a_wrong_settlement_is_rolled_back_and_settled(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market]
) -> None:
    person, (match, market) = await sign_in(OperatorRole.SETTLER), settled
    own = market_path(match.number, market.key)
    assert (await done(person, match, "roll_back_market", **about(market, back=own))).status_code == 303
    assert (await market_of(store, match, market)).held
    response = await done(person, match, "settle_market", **about(market, result="lost", back=own))
    assert response.headers["location"].startswith(own)
    after = await market_of(store, match, market)
    assert after.status is MarketStatus.SETTLED and after.result is Result.LOST
    records = await stored.records(store, match.id)
    assert {each.actor for each in records} == {f"operator {person.email}"}
    assert [each.action for each in records] == ["match.settle_market", "match.roll_back_market"]
    page = await person.get(own)
    assert "lost" in page.text and page.text.count("/console/settlements/") >= 3


async def test_a_market_offers_the_commands_that_it_can_be_given(
    sign_in: SignIn, settled: tuple[Match, Market]
) -> None:
    """What is not on offer is neither priced nor suspended, and what has no result is not rolled back."""
    person, (match, market) = await sign_in(OperatorRole.ADMIN), settled

    async def offered() -> set[str]:
        page = await person.get(market_path(match.number, market.key))
        return set(re.findall(r'data-command="(\w+)"', page.text))

    assert await offered() == {"settle_market", "void_market", "roll_back_market", "close_type", "open_type"}
    await done(person, match, "roll_back_market", **about(market))
    held = await offered()
    assert {"roll_back_market", "settle_market", "suspend_market", "hold_probability"} < held
    await done(person, match, "roll_back_market", **about(market, release="true"))
    assert await offered() == held - {"roll_back_market"}


async def test_a_form_that_is_sent_twice_is_executed_once(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market]
) -> None:
    person, (match, market) = await sign_in(OperatorRole.SETTLER), settled
    fields = about(market, command="roll_back_market", request_id="console:once")
    for _ in range(2):
        assert (await person.post(f"{path_of(match)}/commands", **fields)).status_code == 303
    assert len(await stored.records(store, match.id)) == 1


@pytest.mark.parametrize("role", list(OperatorRole))
async def test_a_role_may_give_its_commands_and_no_others(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market], role: OperatorRole
) -> None:
    person, (match, market) = await sign_in(role), settled
    await Story(store).offer(match, offer(2, group="g"))
    of_markets = [await person.get(market_path(match.number, key)) for key in (market.key, offer(2).key)]
    pages = {
        "match": (await person.get(path_of(match))).text,
        "market": "".join(page.text for page in of_markets),
    }
    values = about(market, result="lost", void_reason_id="4", winner="team_a", ct="team_a", source="x")
    for tag, form in FORMS.items():
        may = form.permission in allowed(role)
        if form.about in pages:
            assert (f'data-command="{tag}"' in pages[form.about]) is may, tag
        preview = await person.post(f"{path_of(match)}/preview", command=tag, **values)
        assert (preview.status_code != 403) is may, tag
        if not may:
            refused = await person.post(f"{path_of(match)}/commands", command=tag, **values)
            assert refused.status_code == 403, tag
    assert await stored.records(store, match.id) == []


async def test_a_refused_command_says_why_and_changes_nothing(
    sign_in: SignIn, store: Store, settled: tuple[Match, Market]
) -> None:
    person, (match, market) = await sign_in(OperatorRole.ADMIN), settled
    before = await market_of(store, match, market)
    wrong = {
        422: about(market, command="settle_market", result="level"),
        404: about(offer(9), command="void_market", void_reason_id="4"),
    }
    for status, fields in wrong.items():
        for action in ("preview", "commands"):
            response = await person.post(f"{path_of(match)}/{action}", **fields)
            assert response.status_code == status and 'role="alert"' in response.text
    missing = about(market, command="settle_market", result="lost") | {"reason": ""}
    assert (await person.post(f"{path_of(match)}/commands", **missing)).status_code == 422
    assert await market_of(store, match, market) == before


@pytest.mark.parametrize("back", ["https://evil.test/", "//evil.test", "/console/matches/od:match:9"])
async def test_a_command_leads_back_to_its_match_only(
    sign_in: SignIn, settled: tuple[Match, Market], back: str
) -> None:
    person, (match, market) = await sign_in(OperatorRole.ADMIN), settled
    fields = about(market, command="roll_back_market", back=back)
    response = await person.post(f"{path_of(match)}/commands", **fields)
    assert response.headers["location"] == f"{path_of(match)}?undo=1&done=command_done"


async def test_the_followed_log_source_is_handed_over(sign_in: SignIn, store: Store) -> None:
    person, match = await sign_in(OperatorRole.TRADER), await Story(store).match()
    senders = [
        LogSender(
            source="a",
            server="a",
            state="followed",
            first_seen=1,
            last_seen=2,
            unread_lines=3,
            unread_line="hello",
        ),
        LogSender(source="b", server="b", state="refused", claims=True, first_seen=1, last_seen=2),
    ]
    async with store.transaction() as tx:
        await tx.write(log_state.save_senders(match.id, senders))
    page = await person.get(path_of(match))
    assert "claims the match" in page.text
    assert '<td>3 <code class="long">hello</code></td>' in page.text
    assert (await done(person, match, "follow_source", source="b")).status_code == 303
    async with store.autocommit() as tx:
        states = {each.source: each.state for each in await log_state.senders(tx, match.id)}
    assert states == {"a": "dismissed", "b": "followed"}


async def test_the_later_of_two_is_told_who_did_what_and_loses_nothing(
    sign_in: SignIn, settled: tuple[Match, Market]
) -> None:
    first, second = await sign_in(OperatorRole.TRADER), await sign_in(OperatorRole.TRADER)
    match, _ = settled
    fields = {"command": "suspend", "reason": "the later reason", "revision": "0"}
    preview = await second.post(f"{path_of(match)}/preview", **fields)
    assert preview.status_code == 200
    assert (await done(first, match, "rate", strength_a="1600", strength_b="1500")).status_code == 303
    for action in ("preview", "commands"):
        refused = await second.post(f"{path_of(match)}/{action}", **fields)
        assert refused.status_code == 409
        assert f"operator {first.email} gave the command “Set strengths”" in refused.text
        assert "the later reason" in refused.text
    again = await second.post(f"{path_of(match)}/commands", **hidden_in(refused, match))
    assert again.status_code == 303


async def test_a_probability_is_held_and_the_command_taken_back(sign_in: SignIn, store: Store) -> None:
    person = await sign_in(OperatorRole.TRADER)
    match = await Story(store).match(home_strength=1500.0, away_strength=1500.0)
    assert (await done(person, match, "rate", strength_a="1600", strength_b="1500")).status_code == 303
    winner = (await stored.book(store, match))[1, "team=home"]
    fields = about(winner, probability="0.4")
    assert (await done(person, match, "hold_probability", **fields)).status_code == 303
    assert (await market_of(store, match, winner)).probability == pytest.approx(0.4)
    page = await person.get(path_of(match))
    assert page.text.count('value="undo"') == 1, "strengths that were set are not taken back, but set again"
    for recorded in (page, await person.get("/console/audit")):
        assert "match.hold_probability" in recorded.text and ">specifiers<" not in recorded.text
    assert (await done(person, match, "undo", of="2")).status_code == 303
    assert (await market_of(store, match, winner)).probability == pytest.approx(winner.probability)


async def test_who_may_not_give_a_command_may_not_take_it_back(
    sign_in: SignIn, settled: tuple[Match, Market]
) -> None:
    settler, trader = await sign_in(OperatorRole.SETTLER), await sign_in(OperatorRole.TRADER)
    match, market = settled
    assert (await done(settler, match, "roll_back_market", **about(market))).status_code == 303
    refused = await trader.post(f"{path_of(match)}/commands", command="undo", of="1")
    assert refused.status_code == 403
    assert 'value="undo"' not in (await trader.get(path_of(match))).text


def test_every_permission_is_held_by_the_administrator() -> None:
    assert allowed(OperatorRole.ADMIN) == frozenset(Permission)
    assert allowed(OperatorRole.VIEWER) == allowed(None) == frozenset()
