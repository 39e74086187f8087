"""Replays in the portal: chosen, started, watched and stopped."""

from typing import Any

import pytest

from app.domain.match import Match
from app.domain.replay import ReplayJob, ReplayOptions, ReplayState
from app.domain.tenant import Role
from app.store import audit, replay_jobs
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.story import Story, offer
from tests.support.tenants import book, give_vhost

PAGE = "/portal/replays"
FORM: dict[str, Any] = {"pace": "10", "pause": "10", "node_id": ""}


@pytest.fixture
async def acme(store: Store, sign_in: SignIn) -> Any:
    """The tenant, with a vhost as far as the store knows."""
    await sign_in(Role.READER)
    return await give_vhost(store)


@pytest.fixture
async def over(store: Store) -> list[Match]:
    """Three matches that are over; the tenant has not booked the last one."""
    story = Story(store)
    found = [await story.match(offer(1)) for _ in range(3)]
    for match in found:
        await story.finish(match)
    return found


async def jobs(store: Store, tenant: Any) -> list[ReplayJob]:
    async with store.autocommit() as tx:
        return await replay_jobs.listing(tx, tenant.id, limit=10)


async def test_matches_are_chosen_replayed_watched_and_stopped(
    sign_in: SignIn, store: Store, acme: Any, over: list[Match]
) -> None:
    await book(store, over[2], False)
    trader = await sign_in(Role.TRADER)
    page = (await trader.get(PAGE)).text
    assert [f'value="{match.id}"' in page for match in over] == [True, True, False]
    assert "Nothing was replayed" in page and "hx-get" not in page
    chosen = [str(over[1].id), str(over[0].id)]
    started = await trader.post(PAGE, **FORM | {"match": chosen, "node_id": "7", "rewrite": "1"})
    assert started.status_code == 303
    [job] = await jobs(store, acme)
    assert (job.node, job.match_ids) == ("7", (over[1].id, over[0].id))
    assert job.options == ReplayOptions(10.0, 10_000, rewrite_timestamps=True)
    async with store.autocommit() as tx:
        newest = (await audit.listing(tx, acme.id, limit=1))[0]
    assert (newest.actor, newest.action) == (f"user {trader.email}", "replay.start")
    part = (await trader.get(f"{PAGE}/running")).text
    assert "waiting" in part and "hx-get" in part and "node_id 7" in part and "<html" not in part
    again = await trader.post(PAGE, **FORM | {"match": chosen, "node_id": "7"})
    assert again.status_code == 409 and "stop it first" in again.text
    assert (await trader.post(f"{PAGE}/stop", node_id="7")).status_code == 303
    [job] = await jobs(store, acme)
    assert job.state is ReplayState.STOPPED
    part = (await trader.get(f"{PAGE}/running")).text
    assert "stopped" in part and "hx-get" not in part
    fastest = await trader.post(PAGE, **FORM | {"match": chosen[:1], "pace": "fastest"})
    assert fastest.status_code == 303
    assert (await jobs(store, acme))[0].options.max_delay == 0


async def test_what_does_not_fit_is_said(sign_in: SignIn, store: Store, acme: Any, over: list[Match]) -> None:
    trader = await sign_in(Role.TRADER)
    for fields, says in [
        ({}, "Choose a match at least"),
        ({"match": "od:match:4711"}, "no match"),
        ({"match": "0", "pace": "fast"}, "Choose one of"),
        ({"match": "0", "pause": "0"}, "from 1 to 3600"),
        ({"match": "0", "node_id": "x"}, "positive whole number"),
    ]:
        fields = {
            name: str(over[0].id) if value == "0" and name == "match" else value
            for name, value in fields.items()
        }
        answer = await trader.post(PAGE, **FORM | fields)
        assert answer.status_code in (404, 422) and says in answer.text, fields
        assert await jobs(store, acme) == [], fields


async def test_who_may(sign_in: SignIn, store: Store, acme: Any, over: list[Match]) -> None:
    reader = await sign_in(Role.READER)
    page = await reader.get(PAGE)
    assert page.status_code == 200 and "Northwind" in page.text and "checkbox" not in page.text
    assert (await reader.post(PAGE, **FORM | {"match": str(over[0].id)})).status_code == 403
    assert (await reader.post(f"{PAGE}/stop", node_id="")).status_code == 403


async def test_without_a_vhost(sign_in: SignIn, over: list[Match]) -> None:
    owner = await sign_in(Role.OWNER)
    page = (await owner.get(PAGE)).text
    assert "no vhost yet" in page and "Northwind" not in page
    assert (await owner.post(PAGE, **FORM | {"match": str(over[0].id)})).status_code == 409


async def test_older_matches_have_pages(sign_in: SignIn, store: Store, acme: Any) -> None:
    story, owner = Story(store), await sign_in(Role.OWNER)
    numbers = set()
    for _ in range(30):
        match = await story.match()
        await story.finish(match)
        numbers.add(match.number)
    first = (await owner.get(PAGE)).text
    cursor = first.split("/portal/replays?before=")[1].split('"')[0]
    second = (await owner.get(f"{PAGE}?before={cursor}")).text
    seen = {number for number in numbers for text in (first, second) if f'id="match-{number}"' in text}
    assert seen == numbers and "?before=" not in second.partition("<form method")[2]
    assert (await owner.get(f"{PAGE}?before=x")).status_code == 422
