"""Frames a second to many clients of the stream, against a bare broadcast of the same bytes.

    python -m scripts.bench.stream [--clients 1000] [--matches 20] [--lines 25] [--repetitions 9] [--check]
        [--plot docs]

One process is the service, another the reference: a server made with the `websockets` library that calls
`broadcast()` for each of the very frames that the service has just sent. They send in turn, in the same run;
the clients, all of them here, count bytes and record when they arrive. Matches are simulated and played
between any two ticks. Figures are medians. `--check` fails when our frames/s fall below the reference's. Uses
the servers that the settings lead to, or starts its own (`scripts/services.py`); works in a database of its
own, which it removes.
"""

import statistics
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import click
import msgspec
import uvloop
from matplotlib import pyplot

from app import settings as configuration
from app.access.api_keys import KeyProperties
from app.commands import creation
from app.commands.creation import NewMatch
from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit import logging
from app.kit.clock import system_clock
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts import services
from scripts.bench.stream_clients import Audience
from scripts.bench.stream_servers import Process, Sent, broadcasting, serving
from scripts.lab.own_data import database, issue_key
from scripts.svg import save

CONFIG = IngestConfig()
RIGHTS = KeyProperties(bundles=("cs2.odds.basic", "cs2.odds.scoreboard-addon"))
BEGUN = 900  #: lines of a match's log before the first tick


class Figure(msgspec.Struct, frozen=True):
    """One tick: frames delivered a second (while they were written and arriving), microseconds of the
    server's processor for each client, and milliseconds until 99 of 100 frames were there."""

    rate: float
    cpu: float
    p99: float
    whole_p99: float = 0.0


CLIENTS, MATCHES = (100, 250, 500, 1000, 2000), (5, 10, 20, 40, 80)
WATCHING = 250  #: clients, where matches are counted
Run = Callable[[Settings, Connection], None]
Points = Sequence[tuple[int, float]]  #: how many there were, and what they cost


class Games:
    """Simulated matches in play."""

    def __init__(self, store: Store, lines: int) -> None:
        self._store = store
        self._lines = lines
        self._names = count()
        self._playing: list[tuple[Match, list[str]]] = []

    async def begin(self, wanted: int) -> None:
        """Have so many matches in play."""
        home, away = fictional_world().teams[:2]
        while len(self._playing) < wanted:
            seed = len(self._playing)
            log = [line.text for line in simulate(MatchPlan(home, away, seed, system_clock(), brief=True))[0]]
            new = NewMatch(allow_unrated=True, home=home.name, away=away.name, event="Bench", best_of=3)
            match = await creation.create_match(self._store, new, system_clock(), CONFIG.pricing)
            self._playing.append((match, log))
            await self._play(match, log, BEGUN)

    async def play(self) -> None:
        """Play every match on a little."""
        for match, log in self._playing:
            await self._play(match, log, self._lines)

    async def _play(self, match: Match, log: list[str], lines: int) -> None:
        now = system_clock()
        body = "".join(f"{line}\n" for line in log[:lines]).encode()
        del log[:lines]
        name = f"bench/{next(self._names)}"
        batch = Batch(id=name, match_id=match.id, number=match.number, arrived_at=now, body=body)
        await apply_batch(self._store, batch, now, CONFIG)


class Bench(msgspec.Struct, frozen=True):
    """Where we measure, the stream's address, and what is going on."""

    settings: Settings
    path: str
    games: Games


