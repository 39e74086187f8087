"""A client that folds the stream's frames holds what REST shows: across reconnects, resumes and processes."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import Phase
from hypothesis import settings as tuned
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from app.commands import match_commands
from app.domain import scopes
from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit.clock import system_clock
from app.kit.errors import Conflict, NotFound
from app.sandbox.simulator.anomalies import Anomalies
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store import history
from app.store.connections import open_store
from scripts.services import Services
from tests.support import databases, stored
from tests.support.audience import Client, Service
from tests.support.eventually import eventually
from tests.support.folding import Message, in_order
from tests.support.lengths import short_then_long
from tests.support.matches import create_match, execute
from tests.support.services import settings_for
from tests.support.streaming import streaming
from tests.support.tenants import book
from tests.support.web import issuing

T = TypeVar("T")
RECORDED = match_commands.StreamGiven(
    url="https://vod.example/1",
    vod_anchors=(match_commands.VodAnchorGiven(at=system_clock(), offset_seconds=10.0),),
)
CONFIG = IngestConfig()
TROUBLE = Anomalies(restore=0.15, restart=0.05, crash=0.05, pause=0.05, reconnect=0.1, repeat=0.02)
#: Without shrinking: each step waits for a real service.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target)
_WATCH = {scopes.LIST, scopes.READ, scopes.DETAIL, scopes.MARKETS, scopes.SCOREBOARD}
_STREAMS = {scopes.STREAM_MATCHES, scopes.STREAM_MARKETS, scopes.STREAM_SCOREBOARD}
KEYS: dict[str, dict[str, Any]] = {
    "bookmaker": {"bundles": ("cs2.odds.basic", "cs2.odds.scoreboard-addon")},
    "house": {"bundles": ("cs2.operator",)},
    "without market frames": {"scopes": tuple(_WATCH | {scopes.STREAM_MATCHES})},
    "list only": {"scopes": (scopes.LIST, scopes.STREAM_MATCHES)},
    "markets only": {"scopes": (scopes.MARKETS, scopes.STREAM_MARKETS)},
    "finished only": {"scopes": tuple(_WATCH | _STREAMS | {scopes.SETTLEMENTS}), "finished_only": True},
    "statistics": {"bundles": ("cs2.stats",)},
}


class Life(RuleBasedStateMachine):
    """Matches are played and corrected while clients connect, disconnect, and reconnect elsewhere."""

    def __init__(self, service: Service, runner: asyncio.Runner) -> None:
        super().__init__()
        self.service, self.runner = service, runner
        self.matches: list[Match] = []
        self.logs: list[list[str]] = []
        self.clients: list[Client] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @rule(seed=st.integers(0, 50))
    @precondition(lambda self: len(self.matches) < 3)
    def announce(self, seed: int) -> None:
        home, away = fictional_world().teams[:2]
        plan = MatchPlan(home, away, seed, system_clock(), brief=True, anomalies=TROUBLE)
        self.logs.append([line.text for line in simulate(plan)[0]])
        now = system_clock()
        fields = {"home": home.name, "away": away.name, "scheduled_at": now}
        self.matches.append(self.run(create_match(self.service.store, now, **fields)))

    @rule(which=st.integers(0, 2), lines=st.integers(1, 400), batches=st.integers(1, 4))
    @precondition(lambda self: self.matches)
    def play(self, which: int, lines: int, batches: int) -> None:
        for _ in range(batches):
            match, log = self._one(which)
            body = "".join(f"{line}\n" for line in log[:lines]).encode()
            del log[:lines]
            now = system_clock()
            name = f"{match.id}/{next(self.service.names)}"
            batch = Batch(id=name, match_id=match.id, number=match.number, arrived_at=now, body=body)
            self.run(apply_batch(self.service.store, batch, now, CONFIG))

    @rule(
        which=st.integers(0, 2),
        command=st.sampled_from(
            [
                match_commands.Suspend(reason="a doubt"),
                match_commands.Unsuspend(),
                match_commands.Describe(demo_url="https://demos.example/1.dem"),
                match_commands.Describe(streams=(RECORDED,)),
                match_commands.AwardMap(winner="team_a"),
                match_commands.AwardMatch(winner="team_b"),
                match_commands.Cancel(),
                match_commands.RenameTeam(team="team_a", name="New & Improved"),
            ]
        ),
    )
    @precondition(lambda self: self.matches)
    def correct(self, which: int, command: match_commands.Command) -> None:
        store, match = self.service.store, self._one(which)[0]
        with suppress(Conflict, NotFound):
            self.run(execute(store, match, command, system_clock()))

    @rule(which=st.integers(0, 2), booked=st.booleans())
    @precondition(lambda self: self.matches)
    def book(self, which: int, booked: bool) -> None:
        self.run(book(self.service.store, self._one(which)[0], booked))

    @rule(
        key=st.sampled_from(sorted(KEYS)),
        host=st.integers(0, 1),
        only=st.integers(-2, 2),
        skip_known=st.booleans(),
    )
    @precondition(lambda self: len(self.clients) < 6)
    def connect(self, key: str, host: int, only: int, skip_known: bool) -> None:
        one = only >= 0 and self.matches and KEYS[key].get("finished_only") is None
        ref = str(self._one(only)[0].id) if one else ""
        client = Client(self.service, key, ref, skip_known)
        self.clients.append(client)
        self.run(client.connect(self.service.hosts[host], resume=False))

    @rule(which=st.integers(0, 5), host=st.integers(0, 1), resume=st.booleans())
    @precondition(lambda self: self.clients)
    def disconnect_or_reconnect(self, which: int, host: int, resume: bool) -> None:
        client = self.clients[which % len(self.clients)]
        if client.connected:
            self.run(client.leave())
        else:
            self.run(client.connect(self.service.hosts[host], resume))

    @rule(seconds=st.sampled_from([0.02, 0.15, 0.3]))
    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    @rule()
    @precondition(lambda self: any(client.connected for client in self.clients))
    def compare(self) -> None:
        self.run(self._compare())

    def teardown(self) -> None:
        self.run(self._compare())
        for client in self.clients:
            self.run(client.leave())
        for match in self.matches:
            self.correct(self.matches.index(match), match_commands.Cancel())

    def _one(self, which: int) -> tuple[Match, list[str]]:
        index = which % len(self.matches)
        return self.matches[index], self.logs[index]

    async def _compare(self) -> None:
        head = await stored.head(self.service.store)
        for client in self.clients:
            if client.connected:
                await client.caught_up(head)
                await self._check(client)

    async def _check(self, client: Client) -> None:
        granted = await self._granted(client.key)
        service, folded = self.service, client.folded
        for match_id, held in folded.matches.items():
            await eventually(
                partial(self._differences, client.key, match_id, held), lambda found: not found, 5
            )
        if scopes.STREAM_MARKETS in granted and not KEYS[client.key].get("finished_only"):
            for match in (
                self.matches if not client.ref else [m for m in self.matches if str(m.id) == client.ref]
            ):
                path, held = f"/matches/{match.id}/markets", folded.offers.get(str(match.id), {})
                shown = (200, in_order(held.values()))
                await eventually(partial(service.rest, client.key, path), shown.__eq__, 5)
            await self._check_settlements(client)
        if not granted & _STREAMS:
            assert {frame["type"] for frame in folded.received} == {"alive"}
        if scopes.STREAM_MATCHES in granted and not client.ref and not KEYS[client.key].get("finished_only"):
            _, live = await service.rest("house", "/matches?status=live&limit=200")
            assert {row["id"] for row in live} <= set(folded.matches)
        if KEYS[client.key].get("finished_only"):
            assert all(match["status"] == "finished" for match in folded.matches.values())

    async def _differences(self, key: str, match_id: str, held: Message) -> dict[str, Any]:
        """Where REST, whose answers may be some milliseconds old, and a client differ about a match."""
        status, shown = await self.service.rest(key, f"/matches/{match_id}")
        assert status == 200 and held.keys() == shown.keys()
        return {name: (held[name], shown[name]) for name in held if held[name] != shown[name]}

    async def _check_settlements(self, client: Client) -> None:
        """None is lost since the last snapshot."""
        wanted: set[int] = set()
        async with self.service.store.autocommit() as tx:
            for match in self.matches:
                if client.ref in ("", str(match.id)):
                    wanted |= {entry.id for entry in await history.ledger(tx, match.id)}
        assert {one for one in wanted if one > (client.begun or 0)} <= client.folded.settlements.keys()

    async def _granted(self, key: str) -> set[str]:
        async with httpx.AsyncClient(base_url=f"http://{self.service.hosts[0]}") as rest:
            response = await rest.get("/v1/whoami", headers={"X-API-Key": self.service.keys[key]})
        return set(response.json()["data"]["scopes"])


async def start(stack: AsyncExitStack, services: Services, template: str, vhost: str) -> Service:
    url = await stack.enter_async_context(databases.copied(services.database_url, template))
    often = {"stream_poll_all_millis": 100, "stream_poll_match_millis": 100, "alive_seconds": 1}
    settings = settings_for(services, url, rabbitmq_internal_vhost=vhost, stream_backlog=100_000, **often)
    store = await stack.enter_async_context(await open_store(settings.database_url, 2))
    issue = issuing(store, settings.secret_key)
    keys = {name: await issue(rate_limit_rpm=1_000_000, **properties) for name, properties in KEYS.items()}
    hosts = [await stack.enter_async_context(streaming(settings)) for _ in range(2)]
    return Service(hosts, store, keys)


@pytest.mark.parametrize("examples", short_then_long([4, 10]))
def test_what_is_folded_is_what_rest_shows(
    services: Services, template: str, vhost: str, examples: int
) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        service = runner.run(start(stack, services, template, vhost))
        try:
            run_state_machine_as_test(
                lambda: Life(service, runner),
                settings=tuned(max_examples=examples, stateful_step_count=25, deadline=None, phases=PHASES),
            )
        finally:
            runner.run(stack.aclose())
