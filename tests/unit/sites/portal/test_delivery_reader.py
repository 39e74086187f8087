"""Delivery to a tenant is read once for all who watch it."""

import asyncio
from uuid import UUID, uuid4

import pytest

from app.kit.errors import Unavailable
from app.sites.portal.dependencies import DeliveryReader


class Source:
    """Counts its reads; each waits until `answer` is set. `now` is the reader's clock."""

    def __init__(self) -> None:
        self.reads: list[UUID] = []
        self.reading = 0
        self.answer = asyncio.Event()
        self.now = 100.0
        self.away = False
        self.reader = DeliveryReader(self._read, 2.0, lambda: self.now)

    async def _read(self, tenant_id: UUID) -> None:
        self.reads.append(tenant_id)
        self.reading += 1
        try:
            await self.answer.wait()
        finally:
            self.reading -= 1
        if self.away:
            raise Unavailable("away")


async def test_whoever_asks_meanwhile_shares_the_read() -> None:
    source, acme, beta = Source(), uuid4(), uuid4()
    asking = [asyncio.create_task(source.reader.latest(each)) for each in (acme, acme, beta, acme)]
    await asyncio.sleep(0)
    asking[0].cancel()
    source.answer.set()
    done = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(done[0], asyncio.CancelledError) and done[1:] == [None] * 3
    assert sorted(source.reads) == sorted([acme, beta])


async def test_a_result_is_shared_until_it_is_old() -> None:
    source, acme = Source(), uuid4()
    source.answer.set()
    for now, reads in ((100.0, 1), (101.9, 1), (102.0, 2), (103.9, 2), (110.0, 3)):
        source.now = now
        await source.reader.latest(acme)
        assert len(source.reads) == reads, now


async def test_a_failure_is_not_shared_for_ever() -> None:
    source, acme = Source(), uuid4()
    source.away = True
    source.answer.set()
    with pytest.raises(Unavailable):
        await source.reader.latest(acme)
    source.away, source.now = False, 103.0
    assert await source.reader.latest(acme) is None


async def test_no_read_goes_on_after_the_end() -> None:
    source, acme, beta = Source(), uuid4(), uuid4()
    waiting = [asyncio.create_task(source.reader.latest(each)) for each in (acme, beta)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    await asyncio.wait(waiting)
    assert (source.reading, len(source.reads)) == (2, 2), "others may wait for it"
    await source.reader.close()
    assert source.reading == 0
    await source.reader.close()
