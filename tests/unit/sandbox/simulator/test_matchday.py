"""The day keeps its promises towards a service that answers as ours does, in memory."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field

import httpx
import pytest

from app.sandbox.simulator.matchday import MatchDay, MatchDayConfig
from app.sandbox.simulator.service_client import OperatorClient
from tests.support.lengths import short_then_long

BASE = "http://service.test"


@dataclass
class Service:
    """Matches by id with the requests about them; `away` requests are answered 503 first."""

    away: int = 0
    matches: dict[str, str] = field(default_factory=dict)
    teams: dict[str, tuple[str, str]] = field(default_factory=dict)
    unbooked: set[str] = field(default_factory=set)
    history: list[Counter[str]] = field(default_factory=list)
    quoted: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.away:
            self.away -= 1
            return httpx.Response(503, json={"detail": "away"})
        answer = self._answer(request.method, request.url.path, request)
        self.history.append(Counter(self.matches.values()))
        return httpx.Response(200, json={"data": answer})

    def _answer(self, method: str, path: str, request: httpx.Request) -> object:
        if path == "/ops/v1/matches":
            return self._create(json.loads(request.content))
        if path == "/ops/v1/references":
            self.quoted.update({price["match"] for price in json.loads(request.content)})
        elif path.endswith("/log"):
            self._log(path.split("/")[4], request.content.decode())
        elif path.endswith("/cancel"):
            self.matches[path.split("/")[4]] = "cancelled"
        elif "/bookings/" in path:
            self.unbooked.add(path.rsplit("/", 1)[1])
        elif method == "GET":
            wanted = request.url.params["status"]
            return [{"id": k, "event": "Day"} for k, state in self.matches.items() if state == wanted]
        return None

    def _create(self, body: dict[str, str]) -> dict[str, object]:
        number = len(self.matches) + 1
        self.matches[f"m{number}"] = "upcoming"
        self.teams[f"m{number}"] = (body["team_a"], body["team_b"])
        return {
            "id": f"m{number}",
            "number": number,
            "log_sink_url": f"http://x/ops/v1/matches/m{number}/log",
        }

    def _log(self, match: str, body: str) -> None:
        if "Match_Start" in body and self.matches[match] == "upcoming":
            self.matches[match] = "live"
        if "Log file closed" in body:
            self.matches[match] = "finished"


async def run(service: Service, enough: int) -> list[str]:
    """A day at great speed, until this many matches have ended."""
    reported: list[str] = []
    done = asyncio.Event()

    def report(line: str) -> None:
        reported.append(line)
        if sum(line.startswith("end ") for line in reported) >= enough:
            done.set()

    async def nap(_: float) -> None:
        await asyncio.sleep(0)

    transport = httpx.MockTransport(service)
    async with httpx.AsyncClient(transport=transport) as client:
        operator = OperatorClient(client, BASE, "key", sleep=nap)
        day = MatchDay(client, operator, MatchDayConfig(speed=4000, event="Day"), report)
        task = asyncio.create_task(day.run())
        await asyncio.wait_for(done.wait(), 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return reported


@pytest.mark.parametrize("ended", short_then_long([4, 10]))
async def test_the_day_keeps_its_promises(ended: int) -> None:
    """Always some of each kind, one current match unbooked, and no team in two places."""
    service = Service()
    await run(service, ended)
    settled = next(i for i, now in enumerate(service.history) if now["finished"] >= 3 and now["live"] >= 3)
    for now in service.history[settled:]:
        assert now["finished"] >= 3
        assert now["upcoming"] >= 3
        assert now["live"] + now["upcoming"] >= 6
    current = [k for k, state in service.matches.items() if state in ("live", "upcoming")]
    assert len(service.unbooked) >= 2
    assert service.unbooked.intersection(current)
    teams = [team for match in current for team in service.teams[match]]
    assert len(teams) == len(set(teams))
    assert service.quoted.keys() & current, "the simulated market quotes upcoming matches"


async def test_what_an_earlier_day_left_is_cancelled() -> None:
    service = Service(matches={"old": "live", "older": "upcoming", "over": "finished"})
    reported = await run(service, 3)
    assert service.matches["old"] == service.matches["older"] == "cancelled"
    assert service.matches["over"] == "finished"
    assert sum("cancelled" in line for line in reported) == 2


async def test_a_service_that_is_away_is_waited_for() -> None:
    service = Service(away=8)
    await run(service, 3)
    assert list(service.matches.values()).count("finished") >= 3
