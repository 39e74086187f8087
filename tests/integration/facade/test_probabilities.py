"""What bets on a match are worth, as clients of the established layout request it."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from msgspec.structs import replace

from app.domain import scopes
from app.domain.catalogue import LOCALES, load
from app.domain.market import MarketStatus, Result
from app.domain.match import Match, Status
from app.settings import Settings
from app.store import matches
from app.store.connections import Store
from tests.support import stored
from tests.support.eventually import eventually
from tests.support.facade import detail, document
from tests.support.story import Story, offer
from tests.support.tenants import switch
from tests.support.web import Headers, IssueKey

ACTIVE, SUSPENDED, SETTLED, VOID = (offer(number) for number in range(1, 5))
LOST = offer(5)
#: Codes of `cashout_status`, as the layout's public schema has them.
AVAILABLE, UNAVAILABLE, CLOSED = "1", "-1", "-2"


@pytest.fixture
async def match(story: Story) -> Match:
    """A match with a market in each state."""
    match = await story.match(ACTIVE, SUSPENDED, SETTLED, VOID, LOST)
    await story.settle(match, SETTLED)
    await story.settle(match, LOST, result=Result.LOST)
    await story.void(match, VOID)
    stopped = replace(SUSPENDED, status=MarketStatus.SUSPENDED, reason="facts came late")
    await story.offer(match, stopped)
    return match


def address(match: Match, *rest: object) -> str:
    return "/".join(["/v1/probabilities", f"od:match:{match.number}", *(quote(str(one)) for one in rest)])


async def read(client: httpx.AsyncClient, headers: Headers, path: str) -> dict[str, Any]:
    """The markets of a valid document, by specifiers: the attributes of each, and of its only outcome."""
    found = document(await client.get(path, headers=headers), "cashout")
    return {
        one.get("specifiers"): dict(one.attrib) | {f"outcome.{k}": v for k, v in one[0].attrib.items()}
        for one in found.iter("market")
    }


async def test_each_market_with_its_probability_or_how_it_ended(
    client: httpx.AsyncClient, basic: Headers, match: Match
) -> None:
    found = await read(client, basic, address(match))
    worth = {
        key: (one["cashout_status"], one.get("outcome.probabilities"), one.get("outcome.void_factor"))
        for key, one in found.items()
    }
    assert worth == {
        ACTIVE.specifiers: (AVAILABLE, "0.500000", None),
        SUSPENDED.specifiers: (UNAVAILABLE, None, None),
        SETTLED.specifiers: (CLOSED, "1.000000", None),
        LOST.specifiers: (CLOSED, "0.000000", None),
        VOID.specifiers: (CLOSED, None, "1"),
    }
    refunded = {key for key, one in found.items() if one.get("outcome.refund_probabilities") == "1"}
    assert refunded == {VOID.specifiers}
    assert {key for key, one in found.items() if one["outcome.active"] == "1"} == {ACTIVE.specifiers}
    assert {key for key, one in found.items() if "outcome.odds" in one} == {ACTIVE.specifiers}
    named = {str(one.id): one.code for one in load().suspension_reasons}
    assert named[found[SUSPENDED.specifiers]["betstop_reason"]] == "late_data"
    assert ["betstop_reason" in one for one in found.values()].count(True) == 1


async def test_the_head_is_that_of_the_match(
    client: httpx.AsyncClient, basic: Headers, store: Store, match: Match, issue: IssueKey
) -> None:
    found = document(await client.get(address(match), headers=basic), "cashout")
    present = await stored.present(store, match)
    head = {name: found.get(name) for name in ("product", "event_id", "timestamp")}
    assert head == {
        "product": str(Settings().producer_id),
        "event_id": f"od:match:{match.number}",
        "timestamp": str(present.last_stamp),
    }
    assert [one.tag for one in found] == ["sport_event_status", "odds"]
    assert found[0].get("status") == "1" and found[1].get("betting_status") == "1"
    blind = {"x-access-token": await issue("beta", scopes=(scopes.MARKETS,), probabilities=True)}
    (odds,) = document(await client.get(address(match), headers=blind), "cashout")
    assert {one.get("specifiers") for one in odds} == {ACTIVE.specifiers, SUSPENDED.specifiers}


async def test_one_type_and_one_market(client: httpx.AsyncClient, basic: Headers, match: Match) -> None:
    every = await read(client, basic, address(match))
    assert await read(client, basic, address(match, 13)) == every
    assert await read(client, basic, address(match, "od:market:13")) == every
    turned = "|".join(reversed(ACTIVE.specifiers.split("|")))
    for specifiers in (ACTIVE.specifiers, turned):
        one = await read(client, basic, address(match, 13, specifiers))
        assert one == {ACTIVE.specifiers: every[ACTIVE.specifiers]}
    for rest in ((1,), ("x",), (13, "map=1"), (13, "=|"), (1, ACTIVE.specifiers)):
        missing = document(await client.get(address(match, *rest), headers=basic), "cashout", 404)
        assert [one.tag for one in missing] == ["response"]


async def test_how_betting_on_a_match_stands(
    client: httpx.AsyncClient, basic: Headers, store: Store, match: Match
) -> None:
    async def standing() -> tuple[str, str | None]:
        odds = document(await client.get(address(match), headers=basic), "cashout").find("odds")
        return odds.get("betting_status"), odds.get("betstop_reason")

    async def change(**fields: Any) -> None:
        async with store.transaction() as tx:
            now = replace(await matches.lock(tx, match.id), **fields)
            await tx.write([matches.save_statement(now)])

    assert await standing() == ("1", None)
    await change(suspended="a restart was announced")
    (reason,) = [one.id for one in load().suspension_reasons if one.code == "map_restarted"]
    await eventually(standing, lambda seen: seen == ("1", str(reason)))
    await change(suspended="", status=Status.FINISHED)
    await eventually(standing, lambda seen: seen == ("3", None))


async def test_a_type_that_is_switched_off(
    client: httpx.AsyncClient, basic: Headers, store: Store, match: Match, story: Story
) -> None:
    await switch(store, False)
    found = await eventually(
        lambda: read(client, basic, address(match)),
        lambda seen: seen[ACTIVE.specifiers]["cashout_status"] == UNAVAILABLE,
    )
    assert "outcome.probabilities" not in found[ACTIVE.specifiers]
    assert found[SETTLED.specifiers]["outcome.probabilities"] == "1.000000"
    await story.offer(match, replace(offer(9), first_opened_at=2**42))
    assert set(await read(client, basic, address(match))) == set(found)


async def test_who_may_read_it(
    client: httpx.AsyncClient, basic: Headers, match: Match, issue: IssueKey
) -> None:
    plain = {"x-access-token": await issue("plain", bundles=("cs2.odds.basic",))}
    weak = {"x-access-token": await issue(scopes=(scopes.READ,), probabilities=True)}
    rest: tuple[tuple[object, ...], ...] = ((), (13,), (13, ACTIVE.specifiers))
    for path in (address(match, *one) for one in rest):
        assert "probabilities" in detail(await client.get(path, headers=plain), 403)
        assert scopes.MARKETS in detail(await client.get(path, headers=weak), 403)
        await read(client, basic, path)
    for name in ("betstop_reasons", "betting_status"):
        answer = await client.get(f"/v1/descriptions/{name}.xml", headers=plain)
        document(answer, f"{name}_descriptions")


async def test_the_lists_have_every_code_in_both_languages(client: httpx.AsyncClient, basic: Headers) -> None:
    json = (await client.get("/cs2/v1/markets/suspension-reasons", headers=basic)).json()["data"]
    for name, element in (("betstop_reasons", "betstop_reason"), ("betting_status", "betting_status")):
        root = f"{name}_descriptions"
        plain = document(await client.get(f"/v1/descriptions/{name}.xml", headers=basic), root)
        texts = set()
        for locale in LOCALES:
            found = document(await client.get(f"/v1/descriptions/{locale}/{name}", headers=basic), root)
            assert {one.tag for one in found} == {element}
            assert [one.get("id") for one in found] == [one.get("id") for one in plain]
            texts.add(tuple(one.get("description") for one in found))
        assert len(texts) == 2 and tuple(one.get("description") for one in plain) in texts
        if name == "betstop_reasons":
            assert [one.get("name") for one in plain] == [one["code"] for one in json]
