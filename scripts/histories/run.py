"""One history on a running cluster: everything is recorded, mended, waited for, and audited."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any

import httpx

from app.kit.errors import Unavailable
from app.sandbox.simulator.anomalies import COMMON, GENTLE, NONE
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace
from scripts.histories import history as h
from scripts.histories.outcome import Outcome
from scripts.lab.auditor import Verdict, audit
from scripts.lab.collection import Collector, TenantClients
from scripts.lab.evidence import Evidence, Kind
from scripts.lab.faults import FAULTS, Breakage
from scripts.lab.feed_client import FeedClient, longest_silence
from scripts.lab.operators import Account, Operators, renew_key
from scripts.lab.play import Play, PlayedMatch
from scripts.lab.record import Record
from scripts.lab.stream_client import StreamClient
from scripts.local_services.processes import find

_READY_SECONDS = 60.0
_HEAL_SECONDS = 150.0
_QUIET_SECONDS = 120.0
_LOOK_SECONDS = 0.5
_END_PAUSE = 1.0
_ENDS = ("suspend", "suspend", "award_match", "cancel")
BUNDLES = ("cs2.odds.basic", "cs2.odds.scoreboard-addon")
_RECOVERY_SECONDS, _REQUEST_SECONDS = 30.0, 5.0
_ODDITIES = {"none": NONE, "gentle": GENTLE, "common": COMMON}
_RUSH = 250.0


class NotReady(Exception):
    """The cluster does not serve new clients, before anything was broken."""


class Run:
    """Runs of histories, one after another, with the same tenants."""

    def __init__(
        self,
        record: Record,
        operators: Operators,
        collector: Collector,
        ws_url: str,
        everyone: Sequence[Account],
    ) -> None:
        self._record, self._operators, self._collector = record, operators, collector
        self._ws_url, self._accounts = ws_url, everyone

    async def play(self, history: h.History) -> tuple[Outcome, Evidence]:
        """The outcome, and the evidence for it. Raises `NotReady`."""
        began = time.monotonic()
        await self._reset()
        played = _Played(self._record, self._operators, self._open_clients())
        try:
            since = await self._ready(played.clients)
            return await self._played(history, played, since, began)
        finally:
            await played.close()
            for match in played.matches.values():
                await self._operators.order(match.id, "cancel", {})

    def _open_clients(self) -> list[TenantClients]:
        return [self._open(one, durable=number == 1) for number, one in enumerate(self._accounts)]

    def _open(self, account: Account, *, durable: bool) -> TenantClients:
        feed = FeedClient(
            account,
            self._operators.base_url,
            durable=durable,
            patience=_RECOVERY_SECONDS,
            seconds=_REQUEST_SECONDS,
        )
        return TenantClients(account, feed, StreamClient(account, self._ws_url))

    async def _reset(self) -> None:
        """Everything runs, and every market type is on for every tenant."""
        await Breakage(self._record).restart()
        self._operators.errors.clear()
        for one in self._accounts:
            path = f"/ops/v1/tenants/{one.slug}/market-types"
            for kind in await self._operators.insist("GET", path):
                if not kind["on"]:
                    await self._operators.insist("PUT", f"{path}/{kind['id']}", {"on": True})

    async def _ready(self, clients: Sequence[TenantClients]) -> int:
        """Wait until everybody is connected and has recovered; the last number of the change log then."""
        deadline = time.monotonic() + _READY_SECONDS
        while not all(one.feed.complete and one.stream.alive >= 0 for one in clients):
            if time.monotonic() > deadline:
                raise NotReady([(one.account.slug, one.feed.complete, one.stream.alive) for one in clients])
            await asyncio.sleep(_LOOK_SECONDS)
            for one in clients:
                one.check()
        return await self._collector.head()

    async def _played(
        self, history: h.History, played: "_Played", since: int, began: float
    ) -> tuple[Outcome, Evidence]:
        begin = time.time()
        await played.all(history)
        heal = await self._healed(played)
        healed = time.time()
        await self._end(history, played)
        evidence, verdict = await self._quiet(played, since)
        silence = max(
            (longest_silence(one.deliveries, one.away, begin, healed) for one in evidence.tenants),
            default=0.0,
        )
        outcome = Outcome(
            seed=history.seed,
            faults=history.faults,
            steps=len(history.steps),
            matches=len(played.matches),
            received=verdict.received,
            repeated=verdict.repeated,
            lost=verdict.count(Kind.LOST),
            invented=verdict.count(Kind.INVENTED),
            silence=round(silence, 1),
            heal=heal,
            seconds=round(time.monotonic() - began, 1),
            findings=tuple(map(str, verdict.findings)),
        )
        return outcome, evidence

    async def _healed(self, played: "_Played") -> float | None:
        """Seconds from the end of the last fault until every book equals what REST shows, but for what is on
        its way; None: not in time."""
        began = played.breakage.mended
        waiting = list(played.clients)
        while time.time() < began + _HEAL_SECONDS:
            for one in tuple(waiting):
                one.check()
                news = one.feed.deliveries and one.feed.deliveries[-1].moment > began
                if news and one.feed.complete and await self._equal(one):
                    waiting.remove(one)
            if not waiting:
                return round(time.time() - began, 1)
            await asyncio.sleep(_LOOK_SECONDS)
        return None

    async def _equal(self, one: TenantClients) -> bool:
        found = await self._collector.comparison(one)
        return found is not None and all(each.get("behind") for each in found["differences"])

    async def _end(self, history: h.History, played: "_Played") -> None:
        """The servers fall silent, and each match is suspended or ended."""
        await played.play.stop()
        rng = Random(f"the end of {history.seed}")
        for number in sorted(played.matches):
            match = played.matches[number]
            command = rng.choice(_ENDS)
            fields = {"winner": "team_a"} if command == "award_match" else {}
            while not await self._operators.order(match.id, command, fields):
                await asyncio.sleep(_LOOK_SECONDS)

    async def _quiet(self, played: "_Played", since: int) -> tuple[Evidence, Verdict]:
        """The evidence once nothing is wrong any more and nothing changes, or when that takes too long."""
        deadline = time.monotonic() + _QUIET_SECONDS
        names = {match.id: match.urn for match in played.matches.values()}
        while True:
            for one in played.clients:
                one.check()
            try:
                head = await self._collector.head()
                failures = [*self._operators.errors, *played.breakage.failures, *self._ended()]
                evidence = await self._collector.collect(names, played.clients, since, failures)
                same = head == await self._collector.head()
            except (Unavailable, httpx.HTTPError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_END_PAUSE)
                continue
            verdict = audit(evidence)
            streamed = all(one.stream.alive >= head for one in played.clients)
            if (same and streamed and not verdict.findings) or time.monotonic() > deadline:
                return evidence, verdict
            await asyncio.sleep(_END_PAUSE)

    def _ended(self) -> list[str]:
        """Processes that have ended by themselves."""
        return [f"{each.name} has ended" for each in self._record.processes if not find(each)]


class _Played:
    """What belongs to one run: its matches, its clients, what it breaks."""

    def __init__(self, record: Record, operators: Operators, clients: list[TenantClients]) -> None:
        self.clients = clients
        self.matches = dict[int, PlayedMatch]()  #: by the numbers of their steps
        self.play = Play(batch_seconds=0.5)
        self.breakage = Breakage(record)
        self._operators = operators

    async def all(self, history: h.History) -> None:
        """Take every step at its moment, and wait until all is mended."""
        began = time.monotonic()
        tasks = set[asyncio.Task[None]]()
        for step in history.steps:
            await asyncio.sleep(max(0.0, began + step.at - time.monotonic()))
            tasks.add(asyncio.create_task(self._take(step)))
            for one in self.clients:
                one.check()
        await asyncio.sleep(max(0.0, began + history.seconds - time.monotonic()))
        for task in tasks:
            await task

    async def close(self) -> None:
        await self.play.stop()
        for one in self.clients:
            await one.close()

    def _take(self, step: h.AnyStep) -> Coroutine[Any, Any, None]:
        match step:
            case h.Play():
                return self._begin(step)
            case h.Break():
                return self.breakage.hit(FAULTS[step.fault], step.host, step.seconds)
            case h.Order():
                return self._order(step)
            case h.Rival():
                return self._rival(step)
            case h.Book():
                return self._book(step)
            case _:
                return self._tenant(step)

    async def _order(self, step: h.Order) -> None:
        if match := self.matches.get(step.match):
            await self._operators.order(match.id, step.command, step.fields, step.pick)

    async def _begin(self, step: h.Play) -> None:
        plan = _plan(step)
        fields = {"home_strength": plan.home.points, "away_strength": plan.away.points}
        now = time.time_ns() // 1_000_000
        match = await self.play.create(self._operators, plan, "Histories", scheduled_at=now, **fields)
        self.matches[step.match] = match
        self.play.begin(match)

    async def _rival(self, step: h.Rival) -> None:
        if match := self.matches.get(step.match):
            self.play.rival(match)

    async def _book(self, step: h.Book) -> None:
        one, match = self.clients[step.tenant], self.matches.get(step.match)
        if match:
            one.uncertain.add(match.urn)
            path = f"/ops/v1/tenants/{one.account.slug}/bookings/{match.id}"
            await self._operators.insist("PUT", path, {"booked": step.booked})
            (one.unbooked.discard if step.booked else one.unbooked.add)(match.urn)

    async def _tenant(self, step: h.SwitchType | h.NewKey | h.Leave | h.Recover) -> None:
        one = self.clients[step.tenant]
        match step:
            case h.SwitchType():
                path = f"/ops/v1/tenants/{one.account.slug}/market-types/{step.type_id}"
                await self._operators.call("PUT", path, {"on": step.on})
            case h.NewKey():
                await renew_key(self._operators, one.account, *BUNDLES)
            case h.Leave(channel="feed"):
                await one.feed.leave(step.seconds)
            case h.Leave():
                await one.stream.leave(step.seconds)
            case h.Recover():
                one.feed.recover()


def _plan(step: h.Play) -> MatchPlan:
    home, away = fictional_world().pair(Random(step.seed))
    return MatchPlan(
        home,
        away,
        step.seed,
        0,
        best_of=step.best_of,
        pace=Pace(step.speed, rush_until=step.rush, rush=_RUSH),
        timestamps="millis",
        knife=False,
        brief=True,
        anomalies=_ODDITIES[step.oddities],
    )
