"""Two checkouts on the same servers: neither takes what is the other's."""

import secrets
from collections.abc import AsyncIterator

import pytest

from app.broker.management import Management
from scripts.demonstration import paths
from scripts.demonstration.shared_servers import claim_vhosts, release_vhosts

Names = tuple[str, list[str]]


@pytest.fixture
async def names(management: Management) -> AsyncIterator[Names]:
    """Names for two claims and the tenants that both want."""
    mark = secrets.token_hex(4)
    tenants = [f"acme-{mark}", f"beta-{mark}"]
    yield mark, tenants
    for vhost in (*tenants, f"ours-{mark}", f"theirs-{mark}"):
        await management.delete_vhost(vhost)


async def test_what_another_demo_has_is_neither_claim_vhosts_nor_removed(
    management: Management, names: Names
) -> None:
    mark, tenants = names
    assert await claim_vhosts(management, f"theirs-{mark}", tenants) == []
    for tenant in tenants:
        await management.put_vhost(tenant)
    assert await claim_vhosts(management, f"ours-{mark}", tenants) == tenants
    await release_vhosts(management, f"ours-{mark}", tenants)
    assert {f"theirs-{mark}", *tenants} <= set(await management.vhosts())


async def test_ours_is_claim_vhosts_again_after_a_crash_and_free_once_release_vhosts(
    management: Management, names: Names
) -> None:
    mark, tenants = names
    await claim_vhosts(management, f"ours-{mark}", tenants)
    await management.put_vhost(tenants[0])
    assert await claim_vhosts(management, f"ours-{mark}", tenants) == []
    await release_vhosts(management, f"ours-{mark}", tenants)
    assert await claim_vhosts(management, f"theirs-{mark}", tenants) == []


def test_names_differ_by_checkout() -> None:
    for name in (paths.DATABASE, paths.INTERNAL_VHOST, paths.CLAIM):
        assert name.endswith(paths.MARK)
