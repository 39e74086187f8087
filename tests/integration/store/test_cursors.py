"""What feed processes write at the same time about the same tenants."""

from uuid import UUID

from app.store import cursors
from app.store.connections import Store
from app.store.cursors import Checkpoint, LeasedTenant
from app.store.transaction import Tx

TENANT = UUID(int=1)


async def create_tenant(tx: Tx, tenant_id: UUID, slug: str) -> None:
    await tx.execute(
        "INSERT INTO tenant (id, slug, name, active, amqp, created_at) VALUES ($1, $2, $2, true, true, 1)",
        tenant_id,
        slug,
    )


async def acquired_after_expiry(tx: Tx, holder: str) -> LeasedTenant:
    """The only tenant, which `holder` acquires because the lease of the present holder has expired."""
    await tx.execute("UPDATE tenant_cursor SET expires_at = 1")
    [tenant] = await cursors.acquire(tx, holder, 1, 60_000)
    return tenant


async def test_cursors_are_created_in_one_order_whatever_the_order_of_the_tenants(store: Store) -> None:
    """Two processes that start together wait for each other's rows; in two orders they would deadlock."""
    ids = [UUID(int=number) for number in (7, 3, 9, 1, 5)]
    async with store.transaction() as tx:
        for number, tenant_id in enumerate(ids):
            await create_tenant(tx, tenant_id, f"tenant-{number}")
        await cursors.create_missing(tx)
        rows = await tx.fetch("SELECT tenant_id FROM tenant_cursor ORDER BY ctid")
    assert [row["tenant_id"] for row in rows] == sorted(ids)


async def test_a_holder_remains_to_be_expelled_until_one_after_it_has_done_so(store: Store) -> None:
    """The one after it may crash before, or release a tenant that it never served."""
    async with store.transaction() as tx:
        await create_tenant(tx, TENANT, "tenant")
        await cursors.create_missing(tx)
        first = await acquired_after_expiry(tx, "first")
        second = await acquired_after_expiry(tx, "second")
        await cursors.release(tx, "second", [TENANT])
        third = await acquired_after_expiry(tx, "third")
        fourth = await acquired_after_expiry(tx, "fourth")
        await cursors.forget_former_holders(tx, "third", third)
        again = await acquired_after_expiry(tx, "fourth")
        await cursors.forget_former_holders(tx, "fourth", again)
        last = await acquired_after_expiry(tx, "fifth")
    assert (first.former_holders, second.former_holders, third.former_holders) == ((), ("first",), ("first",))
    assert fourth.former_holders == ("first", "third"), "the first of them was not expelled in time"
    assert again.former_holders == ("first", "third"), "nobody expels itself"
    assert last.former_holders == ("fourth",)


async def test_a_checkpoint_that_is_executed_late_changes_nothing(store: Store) -> None:
    async with store.transaction() as tx:
        await create_tenant(tx, TENANT, "tenant")
        await cursors.create_missing(tx)
        leased = await acquired_after_expiry(tx, "holder")
        results = [
            await cursors.checkpoint(
                tx, "holder", {TENANT: Checkpoint(leased.epoch, seq, notice_pending=False)}
            )
            for seq in (7, 9, 9, 7)
        ]
        assert await tx.value("SELECT seq FROM tenant_cursor") == 9
    assert results == [{TENANT}, {TENANT}, {TENANT}, set()]
