"""Recoveries in the portal: requested as over the API, audited, followed to their end."""

import re
from typing import Any

import httpx
import pytest

from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest
from app.domain.tenant import Role
from app.kit.clock import system_clock
from app.store import audit, recovery_jobs, tenants
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import found_in
from tests.support.story import Story, offer
from tests.support.tenants import give_vhost

PAGE = "/portal/recoveries"
FULL: dict[str, Any] = {"what": "full", "since": "", "match": "", "node_id": ""}


@pytest.fixture
async def acme(store: Store, sign_in: SignIn) -> Any:
    """The tenant, with a vhost as far as the store knows."""
    await sign_in(Role.READER)
    return await give_vhost(store)


async def jobs(store: Store, tenant: Any) -> list[RecoveryJob]:
    async with store.autocommit() as tx:
        return [each.job for each in await recovery_jobs.listing(tx, tenant.id, 2**62, 100)]


def location(response: httpx.Response) -> str:
    assert response.status_code == 303, response.text
    return str(response.headers["location"]).partition("?")[0]


async def test_a_recovery_is_requested_audited_and_followed(sign_in: SignIn, store: Store, acme: Any) -> None:
    trader = await sign_in(Role.TRADER)
    path = location(await trader.post(PAGE, **FULL | {"node_id": "7"}))
    [job] = await jobs(store, acme)
    assert path == f"{PAGE}/{job.id}"
    wanted = RecoveryRequest(RecoveryKind.FACADE_FULL, job.request.request_id, 0, "7")
    assert job.request == wanted
    async with store.autocommit() as tx:
        newest = (await audit.listing(tx, acme.id, limit=1))[0]
    assert (newest.actor, newest.action) == (f"user {trader.email}", "recovery.request")
    page = await trader.get(path)
    assert "waiting" in page.text and f'hx-get="{path}/progress"' in page.text
    async with store.transaction() as tx:
        await tx.execute(
            "UPDATE recovery_job SET state = 'running', started_at = 1, steps = 9, steps_done = 4, "
            "envelopes = 321, error = '<b>'"
        )
    part = await trader.get(f"{path}/progress")
    assert "Step 4 of 9" in part.text and "321" in part.text and "&lt;b&gt;" in part.text
    assert "<html" not in part.text and "hx-get" in part.text
    async with store.transaction() as tx:
        await tx.execute("UPDATE recovery_job SET state = 'completed', finished_at = 2, error = ''")
    part = await trader.get(f"{path}/progress")
    assert "completed" in part.text and "hx-get" not in part.text, "it moves no more"
    history = await trader.get(PAGE)
    assert f'href="{path}"' in history.text and "completed" in history.text


async def test_from_an_envelope_on(sign_in: SignIn, store: Store, acme: Any) -> None:
    developer, story = await sign_in(Role.DEVELOPER), Story(store)
    await story.offer(await story.match(), offer(1))
    envelopes = await developer.get("/portal/envelopes")
    form = await developer.get(found_in(envelopes.text, rf'href="({PAGE}\?since=\d+)"'))
    shown = found_in(form.text, r'name="since"[^>]* value="([^"]+)"')
    assert 'value="since" checked' in form.text
    for index, since in enumerate((shown, str(story.at)), start=1):
        fields = FULL | {"what": "since", "since": since, "node_id": str(index)}
        location(await developer.post(PAGE, **fields))
    assert {job.request.after for job in await jobs(store, acme)} == {story.at}


async def test_one_match(sign_in: SignIn, store: Store, acme: Any) -> None:
    owner, match = await sign_in(), await Story(store).match()
    for what, kind in (("odds", RecoveryKind.EVENT_ODDS), ("results", RecoveryKind.EVENT_STATEFUL)):
        urn = f"od:match:{match.number}"
        path = location(await owner.post(PAGE, **FULL | {"what": what, "match": urn}))
        newest = (await jobs(store, acme))[0]
        assert (newest.request.kind, newest.request.match_id) == (kind, match.id)
        assert urn in (await owner.get(path)).text
    async with store.transaction() as tx:
        await tenants.unbook(tx, acme.id, match.id)
    for ref, why in ((str(match.id), "has not booked match"), ("od:match:404", "There is no match")):
        refused = await owner.post(PAGE, **FULL | {"what": "odds", "match": ref})
        assert refused.status_code == 404 and f"{why} {ref}" in refused.text


async def test_conflicts_are_sentences(sign_in: SignIn, store: Store) -> None:
    owner = await sign_in()
    refused = await owner.post(PAGE, **FULL)
    assert refused.status_code == 409 and "no virtual host yet" in refused.text
    tenant = await give_vhost(store, "acme")
    location(await owner.post(PAGE, **FULL))
    refused = await owner.post(PAGE, **FULL)
    assert refused.status_code == 409 and "is in flight already" in refused.text
    assert int(refused.headers["retry-after"]) > 0
    assert len(await jobs(store, tenant)) == 1


async def test_what_the_api_refuses_is_refused(sign_in: SignIn, store: Store, acme: Any) -> None:
    owner = await sign_in()
    for wrong in [
        {"what": "since", "since": ""},
        {"what": "since", "since": "x"},
        {"what": "since", "since": "1000"},
        {"what": "since", "since": "2099-01-01T00:00"},
        {"what": "odds", "match": ""},
        {"what": "odds", "match": "x"},
        {"what": "full", "match": "od:match:1"},
        {"what": "full", "node_id": "0"},
        {"what": "full", "node_id": "9" * 101},
        {"what": "all"},
    ]:
        refused = await owner.post(PAGE, **FULL | wrong)
        assert refused.status_code == 422 and 'role="alert"' in refused.text, wrong
        assert await jobs(store, acme) == [], wrong


async def test_readers_see_the_history_only(sign_in: SignIn, store: Store, acme: Any) -> None:
    owner, reader = await sign_in(), await sign_in(Role.READER)
    path = location(await owner.post(PAGE, **FULL))
    listed = await reader.get(PAGE)
    assert path in listed.text and 'action="/portal/recoveries"' not in listed.text
    assert (await reader.get(path)).status_code == 200
    assert (await reader.post(PAGE, **FULL | {"node_id": "5"})).status_code == 403
    assert len(await jobs(store, acme)) == 1


async def test_recoveries_of_another_tenant_do_not_exist(sign_in: SignIn, acme: Any) -> None:
    owner, stranger = await sign_in(), await sign_in(Role.OWNER, "beta")
    path = location(await owner.post(PAGE, **FULL))
    for each in (path, f"{path}/progress", f"{PAGE}/{10**18}", f"{PAGE}/{10**30}", f"{PAGE}/0"):
        assert (await stranger.get(each)).status_code == 404, each
    assert path not in (await stranger.get(PAGE)).text


async def test_the_history_is_paged(sign_in: SignIn, store: Store, acme: Any) -> None:
    owner, match = await sign_in(), await Story(store).match()
    async with store.transaction() as tx:
        for _ in range(63):
            request = RecoveryRequest(RecoveryKind.EVENT_ODDS, "", 0, None, match.id)
            await recovery_jobs.queue(tx, acme.id, request, system_clock(), 1_000, by="tester")
    page = await owner.get(PAGE)
    found = re.findall(rf'href="{PAGE}/(\d+)"', page.text)
    assert len(found) == 50
    older = await owner.get(found_in(page.text, rf'href="({PAGE}\?before=\d+)"'))
    found += re.findall(rf'href="{PAGE}/(\d+)"', older.text)
    assert [int(each) for each in found] == [job.id for job in await jobs(store, acme)]