def figure(sent: Sent, arrived: list[tuple[float, int]], clients: int) -> Figure:
    """`arrived`: when the frame that ends at a byte of one client's share was there, for all clients."""
    last = max(at for at, _ in arrived)
    waits = sorted(at - sent.written_at for at, _ in arrived)
    p99 = waits[len(waits) * 99 // 100]
    return Figure(
        rate=len(arrived) / (last - sent.written_at),
        cpu=sent.cpu / clients * 1e6,
        p99=p99 * 1000,
        whole_p99=(p99 + sent.written_at - sent.begun_at) * 1000,
    )


class Side(msgspec.Struct, frozen=True):
    """A server and its audience."""

    process: Process
    audience: Audience

    async def send(self, frames: Sequence[str]) -> tuple[Figure, Sent]:
        """Have it send these, and wait until every client has received them."""
        sent = await self.process.send(frames)
        return figure(sent, await self.audience.received(sent.sizes), len(self.audience)), sent

    async def send_changes(self, games: Games) -> tuple[Figure, Sent]:
        """Play on until something has changed, and have it sent."""
        while True:
            await games.play()
            sent = await self.process.send(())
            if sent.sizes:
                return figure(sent, await self.audience.received(sent.sizes), len(self.audience)), sent


@asynccontextmanager
async def side(run: Run, settings: Settings, path: str, clients: int) -> AsyncIterator[Side]:
    async with Process(run, settings) as process:
        audience = await Audience.gathered(process.port, path, clients)
        yield Side(process, audience)
        audience.leave()


def median(figures: list[Figure]) -> Figure:
    return Figure(
        *(statistics.median(getattr(one, name) for one in figures) for name in Figure.__struct_fields__)
    )


def report(ours: list[Figure], theirs: list[Figure], sent: Sent) -> float:
    """Print what came out; our rate over the reference's."""
    size = sum(sent.sizes) / len(sent.sizes)
    print(f"last tick: {len(sent.sizes)} frames of {size:.0f} bytes on average")
    for name, figures in (("ours", ours), ("broadcast", theirs)):
        one = median(figures)
        whole = f", {one.whole_p99:6.0f} ms from the tick" if name == "ours" else ""
        print(
            f"{name:10}{one.rate:9.0f} frames/s {one.cpu:7.1f} us a client and tick, p99 {one.p99:6.0f} ms "
            f"from the first write{whole}"
        )
    shares = [mine.rate / reference.rate for mine, reference in zip(ours, theirs, strict=True)]
    print(
        f"ours / broadcast: {statistics.median(shares):.2f} of its frames/s (median of {len(shares)}, "
        f"{min(shares):.2f} to {max(shares):.2f})"
    )
    return statistics.median(shares)


async def compare(bench: Bench, clients: int, repetitions: int) -> float:
    """Both sides in turn; our share of the reference's rate."""
    ours: list[Figure] = []
    theirs: list[Figure] = []
    async with (
        side(serving, bench.settings, bench.path, clients) as mine,
        side(broadcasting, bench.settings, "/", clients) as reference,
    ):
        for _ in range(repetitions):
            one, sent = await mine.send_changes(bench.games)
            other, _ = await reference.send(sent.frames)
            ours.append(one)
            theirs.append(other)
    return report(ours, theirs, sent)


async def cost(bench: Bench, clients: int, repetitions: int) -> float:
    """Microseconds of the processor a client and tick (median)."""
    found: list[Figure] = []
    async with side(serving, bench.settings, bench.path, clients) as ours:
        for _ in range(repetitions):
            found.append((await ours.send_changes(bench.games))[0])
    return median(found).cpu


async def run(clients: int, matches: int, lines: int, repetitions: int, plot: Path | None) -> float:
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 4) as store,
    ):
        path = f"/cs2/v1/stream?api_key={await issue_key(store, settings, RIGHTS)}"
        bench = Bench(settings, path, Games(store, lines))
        await bench.games.begin(matches)
        share = await compare(bench, clients, repetitions)
        if plot:
            by_clients = [(each, await cost(bench, each, repetitions)) for each in CLIENTS]
            by_matches: list[tuple[int, float]] = []
            for each in MATCHES:
                await clear(store)
                fewer = msgspec.structs.replace(bench, games=Games(store, lines))
                await fewer.games.begin(each)
                by_matches.append((each, WATCHING * await cost(fewer, WATCHING, repetitions)))
            print("us a client and tick, by clients:", [(each, round(us, 1)) for each, us in by_clients])
            print("ms a tick, by matches:", [(each, round(us / 1000, 1)) for each, us in by_matches])
            draw(by_clients, by_matches, plot / "stream-cost.svg")
    return share


def draw(by_clients: Points, by_matches: Points, path: Path) -> None:
    """Left: microseconds a client and tick, by clients. Right: milliseconds a tick, by matches."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.6))
    left.plot([each for each, _ in by_clients], [cost for _, cost in by_clients], marker="o")
    left.set(xlabel="clients (20 matches)", ylabel="processor a client and tick, us", xlim=0, ylim=0)
    right.plot([each for each, _ in by_matches], [cost / 1000 for _, cost in by_matches], marker="o")
    right.set(xlabel="matches (250 clients)", ylabel="processor a tick, ms", xlim=0, ylim=0)
    save(figure, path)


async def clear(store: Store) -> None:
    """Nothing is live any more."""
    async with store.transaction() as tx:
        await tx.execute(
            "TRUNCATE match, market, change, round, timeline_event, ledger_entry, log_offset CASCADE"
        )


@click.command()
@click.option("--clients", default=1000, show_default=True)
@click.option("--matches", default=20, show_default=True)
@click.option("--lines", default=25, show_default=True, help="Lines of each match's log between two ticks.")
@click.option("--repetitions", default=9, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw the costs, into this folder.")
@click.option("--check", is_flag=True, help="Fail below the reference's frames/s.")
def main(clients: int, matches: int, lines: int, repetitions: int, plot: Path | None, check: bool) -> None:
    logging.configure("bench", level="ERROR")
    with services.running(services.BENCHMARKS):
        share = uvloop.run(run(clients, matches, lines, repetitions, plot))
    if check and share < 1:
        raise SystemExit(f"{share:.2f} of the reference's frames/s, the goal is 1")


if __name__ == "__main__":
    main()
