"""What is accepted, and what the refusals say."""

import pytest
from msgspec.structs import replace

from app.domain.recovery import RecoveryJob, RecoveryKind
from app.domain.tenant import Tenant
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.recovery.request import RecoveryParameters, RecoveryService
from app.store import audit, tenants
from app.store.connections import Store
from tests.support.recoveries import WINDOW
from tests.support.story import Story
from tests.support.tenants import book

NOW = 1_900_000_000_000


@pytest.fixture
def recoveries(recoveries: RecoveryService) -> RecoveryService:
    return replace(recoveries, clock=lambda: NOW)


async def ask(
    recoveries: RecoveryService,
    tenant: Tenant,
    kind: RecoveryKind = RecoveryKind.REST_FULL,
    match: str | None = None,
    by: str = "tester",
    **parameters: str,
) -> RecoveryJob:
    return await recoveries.accept(tenant, kind, RecoveryParameters(**parameters), match, by=by)


async def refused(recoveries: RecoveryService, tenant: Tenant, **parameters: str) -> list[Field]:
    with pytest.raises(Invalid) as caught:
        await ask(recoveries, tenant, **parameters)
    return list(caught.value.fields)


@pytest.mark.parametrize(
    "after", [None, "0", "000", *map(str, (NOW, NOW - 1, NOW + 250, NOW - WINDOW, NOW - WINDOW - 1000))]
)
async def test_accepted(recoveries: RecoveryService, tenant: Tenant, after: str | None) -> None:
    parameters = {"request_id": "7" * 64, "node_id": "12"} | ({"after": after} if after is not None else {})
    job = await ask(recoveries, tenant, **parameters)
    assert job.request.after == int(after or 0)
    assert (job.request.request_id, job.request.node_id, job.accepted_at) == ("7" * 64, "12", NOW)
    assert (await recoveries.find(tenant, "7" * 64)).id == job.id


async def test_ids_are_positive_numbers(recoveries: RecoveryService, tenant: Tenant) -> None:
    for name in ["request_id", "node_id"]:
        for wrong in ["", "0", "01", "-1", "1a", "a", "7" * 65, "1.5", " 1", "1\n", "١"]:
            (field,) = await refused(recoveries, tenant, **{"request_id": "7", name: wrong})
            assert (field.loc, field.input) == (("query", name), wrong), (name, wrong)


async def test_after_is_a_whole_number(recoveries: RecoveryService, tenant: Tenant) -> None:
    for wrong in ["", "-1", "1.0", "abc", "1_0", "+1", "١"]:
        (field,) = await refused(recoveries, tenant, request_id="7", after=wrong)
        assert field.loc == ("query", "after"), wrong


async def test_outside_the_window_the_earliest_moment_is_told(
    recoveries: RecoveryService, tenant: Tenant
) -> None:
    for after in [NOW + 251, NOW + 60_000, int("9" * 30), NOW - WINDOW - 1001, 1]:
        (field,) = await refused(recoveries, tenant, request_id="7", after=str(after))
        assert str(NOW - WINDOW) in field.msg, after
        assert field.ctx and field.ctx["earliest"] == NOW - WINDOW, after


async def test_a_time_of_our_messages_is_no_future(
    store: Store, recoveries: RecoveryService, tenant: Tenant
) -> None:
    """They have the clock of another process, which is ahead of the one that receives the request."""
    await Story(store, now=lambda: NOW + 30_000).announce()
    (field,) = await refused(recoveries, tenant, request_id="7", after=str(NOW + 31_000))
    assert field.type == "in_the_future"
    await ask(recoveries, tenant, request_id="7", after=str(NOW + 30_000))


async def test_everything_wrong_is_told_at_once(recoveries: RecoveryService, tenant: Tenant) -> None:
    fields = await refused(recoveries, tenant, node_id="x", after="y")
    assert [field.loc[1] for field in fields] == ["after", "request_id", "node_id"]


async def test_a_refused_request_leaves_the_slot_free(recoveries: RecoveryService, tenant: Tenant) -> None:
    await refused(recoveries, tenant, request_id="x")
    await ask(recoveries, tenant, request_id="7")


async def test_without_a_vhost(store: Store, recoveries: RecoveryService, tenant: Tenant) -> None:
    async with store.transaction() as tx:
        await tenants.save(tx, replace(tenant, amqp=False))
    with pytest.raises(Conflict, match="no vhost"):
        await ask(recoveries, tenant, request_id="7")


async def test_in_flight(recoveries: RecoveryService, tenant: Tenant) -> None:
    await ask(recoveries, tenant, request_id="7", node_id="3")
    with pytest.raises(
        Conflict, match="A recovery is in flight already for node_id 3: request_id 7,"
    ) as caught:
        await ask(recoveries, tenant, request_id="8", node_id="3")
    assert caught.value.retry_after and 590 <= caught.value.retry_after <= 600
    with pytest.raises(Conflict, match="This very request is in flight already"):
        await ask(recoveries, tenant, request_id="7", node_id="3")


async def test_an_event_request(
    store: Store, recoveries: RecoveryService, tenant: Tenant, story: Story
) -> None:
    match = await story.match()
    job = await ask(recoveries, tenant, RecoveryKind.EVENT_ODDS, f"od:match:{match.number}")
    assert int(job.request.request_id) > 0
    assert (job.request.match_id, job.request.kind) == (match.id, RecoveryKind.EVENT_ODDS)
    with pytest.raises(NotFound):
        await ask(recoveries, tenant, RecoveryKind.EVENT_ODDS, "od:match:404")
    await book(store, match, False)
    with pytest.raises(NotFound, match="has not booked match"):
        await ask(recoveries, tenant, RecoveryKind.EVENT_STATEFUL, str(match.id), node_id="2")


async def test_an_accepted_request_is_audited_once(
    store: Store, recoveries: RecoveryService, tenant: Tenant, story: Story
) -> None:
    """Refused requests change nothing, and a repeated one that is queued already begins nothing new."""
    match = await story.match()
    urn = f"od:match:{match.number}"
    job = await ask(recoveries, tenant, by="user ann@acme.test", after="0", request_id="7")
    with pytest.raises(Conflict):
        await ask(recoveries, tenant, request_id="8")
    event = {"match": urn, "by": "key:acme/1", "request_id": "9", "node_id": "3"}
    for _ in range(2):
        await ask(recoveries, tenant, RecoveryKind.EVENT_ODDS, **event)
    async with store.autocommit() as tx:
        newest, first = await audit.listing(tx, tenant.id, limit=9)
    assert (first.actor, first.action) == ("user ann@acme.test", "recovery.request")
    assert (first.at, first.subject) == (job.accepted_at, str(job.id))
    asked = {"kind": "canonical", "request_id": "7", "after": 0, "node_id": None, "match_id": None}
    assert first.details == asked
    assert (newest.actor, newest.details["match_id"]) == ("key:acme/1", str(match.id))
    assert newest.details["node_id"] == "3"
