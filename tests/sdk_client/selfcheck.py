"""How many markets of a client's book differ from what the service has on offer."""

import asyncio
import time
from typing import Any

import httpx

from scripts.demonstration.report import Check, Look, look, verdict
from tests.sdk_client.book import SdkBook

_CHECK_SECONDS = 1.0


class SelfCheck:
    """The self-check of a tenant of the demo, requested at the address that is not for SDKs."""

    def __init__(self, base_url: str, key: str) -> None:
        self._rest = httpx.AsyncClient(base_url=base_url, headers={"X-API-Key": key}, trust_env=False)

    async def check(self, book: SdkBook) -> Check | None:
        """What differs at two looks, a second apart; None while the service does not answer, or while what
        differs may be on its way."""
        first = await self._look(book)
        await asyncio.sleep(_CHECK_SECONDS)
        second = await self._look(book)
        return verdict(first, second) if first and second else None

    async def settled(self, book: SdkBook) -> Check:
        """The first check that has a result."""
        while True:
            if found := await self.check(book):
                return found

    async def _look(self, book: SdkBook) -> Look | None:
        try:
            answer = await self._rest.post("/cs2/v1/selfcheck", json=book.digest())
        except httpx.TransportError:
            return None
        if answer.status_code != 200:
            return None
        data: Any = answer.json()["data"]
        return look(data, book.seqs, time.time_ns() // 1_000_000)
