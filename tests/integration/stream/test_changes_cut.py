"""A client with nothing but HTTP, cut off in the middle of answers again and again while matches are played,
holds what the service holds."""

import copy
import random
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
from matchfeed_client import Book, Changes, Rest, State

from app.commands import match_commands
from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit.clock import system_clock
from app.kit.errors import Conflict
from app.sandbox.simulator.anomalies import Anomalies
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.settings import Settings
from app.store.connections import Store
from tests.support import stored
from tests.support.cutting import CuttingRoute
from tests.support.eventually import eventually
from tests.support.folding import Folded, in_order
from tests.support.lengths import short_then_long
from tests.support.matches import create_match, execute
from tests.support.meanwhile import meanwhile
from tests.support.streaming import Message, streaming
from tests.support.web import IssueKey

TROUBLE = Anomalies(restore=0.15, restart=0.05, crash=0.05, pause=0.05, reconnect=0.1, repeat=0.02)


class FoldingBook(Book):
    """The client's book, and a copy by the rules of `docs/stream.md` beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folded = Folded()

    def begin_snapshot(self) -> None:
        super().begin_snapshot()
        self.folded.connected()

    def fold(self, frame: Any) -> None:
        super().fold(frame)
        self.folded.fold(copy.deepcopy(frame))

    def shown(self) -> dict[str, dict[tuple[int, str], float | str]]:
        """By match, what is open with its odds, and what is suspended."""
        return {
            match: {
                tuple(key): float(each.odds) if each.odds else each.state.value
                for key, each in offers.items()
                if each.state is not State.CLOSED
            }
            for match, offers in self.offers.items()
        }


class Played:
    """Matches that are played from simulated logs, a batch at a time, and corrected by operators."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.random = store, random.Random(seed)
        self.matches: list[Match] = []
        self._logs: list[Iterator[str]] = []
        self._batches = 0

    async def step(self) -> None:
        chance = self.random
        if len(self.matches) < 3 or chance.random() < 0.01:
            await self._announce()
        which = chance.randrange(len(self.matches))
        if chance.random() < 0.03:
            await self._correct(self.matches[which])
        lines = [line for _, line in zip(range(chance.randrange(1, 60)), self._logs[which], strict=False)]
        await self._play(self.matches[which], lines)

    async def _announce(self) -> None:
        home, away = fictional_world().teams[:2]
        seed, now = len(self.matches), system_clock()
        plan = MatchPlan(home, away, seed, now, brief=True, anomalies=TROUBLE)
        self._logs.append(iter([line.text for line in simulate(plan)[0]]))
        fields = {"home": home.name, "away": away.name, "scheduled_at": now}
        self.matches.append(await create_match(self.store, now, **fields))

    async def _play(self, match: Match, lines: list[str]) -> None:
        self._batches += 1
        body, now = "".join(f"{line}\n" for line in lines).encode(), system_clock()
        name = f"{match.id}/{self._batches}"
        batch = Batch(id=name, match_id=match.id, number=match.number, arrived_at=now, body=body)
        await apply_batch(self.store, batch, now, IngestConfig())

    async def _correct(self, match: Match) -> None:
        command = self.random.choice(
            [match_commands.Suspend(reason="a doubt"), match_commands.Unsuspend(), match_commands.Cancel()]
        )
        try:
            await execute(self.store, match, command, system_clock())
        except Conflict:  # it is over, or suspended already
            return


async def follow(changes: Changes) -> None:
    async for _ in changes:
        pass


#: Pages are compressed: some kilobytes. A frame of a match alone may have fifty. Cuts come in the middle of
#: the first one, or after many.
@pytest.mark.parametrize(
    "cut",
    short_then_long(
        [(False, 10_000, 10), (True, 150_000, 10), (False, 10_000, 100), (True, 150_000, 100)],
        short=2,
        ids=["pages", "events", "pages, 100", "events, 100"],
    ),
)
async def test_cut_off_again_and_again_it_holds_what_the_service_holds(
    *,
    settings: Settings,
    store: Store,
    issue: IssueKey,
    monkeypatch: pytest.MonkeyPatch,
    cut: tuple[bool, int, int],
) -> None:
    events, most, cuts = cut
    monkeypatch.setattr("matchfeed_client.changes._FIRST_PAUSE_SECONDS", 0.001)
    key = await issue(bundles=("cs2.odds.basic", "cs2.odds.scoreboard-addon"), rate_limit_rpm=1_000_000)
    played, book = Played(store, 7), FoldingBook()
    settings = msgspec.structs.replace(settings, stream_backlog=100_000)
    async with (
        streaming(settings) as one,
        streaming(settings) as two,
        CuttingRoute([one, two], 11, most=most, times=cuts).open() as route,
        Rest(f"http://127.0.0.1:{route.port}", key) as rest,
        httpx.AsyncClient(base_url=f"http://{one}", headers={"X-API-Key": key}) as direct,
    ):
        changes = Changes(rest, book=book, events=events, wait_seconds=5, page_size=20)
        async with meanwhile(follow(changes)) as [task]:
            while route.cuts < cuts:
                await played.step()
                assert not task.done(), task.exception()
            head = await stored.head(store)
            await eventually(lambda: (changes.since or 0) >= head and not book.stale)
        await compare(direct, played.matches, book)


async def compare(direct: httpx.AsyncClient, matches: list[Match], book: FoldingBook) -> None:
    """The book, the copy and the ledger are what REST shows."""

    async def shown(path: str) -> Any:
        return (await direct.get(f"/cs2/v1/matches/{path}")).raise_for_status().json()

    expected: dict[str, dict[tuple[int, str], float | str]] = {}
    ledger: dict[int, Message] = {}
    for match in matches:
        name = str(match.id)
        if name in book.folded.matches:
            assert book.folded.matches[name] == (await shown(name))["data"]
        present = (await shown(f"{name}/markets"))["data"]
        assert in_order(book.folded.offers.get(name, {}).values()) == present
        expected[name] = {
            (row["id"], row["specifiers"]): row["odds"] if row["status"] == "active" else row["status"]
            for row in present
        }
        page = await shown(f"{name}/settlements?limit=1000")
        ledger |= {row["id"]: row for row in page["data"]}
        assert page["meta"]["total"] == len(page["data"])
    assert {name: offers for name, offers in book.shown().items() if offers} == {
        name: offers for name, offers in expected.items() if offers
    }
    assert ledger and book.folded.settlements == ledger
    assert set(book.folded.matches) == {str(match.id) for match in matches}
