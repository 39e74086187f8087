"""Consent over HTTP and on the command line: keys of one holder are one person, another's is a second one."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from app.cli import main, runtime
from app.domain.ids import match_urn
from app.domain.market import Market, Result
from app.domain.match import Match
from app.settings import Settings
from app.store.connections import Store, open_store
from tests.support import stored
from tests.support.command_line import set_environment
from tests.support.story import Story
from tests.support.web import IssueKey, serving

LONG_AGO = 1_700_000_000_000


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(replace(settings, consent_seconds=60)) as client:
        yield client


async def settled_long_ago(store: Store) -> tuple[Match, Market]:
    return await Story(store, lambda: LONG_AGO).settled()


async def result_of(store: Store, match: Match, market: Market) -> Result | None:
    return (await stored.book(store, match))[market.key].result


def command(market: Market) -> dict[str, Any]:
    about = {"market_id": market.type_id, "specifiers": market.specifiers}
    return {"command": "settle_market", "result": "lost", "reason": "wrong call", **about}


async def test_a_command_waits_for_the_key_of_another_holder(
    client: httpx.AsyncClient, store: Store, issue: IssueKey
) -> None:
    match, market = await settled_long_ago(store)
    house, again, other = [
        {"X-API-Key": await issue(holder, bundles=("cs2.operator",))}
        for holder in ("house", "house", "second")
    ]
    path = f"/ops/v1/matches/{match.id}/commands"
    preview = (await client.post(f"{path}/preview", headers=house, json=command(market))).json()["data"]
    assert preview["needs_consent"] is True
    sent = [
        await client.post(path, headers=key, json=command(market) | {"request_id": "t1"})
        for key in (house, again)
    ]
    assert [each.status_code for each in sent] == [202, 202]
    waiting, repeated = (each.json()["data"] for each in sent)
    assert waiting == repeated, "an id is its holder's"
    assert (waiting["state"], waiting["command"]) == ("waiting", "settle_market")
    own = f"/ops/v1/consents/{waiting['id']}"
    shown = (await client.get(f"{own}/preview", headers=other)).json()["data"]
    assert shown["consent"] == waiting
    assert shown["preview"]["entries"] == preview["entries"] and len(preview["entries"]) == 2
    seen = {"decision": "consent", "fingerprint": shown["preview"]["fingerprint"]}
    for key in (house, again):
        refused = await client.post(f"{own}/decision", headers=key, json=seen)
        assert refused.status_code == 403 and "second person" in refused.json()["detail"]
    stale = await client.post(f"{own}/decision", headers=other, json=seen | {"fingerprint": "other"})
    assert stale.status_code == 409
    assert await result_of(store, match, market) is Result.WON
    given = await client.post(f"{own}/decision", headers=other, json=seen)
    assert given.status_code == 200, given.text
    assert given.json()["data"]["decided_by"].startswith("key:second/")
    assert await result_of(store, match, market) is Result.LOST
    (executed,) = (await client.get(path, headers=house)).json()["data"]
    assert executed["actor"].startswith("key:house/")
    assert executed["consent_by"].startswith("key:second/")
    late = await client.post(f"{own}/decision", headers=other, json={"decision": "refuse"})
    assert late.status_code == 409
    listed = (await client.get(f"/ops/v1/consents?match={match_urn(match.number)}", headers=house)).json()
    assert listed["data"] == [given.json()["data"]]


async def test_a_match_that_cannot_be_read_is_named(client: httpx.AsyncClient, issue: IssueKey) -> None:
    house = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    for path in ("consents", "alerts"):
        answer = await client.get(f"/ops/v1/{path}?match=x", headers=house)
        assert [field["loc"] for field in answer.json()["detail"]] == [["query", "match"]]


def test_it_is_decided_on_the_command_line(
    anyio_backend: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_environment(monkeypatch, replace(settings, consent_seconds=60))

    async def made() -> tuple[Match, Market]:
        async with await open_store(settings.database_url, 2) as store:
            return await settled_long_ago(store)

    match, market = asyncio.run(made())
    urn = match_urn(match.number)
    fields = [f"{name}={value}" for name, value in command(market).items() if name != "command"]

    def run(*words: str, fails: bool = False) -> str:
        result = CliRunner().invoke(main, words)
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    def somebody(name: str) -> None:
        monkeypatch.setattr(runtime.getpass, "getuser", lambda: name)

    somebody("ann")
    assert run("consent", "list") == "no command waits for consent\n"
    assert "a second person must consent" in run("match", "preview", urn, "settle_market", *fields)
    for _ in range(2):
        ordered = run("match", "order", urn, "settle_market", *fields)
        assert "settle_market waits for a second person" in ordered
    shown = run("consent", "show", "1")
    assert "ledger: rollback_bet_settlement" in shown and "sent by cli:ann" in shown
    fingerprint = shown.rsplit(" ", 1)[-1].strip()
    assert "second person must consent" in run("consent", "give", "1", fingerprint, fails=True)
    assert "withdrawn by cli:ann" in run("consent", "refuse", "2")
    somebody("ben")
    assert "something else now" in run("consent", "give", "1", "other", fails=True)
    assert "settle_market given by cli:ben" in run("consent", "give", "1", fingerprint)
    assert len(re.findall("^consent ", run("consent", "list", "--all"), re.MULTILINE)) == 2
    assert '"consent_by": "cli:ben"' in run("match", "record", urn)
