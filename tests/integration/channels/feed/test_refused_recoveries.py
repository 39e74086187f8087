"""A recovery that an SDK's key had no room for is requested again: its tenant is notified once the key has
room."""

from uuid import UUID, uuid4

from app.settings import Settings
from app.store import recovery_jobs
from app.store.connections import Store
from tests.faults.keys import issue
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.facade import SDK, with_sdk_address
from tests.support.web import serving

ALIVE = 0.5
RECOVERY = "/v1/live/recovery/initiate_request?request_id=7"


async def recorded(store: Store) -> list[tuple[UUID, int]]:
    """The keys whose recovery was refused, and in how many ms they have room."""
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT key_id, due_at - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left"
            " FROM refused_recovery"
        )
    return [(row["key_id"], row["left"]) for row in rows]


async def test_only_a_full_recovery_that_an_sdk_s_rate_refuses_is_recorded(
    rig: Rig, settings: Settings
) -> None:
    tenant, _ = await rig.tenant()
    issued = await issue(rig, tenant.slug, rate_limit_rpm=1)
    headers = {"x-access-token": issued.raw}
    async with serving(with_sdk_address(settings)) as client:
        assert (await client.get("/v1/whoami", headers=headers)).status_code == 200
        assert (await client.post(RECOVERY, headers=headers)).status_code == 429
        assert (await client.get(f"{SDK}/v1/users/whoami", headers=headers)).status_code == 429
        odds = f"{SDK}/v1/live/odds/events/od:match:1/initiate_request"
        assert (await client.post(odds, headers=headers)).status_code == 429
        assert await recorded(rig.store) == []
        for _ in range(2):
            refused = await client.post(SDK + RECOVERY, headers=headers)
            assert refused.status_code == 429
        [(key_id, left)] = await recorded(rig.store)
    assert key_id == issued.key.id
    assert left <= int(refused.headers["Retry-After"]) * 1000 + 1000


async def test_a_key_without_rights_to_the_feed_makes_nobody_recover(rig: Rig, settings: Settings) -> None:
    """Whoever holds the key of a partner's page could else bring down the feed of its tenant."""
    tenant, _ = await rig.tenant()
    rights = ({"bundles": ("cs2.stats",)}, {"finished_only": True}, {"sports": ("soccer",)})
    async with serving(with_sdk_address(settings)) as client:
        for right in rights:
            issued = await issue(rig, tenant.slug, rate_limit_rpm=1, **right)
            headers = {"x-access-token": issued.raw}
            await client.get("/v1/whoami", headers=headers)
            assert (await client.post(SDK + RECOVERY, headers=headers)).status_code == 429
        assert await recorded(rig.store) == []


async def test_the_tenant_is_notified_once_and_not_before(rig: Rig, feed: Running) -> None:
    tenant, url = await rig.tenant()
    other, other_url = await rig.tenant()
    async with (
        feed(alive_seconds=ALIVE),
        consuming(url, "oddinfeed") as consumer,
        consuming(other_url, "oddinfeed") as untouched,
    ):
        await until("alive", lambda: consumer.alives and untouched.alives)
        async with rig.store.transaction() as tx:
            await recovery_jobs.record_refused(tx, uuid4(), tenant.id, 3_600_000)
            await recovery_jobs.record_refused(tx, uuid4(), tenant.id, 1000)
        before = len(consumer.alives)
        await until("it is alive meanwhile", lambda: len(consumer.alives) > before)
        assert consumer.downs == 0
        await until("notified", lambda: consumer.downs)
        after = len(consumer.alives)
        await until("and again alive", lambda: len(consumer.alives) > after + 5)
        assert (consumer.downs, untouched.downs) == (1, 0)

        async def deleted() -> bool:
            return len(await recorded(rig.store)) == 1

        await until("the one it was notified of is deleted", deleted)
        [(_, left)] = await recorded(rig.store)
        assert left > 3_500_000


async def test_it_stays_due_until_its_tenant_was_notified(rig: Rig, feed: Running) -> None:
    tenant, url = await rig.tenant()
    async with feed(alive_seconds=ALIVE) as session:
        await until("leased", lambda: tenant.id in session.relay.publishers)
        notice = session.relay.publishers[tenant.id].notice
        await until("its bindings are known", lambda: notice.bindings.known)
        async with rig.store.transaction() as tx:
            await recovery_jobs.record_refused(tx, uuid4(), tenant.id, 0)
        await until("due", lambda: notice.refused_at)
        assert len(await recorded(rig.store)) == 1, "no queue has received a notice"
    async with feed(alive_seconds=ALIVE), consuming(url, "oddinfeed") as consumer:
        await until("the next holder notifies it", lambda: consumer.downs)
