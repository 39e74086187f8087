"""What feed processes write at the same time about the same tenants."""

from uuid import UUID

from app.store import cursors
from app.store.connections import Store


async def test_cursors_are_created_in_one_order_whatever_the_order_of_the_tenants(store: Store) -> None:
    """Two processes that start together wait for each other's rows; in two orders they would deadlock."""
    ids = [UUID(int=number) for number in (7, 3, 9, 1, 5)]
    async with store.transaction() as tx:
        for number, tenant_id in enumerate(ids):
            await tx.execute(
                "INSERT INTO tenant (id, slug, name, active, amqp, created_at) "
                "VALUES ($1, $2, $2, true, true, 1)",
                tenant_id,
                f"tenant-{number}",
            )
        await cursors.create_missing(tx)
        rows = await tx.fetch("SELECT tenant_id FROM tenant_cursor ORDER BY ctid")
    assert [row["tenant_id"] for row in rows] == sorted(ids)
