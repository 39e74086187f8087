"""A result that a tenant claims to be wrong, and who may do something about it: over HTTP, by a clock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from msgspec.structs import replace

from app.claims.request import ClaimService, WantedClaim
from app.domain.claims import Claim
from app.domain.market import Market, Result, market_name
from app.domain.match import Match
from app.kit.clock import Clock, system_clock
from app.settings import Settings
from app.store import matches, tenants
from app.store.connections import Store
from tests.support.clocks import ManualClock
from tests.support.story import Story
from tests.support.web import Headers, IssueKey, serving

CONSENT_SECONDS = 60
_NOW = 1_900_000_000_000


class Dispute:
    """A market that was settled as won, the keys of two tenants and of two operators, and the claim that
    `make` made last."""

    def __init__(self, client: httpx.AsyncClient, store: Store, clock: ManualClock) -> None:
        self.client, self.store, self.clock = client, store, clock
        self.story = Story(store, clock)
        self.keys: dict[str, Headers] = {}
        self.match: Match
        self.market: Market
        self.claim = ""
        self.answers = 0
        self.consent: dict[str, Any] = {}

    @property
    def wanted(self) -> dict[str, Any]:
        """What is claimed."""
        return {
            "match": str(self.match.id),
            "market_offer_id": market_name(*self.market.key),
            "expected": "lost",
            "reason": "away won it",
            "evidence": "VOD at 00:14:32",
        }

    async def begin(self, issue: IssueKey) -> None:
        """Issue the keys, and settle the market."""
        for who in ("acme", "rival"):
            self.keys[who] = {"X-API-Key": await issue(who, bundles=("cs2.odds.basic",))}
        for who in ("house", "second"):
            self.keys[who] = {"X-API-Key": await issue(who, bundles=("cs2.operator",))}
        self.match, self.market = await self.story.settled()

    async def post(self, who: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.post(path, headers=self.keys[who], json={} if body is None else body)

    async def make(self, who: str = "acme", **fields: Any) -> httpx.Response:
        answer = await self.post(who, "/cs2/v1/claims", self.wanted | fields)
        if answer.status_code == 201:
            self.claim = answer.json()["data"]["id"]
        return answer

    async def read(self, who: str = "acme") -> httpx.Response:
        return await self.client.get(f"/cs2/v1/claims/{self.claim}", headers=self.keys[who])

    async def shown(self) -> dict[str, Any]:
        """The claim as its tenant sees it."""
        return (await self.read()).raise_for_status().json()["data"]

    async def withdraw(self, who: str = "acme") -> httpx.Response:
        path = f"/cs2/v1/claims/{self.claim}/withdraw"
        return await self.client.post(path, headers=self.keys[who])

    async def take(self, who: str = "house", **fields: Any) -> httpx.Response:
        return await self.post(who, f"/ops/v1/claims/{self.claim}/take", fields)

    async def answer(self, who: str = "house", text: str = "") -> httpx.Response:
        """Answer it, each time in other words."""
        self.answers += 1
        body = {"answer": text or f"home won it ({self.answers})"}
        return await self.post(who, f"/ops/v1/claims/{self.claim}/answer", body)

    async def uphold(self, who: str = "house", **fields: Any) -> httpx.Response:
        body = {"reason": "away won it", "answer": "you are right"} | fields
        answer = await self.post(who, f"/ops/v1/claims/{self.claim}/uphold", body)
        if answer.status_code == 202:
            self.consent = answer.json()["data"]
        return answer

    async def uphold_old(self, who: str = "house") -> httpx.Response:
        """Uphold it when its result has become an old one."""
        self.grow_old()
        return await self.uphold(who)

    async def give_consent(self, who: str = "second") -> httpx.Response:
        own = f"/ops/v1/consents/{self.consent['id']}"
        shown = (await self.client.get(f"{own}/preview", headers=self.keys["second"])).json()["data"]
        seen = shown["preview"]["fingerprint"] if shown["preview"] else "none"
        return await self.post(who, f"{own}/decision", {"decision": "consent", "fingerprint": seen})

    async def refuse_consent(self) -> None:
        path = f"/ops/v1/consents/{self.consent['id']}/decision"
        (await self.post("second", path, {"decision": "refuse", "reason": "no"})).raise_for_status()

    async def roll_back(self) -> None:
        """Somebody rolls the result back, whatever is claimed of it."""
        await self.story.take_back(self.match, self.market)

    def grow_old(self) -> None:
        """Time passes, until the result cannot be changed without consent."""
        self.clock.now += (CONSENT_SECONDS + 1) * 1000


@asynccontextmanager
async def disputed(settings: Settings, store: Store, issue: IssueKey) -> AsyncIterator[Dispute]:
    """A dispute before its claim is made, served by a web process of its own."""
    clock = ManualClock(_NOW)
    async with serving(replace(settings, consent_seconds=CONSENT_SECONDS), clock) as client:
        dispute = Dispute(client, store, clock)
        await dispute.begin(issue)
        yield dispute


async def claimed(
    store: Store,
    match: Match,
    market: Market,
    clock: Clock = system_clock,
    expected: Result = Result.LOST,
) -> Claim:
    """The claim of tenant `acme` that this market was lost, or otherwise."""
    service = ClaimService(store, clock, deadline_minutes=30, per_tenant=20)
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, "acme")
    wanted = WantedClaim(key=market.key, expected=expected, reason="away won it", evidence="VOD 00:14")
    return await service.make(tenant, lambda tx: matches.by_ref(tx, str(match.id)), wanted, by="tester")
