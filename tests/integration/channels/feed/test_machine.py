"""The consistency test: whatever happens to a client, its open markets, results and statuses end as REST's.

Hypothesis draws what happens on matches and what happens to the client: when it reads what, how the live
lane and the replay interleave, what it reads twice, when its connection breaks, when it requests a
recovery. The broker, the database and the feed are real.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from app.amqp.lease import LeaseLost
from app.channels.feed.session import FeedSession
from app.domain.market import MarketStatus, Result
from app.domain.match import Match
from app.domain.recovery import RecoveryKind
from app.domain.settlement import VoidWindow
from app.settings import Settings
from app.store.connections import open_store
from tests.faults.fold import windowed
from tests.faults.rig import Rig, rigged
from tests.integration.channels.feed.bettor import LANES, Bettor, Key
from tests.integration.channels.feed.conftest import new_session
from tests.support import stored
from tests.support.eventually import eventually
from tests.support.loop import Loop
from tests.support.story import Story, offer
from tests.support.web import issuing, serving

EXAMPLES = int(os.environ.get("MATCHFEED_CONSISTENCY_EXAMPLES", "8"))
CODES = {"upcoming": "0", "live": "1", "finished": "4", "cancelled": "5"}
RecoveryState = tuple[dict[Key, str], dict[Key, str], dict[str, str]]  #: offered, results, statuses


class World:
    """What all examples share: a feed, a web application, and an operator's key."""

    session: FeedSession

    def __init__(self, loop: Loop, rig: Rig, web: Any) -> None:
        self.loop, self.rig, self.web = loop, rig, web

    async def truth(self, matches: list[Match]) -> RecoveryState:
        """The state of these matches as REST shows it."""
        state: RecoveryState = ({}, {}, {})
        for match in matches:
            await self._look(f"od:match:{match.number}", state)
        return state

    async def _look(self, urn: str, state: RecoveryState) -> None:
        offered, results, statuses = state
        shown = (await self.web.get(f"/cs2/v1/matches/{urn}")).json()["data"]
        statuses[urn] = CODES[shown["status"]]
        for market in shown["markets"]:
            price = "suspended" if market["suspended"] else str(market["odds"])
            offered[urn, str(market["id"]), market["specifiers"]] = price
        entries = (await self.web.get(f"/cs2/v1/matches/{urn}/settlements?limit=1000")).json()["data"]
        for entry in entries:
            about, outcome = entry["specifiers"], entry["outcome"]
            results[urn, str(entry["market_id"]), about] = outcome
            if window := entry.get("void_window"):
                about = windowed(about, window["start_time"], window["end_time"])
                results[urn, str(entry["market_id"]), about] = None if window["rolled_back"] else "void"
        for key in [key for key, outcome in results.items() if outcome is None]:
            del results[key]


