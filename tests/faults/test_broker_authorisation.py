"""While nobody answers the broker's questions, who reads goes on reading, and our own processes get in."""

from collections.abc import AsyncIterator
from pathlib import Path

import aio_pika
import pytest

from app.broker.address import parse
from app.broker.connection import open_connection
from app.settings import Settings
from app.store.connections import Store
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Rig, consuming, rigged, until
from tests.support.eventually import eventually
from tests.support.tenants import gets_in


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[PrivateBroker]:
    broker = PrivateBroker(tmp_path / "broker")
    await broker.start()
    yield broker
    broker.close()


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker) -> AsyncIterator[Rig]:
    async with rigged(broker.used_by(settings), store, tmp_path) as rig:
        yield rig


async def test_tenants_go_on_reading_and_we_publish(rig: Rig, broker: PrivateBroker) -> None:
    tenant, url = await rig.tenant()
    exchange = rig.settings.exchange
    async with consuming(url, exchange) as reading:
        broker.answer_no_more()
        async with open_connection(parse(rig.settings.rabbitmq_url).url(tenant.slug), 5) as ours:
            to = await (await ours.channel()).get_exchange(exchange)
            await to.publish(aio_pika.Message(b"<a/>"), "hi.-.live.odds_change.2.od:match.1.-")
        await until("the message", lambda: reading.got)
        # No login, once the broker has forgotten its answers.
        await eventually(lambda: gets_in(url), lambda found: not found)
