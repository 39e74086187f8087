"""Tenants' vhosts, passwords, sessions and recoveries after a restore."""

from uuid import UUID

import pytest
from aio_pika.exceptions import AMQPError

from app.access import admin
from app.access.admin import BrokerConfig
from app.broker import provisioning
from app.broker.connection import open_connection
from app.domain.recovery import RecoveryKind, RecoveryRequest
from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.store import recovery_jobs, tenants
from app.store.connections import Store
from tests.integration.access.people import invited, link, some_email
from tests.integration.operations.restoration.conftest import PutInOrder, Urls


async def binds(url: str, exchange: str) -> None:
    async with open_connection(url, 10) as connection:
        queue = await (await connection.channel()).declare_queue(exclusive=True)
        await queue.bind(exchange, "#")


async def test_another_broker(
    broker: BrokerConfig, tenant: Tenant, url: str, urls: Urls, put_in_order: PutInOrder
) -> None:
    """It has neither vhost nor user: both are made, and the new password is shown once."""
    await provisioning.deprovision(broker.management, tenant.slug)
    assert (await put_in_order()).vhosts.created == [tenant.slug]
    assert list(urls) == [tenant.slug] and urls[tenant.slug] != url
    await binds(urls[tenant.slug], broker.exchange)
    again = await put_in_order()  # and shows no other
    assert (again.vhosts.created, again.vhosts.repaired) == ([], [tenant.slug])


async def test_the_same_broker(
    broker: BrokerConfig, tenant: Tenant, url: str, urls: Urls, put_in_order: PutInOrder
) -> None:
    done = await put_in_order()
    assert (done.vhosts.created, done.vhosts.repaired, urls) == ([], [tenant.slug], {})
    await binds(url, broker.exchange)


async def test_a_broker_that_has_the_users_alone(
    broker: BrokerConfig, tenant: Tenant, url: str, urls: Urls, put_in_order: PutInOrder
) -> None:
    """As one has it that imported definitions of users: passwords stay."""
    await broker.management.delete_vhost(tenant.slug)
    await put_in_order()
    assert not urls
    await binds(url, broker.exchange)


async def test_a_tenant_that_was_provisioned_after_the_backup(
    store: Store, broker: BrokerConfig, tenant: Tenant, url: str, put_in_order: PutInOrder
) -> None:
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant SET amqp = false")
        await tx.execute("DELETE FROM tenant_cursor")
    done = await put_in_order()
    assert (done.vhosts.repaired, done.tenants_notified) == ([tenant.slug], 1)
    async with store.autocommit() as tx:
        assert (await tenants.by_slug(tx, tenant.slug)).amqp
    await binds(url, broker.exchange)


async def test_a_tenant_that_is_revoked_in_the_backup(
    store: Store, broker: BrokerConfig, tenant: Tenant, url: str, put_in_order: PutInOrder
) -> None:
    async with store.transaction() as tx:
        await admin.set_tenant_active(tx, tenant.slug, False, by="tester", now=1)
    await put_in_order()
    with pytest.raises(AMQPError):
        await binds(url, broker.exchange)


async def test_a_user_whose_new_password_cannot_be_tested_is_not_left_behind(
    broker: BrokerConfig, tenant: Tenant, url: str, put_in_order: PutInOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next run would take it for one that knows its password."""

    async def unavailable(*_: object) -> None:
        raise Unavailable("nobody authorises tenants")

    await provisioning.deprovision(broker.management, tenant.slug)
    with monkeypatch.context() as patch:
        patch.setattr(provisioning, "_test_login", unavailable)
        with pytest.raises(Unavailable):
            await put_in_order()
    assert (await put_in_order()).vhosts.created == [tenant.slug]


async def test_people_sign_in_again(store: Store, slug: str, put_in_order: PutInOrder) -> None:
    """A session that was ended since the backup, a link that was used, must not be valid again."""
    user = await invited(store, some_email(), slug=slug)
    await link(store, user, system_clock())
    async with store.transaction() as tx:
        await tx.execute(
            "INSERT INTO portal_session (id, user_id, hash, created_at, last_seen_at, address, user_agent)"
            " VALUES ($1, $2, $3, 0, 0, '', '')",
            *(UUID(int=1), user.id, b"hash"),
        )
    done = await put_in_order()
    assert (done.ended.sessions, done.ended.links) == (1, 1)
    async with store.autocommit() as tx:
        assert not await tx.value("SELECT count(*) FROM portal_session")
        assert not await tx.value("SELECT count(*) FROM portal_link WHERE ended_at IS NULL")


async def test_recoveries_of_the_past_end_and_leave_no_slot(
    store: Store, tenant: Tenant, put_in_order: PutInOrder
) -> None:
    request = RecoveryRequest(RecoveryKind.REST_FULL, "7", 0)
    async with store.transaction() as tx:
        job = await recovery_jobs.accept(tx, tenant.id, request, system_clock(), by="tester")
    done = await put_in_order()
    assert done.ended.recoveries == 1
    async with store.transaction() as tx:
        ended = await recovery_jobs.find(tx, tenant.id, "7")
        new = await recovery_jobs.accept(tx, tenant.id, request, system_clock(), by="tester")
    assert ended and ended.state == "failed" and "restored" in ended.error
    assert isinstance(new, type(job)) and new.id >= done.mark  # message ids are made from it
