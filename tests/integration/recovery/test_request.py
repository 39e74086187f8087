"""What is accepted, and what the refusals say."""

import pytest
from msgspec.structs import replace

from app.domain.recovery import RecoveryJob, RecoveryKind
from app.domain.tenant import Tenant
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.recovery import request
from app.recovery.request import Desk, Given
from app.store import tenants
from app.store.connections import Store
from tests.integration.recovery.conftest import WINDOW
from tests.support.story import Story

pytestmark = pytest.mark.anyio
NOW = 1_900_000_000_000


@pytest.fixture
def desk(desk: Desk) -> Desk:
    return replace(desk, clock=lambda: NOW)


async def ask(desk: Desk, tenant: Tenant, **given: str) -> RecoveryJob:
    return await request.accept(desk, tenant, RecoveryKind.CANONICAL, Given(**given))


async def refused(desk: Desk, tenant: Tenant, **given: str) -> list[Field]:
    with pytest.raises(Invalid) as caught:
        await ask(desk, tenant, **given)
    return list(caught.value.fields)


@pytest.mark.parametrize("after", [None, "0", "000", str(NOW), str(NOW - WINDOW), str(NOW - 1)])
async def test_accepted(desk: Desk, tenant: Tenant, after: str | None) -> None:
    given = {"request_id": "7" * 64, "node_id": "12"} | ({"after": after} if after is not None else {})
    job = await ask(desk, tenant, **given)
    assert job.request.after == int(after or 0)
    assert (job.request.request_id, job.request.node_id, job.scheduled_at) == ("7" * 64, "12", NOW)
    assert (await request.find(desk, tenant, "7" * 64)).id == job.id


@pytest.mark.parametrize("wrong", ["", "0", "01", "-1", "1a", "a", "7" * 65, "1.5", " 1", "1\n", "١"])
@pytest.mark.parametrize("name", ["request_id", "node_id"])
async def test_ids_are_positive_numbers(desk: Desk, tenant: Tenant, name: str, wrong: str) -> None:
    (field,) = await refused(desk, tenant, **{"request_id": "7", name: wrong})
    assert (field.loc, field.input) == (("query", name), wrong)


@pytest.mark.parametrize("wrong", ["", "-1", "1.0", "abc", "1_0", "+1", "١"])
async def test_after_is_a_whole_number(desk: Desk, tenant: Tenant, wrong: str) -> None:
    (field,) = await refused(desk, tenant, request_id="7", after=wrong)
    assert field.loc == ("query", "after")


@pytest.mark.parametrize("after", [NOW + 60_000, int("9" * 30), NOW - WINDOW - 60_000, 1])
async def test_outside_the_window_the_earliest_moment_is_told(desk: Desk, tenant: Tenant, after: int) -> None:
    (field,) = await refused(desk, tenant, request_id="7", after=str(after))
    assert str(NOW - WINDOW) in field.msg
    assert field.ctx and field.ctx["earliest"] == NOW - WINDOW


async def test_everything_wrong_is_told_at_once(desk: Desk, tenant: Tenant) -> None:
    fields = await refused(desk, tenant, node_id="x", after="y")
    assert [field.loc[1] for field in fields] == ["after", "request_id", "node_id"]


async def test_a_refused_request_leaves_the_slot_free(desk: Desk, tenant: Tenant) -> None:
    await refused(desk, tenant, request_id="x")
    await ask(desk, tenant, request_id="7")


async def test_without_a_vhost(store: Store, desk: Desk, tenant: Tenant) -> None:
    async with store.transaction() as tx:
        await tenants.save(tx, replace(tenant, amqp=False))
    with pytest.raises(Conflict, match="no vhost"):
        await ask(desk, tenant, request_id="7")


async def test_in_flight(desk: Desk, tenant: Tenant) -> None:
    await ask(desk, tenant, request_id="7", node_id="3")
    with pytest.raises(
        Conflict, match="A recovery is in flight already for node_id 3: request_id 7,"
    ) as caught:
        await ask(desk, tenant, request_id="8", node_id="3")
    assert caught.value.retry_after and 590 <= caught.value.retry_after <= 600
    with pytest.raises(Conflict, match="This very request is in flight already"):
        await ask(desk, tenant, request_id="7", node_id="3")


async def test_an_event_request(store: Store, desk: Desk, tenant: Tenant, story: Story) -> None:
    match = await story.match()
    job = await request.accept(desk, tenant, RecoveryKind.EVENT_ODDS, Given(), f"od:match:{match.number}")
    assert int(job.request.request_id) > 0
    assert (job.request.match_id, job.request.kind) == (match.id, RecoveryKind.EVENT_ODDS)
    with pytest.raises(NotFound):
        await request.accept(desk, tenant, RecoveryKind.EVENT_ODDS, Given(), "od:match:404")
    async with store.transaction() as tx:
        await tenants.unbook(tx, tenant.id, match.id)
    with pytest.raises(NotFound):
        await request.accept(desk, tenant, RecoveryKind.EVENT_STATEFUL, Given(node_id="2"), str(match.id))
