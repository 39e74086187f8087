"""A market type that is switched off for one of two tenants: what REST shows to each."""

from typing import Any

import httpx
import pytest
from lxml import etree

from app.domain.ids import match_urn
from app.domain.market import specifier_values
from app.domain.match import Match
from tests.integration.rest.test_selfcheck import active, check, held, kinds, suspended
from tests.support.eventually import eventually
from tests.support.processes import ROOT
from tests.support.stored import head
from tests.support.story import Story, offer
from tests.support.tenants import ROUND_WINNER, switch
from tests.support.web import Headers, IssueKey

OTHER = 1
SCHEMA = etree.XMLSchema(etree.parse(ROOT / "schemas" / "feed.xsd"))


@pytest.fixture
async def other(issue: IssueKey) -> Headers:
    """Headers with the key of another bookmaker, of the same scopes."""
    return {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}


class Reader:
    """Two tenants' requests; round winners are switched for the first one alone."""

    def __init__(self, client: httpx.AsyncClient, story: Story, match: Match, keys: list[Headers]) -> None:
        self.client, self.story, self.match, self.keys = client, story, match, keys

    async def switch(self, on: bool) -> None:
        """Wait until it is in force, as a command in another process must."""
        await switch(self.story.store, on)
        wanted = "active" if on else "suspended"

        async def in_force() -> bool:
            return wanted in (await self.listed(self.keys[0])).values()

        await eventually(in_force)

    async def get(self, path: str, key: Headers, **more: str) -> httpx.Response:
        answer = await self.client.get(path.format(id=self.match.id), headers=key | more)
        return answer.raise_for_status()

    async def listed(self, key: Headers) -> dict[int, str]:
        """The open round winners of the list, by round."""
        found = (await self.get("/cs2/v1/matches/{id}/markets", key)).json()["data"]
        return {number(each["specifiers"]): each["status"] for each in found if each["id"] == ROUND_WINNER}

    async def offers(self, key: Headers) -> dict[int, str]:
        """The open round winners, by round; every representation shows the same."""
        listed = (await self.get("/cs2/v1/matches/{id}/markets", key)).json()["data"]
        whole = (await self.get("/cs2/v1/matches/{id}", key)).json()["data"]["markets"]
        xml: Any = etree.fromstring((await self.get("/cs2/v1/matches/{id}/markets.xml", key)).content)
        SCHEMA.assertValid(xml)
        assert listed == whole
        shown = {number(each["specifiers"]): each["status"] for each in listed if each["id"] == ROUND_WINNER}
        names = {"1": "active", "-1": "suspended"}
        marked = [each for each in xml.iter("market") if each.get("id") == str(ROUND_WINNER)]
        assert {number(each.get("specifiers")): names[each.get("status")] for each in marked} == shown
        return shown

    async def entries(self, key: Headers) -> list[tuple[int, str]]:
        """The ledger's entries, by round and new status; the pages of the one list, and that of the match."""
        of_match = (await self.get("/cs2/v1/matches/{id}/settlements", key)).json()
        paged: list[Any] = []
        while page := await self._page(paged[-1]["id"] if paged else 0, key):
            paged += page
        assert paged == of_match["data"] and of_match["meta"]["total"] == len(paged)
        return [(number(each["specifiers"]), each["new_status"]) for each in paged]

    async def _page(self, since: int, key: Headers) -> list[Any]:
        return (await self.get(f"/cs2/v1/settlements?limit=1&since_id={since}", key)).json()["data"]


def number(specifiers: str) -> int:
    return int(specifier_values(specifiers)["round"])


@pytest.fixture
async def reader(client: httpx.AsyncClient, story: Story, basic: Headers, other: Headers) -> Reader:
    return Reader(client, story, await story.match(), [basic, other])


async def test_what_is_shown(reader: Reader) -> None:
    story, match, (mine, others) = reader.story, reader.match, reader.keys
    await story.offer(match, offer(1), offer(2), offer(9, type_id=OTHER))
    assert await reader.offers(mine) == await reader.offers(others) == {1: "active", 2: "active"}
    await reader.switch(False)
    await story.offer(match, offer(3), offer(4))
    await story.settle(match, offer(1), offer(3))
    await eventually(lambda: shows(reader, others, {2: "active", 4: "active"}))
    assert await reader.offers(mine) == {2: "suspended"}
    await story.take_back(match, offer(1), offer(3))
    await story.settle(match, offer(1), offer(3))
    finished = [(1, "settled"), (1, "pending"), (1, "settled")]
    assert await reader.entries(mine) == finished
    assert len(await reader.entries(others)) == 2 * len(finished)
    await reader.switch(True)
    assert await reader.offers(mine) == await reader.offers(others) == {2: "active", 4: "active"}
    await story.settle(match, offer(4))
    assert await reader.entries(mine) == [*finished, (4, "settled")], "what was never offered stays left out"


async def shows(reader: Reader, key: Headers, wanted: dict[int, str]) -> bool:
    return await reader.listed(key) == wanted


async def test_a_book_is_checked_against_what_was_offered(reader: Reader) -> None:
    story, match, (mine, others) = reader.story, reader.match, reader.keys
    await story.offer(match, offer(1), offer(2))
    await reader.switch(False)
    await story.offer(match, offer(3))
    equal = await check(reader.client, mine, held(match, suspended(1), suspended(2)), complete=True)
    assert (equal["count"], equal["markets"]) == (0, 2)
    wrong = await check(reader.client, mine, held(match, active(1), suspended(2), active(3)))
    name = match_urn(match.number)
    rounds = {key: f"map=1|round={key}|team=home" for key in (1, 3)}
    assert kinds(wrong) == {(name, rounds[1]): "stale", (name, rounds[3]): "extra"}
    equal = await check(reader.client, others, held(match, active(1), active(2), active(3)), complete=True)
    assert equal["count"] == 0


async def test_who_has_not_received_the_switch_is_behind(reader: Reader) -> None:
    story, match, (mine, _) = reader.story, reader.match, reader.keys
    await story.offer(match, offer(1))
    before = await head(story.store)
    await reader.switch(False)
    for seq, behind in ((before, True), (await head(story.store), False)):
        (found,) = (await check(reader.client, mine, held(match, active(1), seq=seq)))["differences"]
        assert (found["kind"], found["behind"]) == ("stale", behind)
    await story.offer(match, offer(1, odds=offer(1).odds + 1))
    (found,) = (await check(reader.client, mine, held(match, active(1), seq=before)))["differences"]
    assert found["behind"]
