import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from app.access import admin, api_keys
from app.access.admin import IssuedKey
from app.access.api_keys import KeyAlteration
from app.access.grants import Grants
from app.domain.tenant import Grant
from app.kit.errors import Forbidden, Unavailable
from app.store.connections import Store
from app.store.keys import listing
from app.store.transaction import Tx
from tests.integration.access.conftest import BY, SECRET, Issue, running
from tests.support.databases import end_sessions
from tests.support.eventually import eventually


async def refused(grants: Grants, raw: str, address: str | None = None) -> str | None:
    """The words of the refusal, None when the key is let in."""
    try:
        await grants.grant_of(raw, address)
    except Forbidden as refusal:
        return refusal.detail
    return None


async def revoke(store: Store, key_id: UUID) -> None:
    async with store.transaction() as tx:
        await admin.revoke_key(tx, key_id, **BY)


async def seconds_until_refused(grants: Grants, raw: str) -> float:
    begun = time.perf_counter()
    async with asyncio.timeout(60):
        while not await refused(grants, raw):
            await asyncio.sleep(0)
    return time.perf_counter() - begun


async def test_a_key_has_its_grant(grants: Grants, issue: Issue) -> None:
    issued = await issue(sports=("cs2", "soccer"), rate_limit_rpm=42)
    grant = await grants.grant_of(issued.raw)
    assert isinstance(grant, Grant)
    assert (grant.key_id, grant.tenant.slug, grant.rate_limit_rpm) == (issued.key.id, "acme", 42)
    assert (grant.scopes, grant.sports) == (issued.key.scopes, frozenset({"cs2", "soccer"}))


async def test_a_key_is_cached_once_its_notification_was_received(grants: Grants, issue: Issue) -> None:
    """The notification of the new key itself may still be pending: what was read before it is invalidated."""
    issued = await issue()
    async with asyncio.timeout(60):
        while await grants.grant_of(issued.raw) is not await grants.grant_of(issued.raw):
            pass


async def test_every_refusal_has_the_same_text(store: Store, grants: Grants, issue: Issue) -> None:
    revoked, tied = await issue(), await issue(networks=("192.0.2.0/24",))
    await revoke(store, revoked.key.id)
    words = {
        await refused(grants, raw)
        for raw in ("", "x", "mfk_", revoked.raw, revoked.raw[:-1], api_keys.new_key(), tied.raw, "\ud800")
    }
    assert len(words) == 1
    assert None not in words


async def test_a_key_is_stored_as_a_hash_only(store: Store, issue: Issue) -> None:
    issued = await issue()
    async with store.autocommit() as tx:
        stored = str(await tx.fetch("SELECT * FROM api_key, audit"))
    assert issued.raw not in stored
    assert issued.raw[4:20] not in stored
    assert issued.raw not in repr(issued)
    assert await refused(Grants(store, SECRET + "!"), issued.raw)


async def test_a_change_is_seen_by_every_process_at_once(store: Store, issue: Issue) -> None:
    async with running(store) as one, running(store) as other:
        worst = 0.0
        for _ in range(20):
            issued = await issue()
            await one.grant_of(issued.raw)
            await other.grant_of(issued.raw)
            await revoke(store, issued.key.id)
            worst = max(worst, *[await seconds_until_refused(each, issued.raw) for each in (one, other)])
    assert worst < 1


async def test_a_deactivated_tenant_is_refused(store: Store, grants: Grants, issue: Issue) -> None:
    issued = await issue()
    await grants.grant_of(issued.raw)
    async with store.transaction() as tx:
        await admin.set_tenant_active(tx, "acme", False, **BY)
    assert await seconds_until_refused(grants, issued.raw) < 1


async def test_altered_rights_are_seen(store: Store, grants: Grants, issue: Issue) -> None:
    issued = await issue()
    await grants.grant_of(issued.raw)
    async with store.transaction() as tx:
        await admin.alter_key(tx, issued.key.id, KeyAlteration(rate_limit_rpm=7), **BY)
    async with asyncio.timeout(1):
        while (await grants.grant_of(issued.raw)).rate_limit_rpm != 7:
            await asyncio.sleep(0)


async def test_while_not_listening_every_request_reads_the_key(
    store: Store, grants: Grants, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await issue()
    await grants.grant_of(issued.raw)

    async def refuse() -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(store, "dedicated", refuse)
    await end_sessions(store, "%LISTEN%")
    await eventually(lambda: not grants.listening)
    await grants.grant_of(issued.raw)
    await revoke(store, issued.key.id)
    assert await refused(grants, issued.raw)


async def test_after_a_broken_connection_changes_are_received_again(
    store: Store, grants: Grants, issue: Issue
) -> None:
    for _ in range(5):
        issued = await issue()
        await grants.grant_of(issued.raw)
        await asyncio.gather(end_sessions(store, "%LISTEN%"), revoke(store, issued.key.id))
        assert await seconds_until_refused(grants, issued.raw) < 1


async def test_a_key_read_before_a_change_is_not_cached_after_it(
    store: Store, grants: Grants, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read that races the revocation: it may answer once, it must not stay."""
    issued = await issue()
    autocommit = store.autocommit
    read, go_on = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncIterator[Tx]:
        async with autocommit() as tx:
            yield tx
        read.set()
        await go_on.wait()

    monkeypatch.setattr(store, "autocommit", slow)
    racing = asyncio.create_task(grants.grant_of(issued.raw))
    await read.wait()
    monkeypatch.undo()
    async with running(store) as witness:
        await witness.grant_of(issued.raw)
        await revoke(store, issued.key.id)
        await seconds_until_refused(witness, issued.raw)
    other = await issue()
    await grants.grant_of(other.raw)
    go_on.set()
    await racing
    assert await seconds_until_refused(grants, issued.raw) < 1


async def test_a_key_may_be_limited_to_networks(grants: Grants, issue: Issue) -> None:
    issued: IssuedKey = await issue(networks=("192.0.2.0/24", "2001:db8::/32"))
    for address, welcome in [
        ("192.0.2.7", True),
        ("::ffff:192.0.2.7", True),
        ("2001:db8::1", True),
        ("192.0.3.7", False),
        ("2001:db9::1", False),
        ("not an address", False),
        (None, False),
    ]:
        assert (await refused(grants, issued.raw, address) is None) == welcome, address


async def test_without_the_database_an_uncached_key_is_unavailable(store: Store, issue: Issue) -> None:
    issued = await issue()
    grants = Grants(store, SECRET)
    await store.close()
    with pytest.raises(Unavailable):
        await grants.grant_of(issued.raw)


async def test_the_last_use_is_saved(store: Store, issue: Issue) -> None:
    issued = await issue()
    grants = Grants(store, SECRET, clock=lambda: 777)
    await grants.grant_of(issued.raw)
    await grants.save_last_used()
    async with store.autocommit() as tx:
        (key,) = await listing(tx, issued.key.tenant_id)
    assert key.last_used_at == 777
