"""A full snapshot of a match that is over."""

import pytest

from app.domain.market import MarketStatus
from app.domain.match import Status
from app.domain.recovery import RecoveryKind
from app.domain.tenant import Tenant
from app.store.connections import Store
from tests.integration.recovery.test_plan import job, replayed
from tests.support.story import Story, offer


@pytest.mark.parametrize("kind", [RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL])
async def test_a_full_snapshot_has_open_markets_only_of_a_match_that_is_over(
    store: Store, tenant: Tenant, story: Story, kind: RecoveryKind
) -> None:
    match = await story.match(*map(offer, range(1, 4)))
    await story.settle(match, offer(1), offer(2))
    await story.void(match, offer(3))
    await story.finish(match)
    await story.take_back(match, offer(1))
    (odds,) = await replayed(store, job(tenant, kind))
    assert [(each.specifiers, each.status) for each in odds.markets] == [
        (offer(1).specifiers, MarketStatus.SUSPENDED)
    ]
    assert odds.status and odds.status.status is Status.FINISHED
