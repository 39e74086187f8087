"""A small season that was played before: three finished matches, one that is live, one to come.

It is played once a run, into a database that these tests only read (and issue keys in).
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import pytest

from app.domain.match import Match
from app.sandbox.simulator.fictional_world import FictionalTeam, fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan
from app.settings import Settings
from app.store.connections import open_store
from scripts.services import Services
from tests.integration.ingest.conftest import NOW
from tests.support import databases
from tests.support.loop import Loop
from tests.support.matches import create_match
from tests.support.season import Played, play
from tests.support.web import IssueKey, serving

DAY = 86_400_000
Get = Callable[..., Any]
A, B, C, D = fictional_world().teams[:4]


class Season(NamedTuple):
    """`old` was A:C five months ago, `series` A:B and `back` B:A lately; `live` is C:D, `coming` D:A."""

    url: str
    old: Played
    series: Played
    back: Played
    live: Played
    coming: Match

    @property
    def finished(self) -> tuple[Played, ...]:
        return self.old, self.series, self.back

    def of(self, team: FictionalTeam, *, lately: bool = False) -> list[Played]:
        """The finished matches of a team."""
        return [
            one
            for one in self.finished
            if team in (one.plan.home, one.plan.away) and not (lately and one is self.old)
        ]


@pytest.fixture(scope="session")
def season(services: Services, template: str) -> Iterator[Season]:
    with Loop() as loop, loop.opened(_played(services, template)) as played:
        yield played


@asynccontextmanager
async def _played(services: Services, template: str) -> AsyncIterator[Season]:
    async with databases.copied(services.database_url, template) as url:
        async with await open_store(url, 2) as store:

            async def run(
                home: FictionalTeam, away: FictionalTeam, days: int, share: float = 1.0, **plan: Any
            ) -> Played:
                event = "Open Cup" if share == 1 else "Hidden Cup"
                fields = {"brief": True, "begin": NOW - days * DAY} | plan
                return await play(store, MatchPlan(home, away, **fields), event, lines=300, share=share)

            old = await run(A, C, 150, seed=11)
            series = await run(A, B, 20, seed=5, best_of=3)
            back = await run(B, A, 10, seed=7, knife=True)
            live = await run(C, D, 0, 0.5, seed=9)
            later = {"home": D.name, "away": A.name, "event": "Later Cup", "scheduled_at": NOW + DAY}
            coming = await create_match(store, NOW, **later)
        yield Season(url, old, series, back, live, coming)


@pytest.fixture
def database_url(season: Season) -> str:
    return season.url


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, lambda: NOW + DAY) as client:
        yield client


@pytest.fixture
async def get(client: httpx.AsyncClient, issue: IssueKey) -> Get:
    """Request with an operator's key; the response's JSON."""
    headers = {"X-API-Key": await issue("house", bundles=("cs2.operator",), sports=("cs2", "soccer"))}

    async def fetch(path: str, **query: Any) -> Any:
        answer = await client.get(f"/cs2/v1/{path}", params=query, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return fetch


@pytest.fixture
async def outsider(client: httpx.AsyncClient, issue: IssueKey) -> Get:
    """Request with a key that has every scope and sees finished matches only; the response."""
    headers = {"X-API-Key": await issue("outside", bundles=("cs2.operator",), finished_only=True)}

    async def fetch(path: str, **query: Any) -> httpx.Response:
        return await client.get(f"/cs2/v1/{path}", params=query, headers=headers)

    return fetch