class Machine(RuleBasedStateMachine):
    """One tenant's client, some matches, and all that may happen to them."""

    world: World

    @initialize(
        kind=st.sampled_from([RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL]), bet_stop=st.booleans()
    )
    def begin(self, kind: RecoveryKind, bet_stop: bool) -> None:
        self.story = Story(self.world.rig.store)
        self.matches: list[Match] = []
        self.open: dict[int, set[int]] = {}
        self.ended: dict[int, set[int]] = {}
        self.windows: dict[int, set[tuple[int, VoidWindow]]] = {}
        self.kind = kind
        self.tenant, url = self.run(self.world.rig.tenant(bet_stop=bet_stop))
        exchange = self.world.rig.settings.exchange
        self.bettor = Bettor(self.world.rig.store, self.tenant, url, exchange, kind)
        self.run(self.bettor.connect())
        self.new_match()
        self.run(eventually(self._published))

    def run(self, work: Any) -> Any:
        return self.world.loop.run(work)

    async def _published(self) -> bool:
        publisher = self.world.session.relay.publishers.get(self.tenant.id)
        head = await stored.head(self.world.rig.store)
        return publisher is not None and publisher.healthy and publisher.cursor >= head

    @rule()
    def new_match(self) -> None:
        match = self.run(self.story.match())
        self.matches.append(match)
        self.open[match.number], self.ended[match.number] = set(), set()
        self.windows[match.number] = set()

    @rule(data=st.data(), count=st.integers(1, 3), suspended=st.booleans())
    def offer(self, data: st.DataObject, count: int, suspended: bool) -> None:
        if match := self._any(data, self.open):
            status = MarketStatus.SUSPENDED if suspended else MarketStatus.ACTIVE
            fresh = [each for each in range(1, 9) if each not in self.ended[match.number]][:count]
            self.run(self.story.offer(match, *(offer(each, status=status) for each in fresh)))
            self.open[match.number] |= set(fresh)

    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        """All that is on offer of a match is suspended at once."""
        if match := self._any(data, self.open):
            open_now = sorted(self.open[match.number])
            suspended = [offer(each, status=MarketStatus.SUSPENDED) for each in open_now]
            self.run(self.story.offer(match, *suspended))

    @rule(data=st.data(), result=st.sampled_from([Result.WON, Result.LOST, Result.VOID]))
    def end_markets(self, data: st.DataObject, result: Result) -> None:
        match = self._any(data, {number: each for number, each in self.open.items() if each})
        if match:
            numbers = data.draw(st.sets(st.sampled_from(sorted(self.open[match.number])), min_size=1))
            self._end(match, numbers, result)

    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        match = self._any(data, {number: each for number, each in self.ended.items() if each})
        if match and match.number in self.open:
            number = data.draw(st.sampled_from(sorted(self.ended[match.number])))
            self.run(self.story.take_back(match, offer(number)))
            self.ended[match.number].discard(number)
            self.open[match.number].add(number)

    @rule(data=st.data(), start=st.integers(1, 3), length=st.integers(0, 2))
    def void_bets(self, data: st.DataObject, start: int, length: int) -> None:
        """The bets of a window are void on some markets, whatever their state."""
        known = {number: self.open.get(number, set()) | each for number, each in self.ended.items()}
        window = VoidWindow(start, start + length)
        match = self._any(data, {number: each for number, each in known.items() if each})
        if match:
            numbers = data.draw(st.sets(st.sampled_from(sorted(known[match.number])), min_size=1))
            fresh = {(number, window) for number in numbers} - self.windows[match.number]
            if fresh:
                self.run(self.story.void_bets(match, window, *(offer(number) for number, _ in sorted(fresh))))
                self.windows[match.number] |= fresh

    @rule(data=st.data())
    def take_back_bets(self, data: st.DataObject) -> None:
        """Such a rollback is replayed by the global recovery alone."""
        match = self._any(data, {number: each for number, each in self.windows.items() if each})
        if match and self.kind is RecoveryKind.FACADE_FULL:
            number, window = data.draw(st.sampled_from(sorted(self.windows[match.number])))
            self.run(self.story.void_bets(match, window, offer(number), rolled_back=True))
            self.windows[match.number].discard((number, window))

    @rule(data=st.data(), cancelled=st.booleans())
    def end_match(self, data: st.DataObject, cancelled: bool) -> None:
        if match := self._any(data, self.open):
            self._end(match, self.open[match.number], Result.VOID if cancelled else Result.LOST)
            del self.open[match.number]
            self.run(self.story.cancel(match) if cancelled else self.story.finish(match))

    @rule(lane=st.sampled_from(sorted(LANES)), count=st.integers(1, 10), twice=st.booleans())
    def read(self, lane: str, count: int, twice: bool) -> None:
        self.bettor.read(lane, count, twice=twice)

    @rule(seconds=st.sampled_from([0.0, 0.05, 0.3]))
    def pass_time(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    @rule()
    def request_recovery(self) -> None:
        self.run(self.bettor.recover())

    @rule()
    def break_off(self) -> None:
        self.run(self.bettor.connect())

    def teardown(self) -> None:
        try:
            self.run(self._end_as_rest_says())
        finally:
            self.run(self.bettor.close())

    async def _end_as_rest_says(self) -> None:
        await eventually(self._published, seconds=60)
        expected = await self.world.truth(self.matches)

        async def seen() -> RecoveryState:
            await self.bettor.recover()
            for lane in LANES:
                self.bettor.read(lane, 10_000)
            book = self.bettor.book
            published = {match: state for match, (_, state) in book.statuses.items()}
            # All begin live and unpublished; of one that was never read of, nothing can be known.
            statuses = {
                urn: published.get(urn, CODES["live"] if urn in book.seqs else code)
                for urn, code in expected[2].items()
            }
            state = _of(expected[2], book.offered), _of(expected[2], book.results), statuses
            return state if self.bettor.idle else ({}, {}, {})

        async def different() -> list[tuple[Any, Any]]:
            pairs = zip(await seen(), expected, strict=True)
            return [
                (key, published.get(key), shown.get(key))
                for published, shown in pairs
                for key in published.keys() | shown.keys()
                if published.get(key) != shown.get(key)
            ]

        await eventually(different, lambda found: not found, 60)

    def _any(self, data: st.DataObject, among: dict[int, Any]) -> Match | None:
        found = [match for match in self.matches if match.number in among]
        return data.draw(st.sampled_from(found)) if found else None

    def _end(self, match: Match, numbers: set[int], result: Result) -> None:
        if numbers:
            offers = [offer(number) for number in sorted(numbers)]
            if result is Result.VOID:
                self.run(self.story.void(match, *offers))
            else:
                self.run(self.story.settle(match, *offers, result=result))
        self.ended[match.number] |= numbers
        self.open[match.number] = self.open[match.number] - numbers


def _of(matches: dict[str, str], published: dict[Key, str]) -> dict[Key, str]:
    """What was published of these matches: a recovery replays those that earlier examples left live, too."""
    return {key: state for key, state in published.items() if key[0] in matches}


async def feed(world: World, stopping: asyncio.Event) -> None:
    """One session after another, as the feed process does."""
    while not stopping.is_set():
        world.session = new_session(world.rig)
        with contextlib.suppress(LeaseLost):
            await world.session.run(stopping)


@contextlib.asynccontextmanager
async def opened(loop: Loop, settings: Settings, directory: Path) -> AsyncIterator[World]:
    async with (
        await open_store(settings.database_url, 6) as store,
        rigged(settings, store, directory) as rig,
        serving(settings) as web,
    ):
        issue = issuing(store, settings.secret_key)
        web.headers["X-API-Key"] = await issue("house", bundles=("cs2.operator",))
        world, stopping = World(loop, rig, web), asyncio.Event()
        running = asyncio.create_task(feed(world, stopping))
        await eventually(lambda: hasattr(world, "session"))
        yield world
        stopping.set()
        await running


@pytest.mark.timeout(600)
def test_a_client_ends_with_what_rest_shows(anyio_backend: str, settings: Settings, tmp_path: Path) -> None:
    chosen = examples(max_examples=EXAMPLES, stateful_step_count=30, suppress_health_check=list(HealthCheck))
    with Loop() as loop, loop.opened(opened(loop, settings, tmp_path)) as world:
        run_state_machine_as_test(type("Played", (Machine,), {"world": world}), settings=chosen)
