"""What happens to the client's processes, and to the service's."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.sandbox.certification.accidents.facts import on_market, opposite, settled_market
from app.sandbox.certification.declarations import ALL, AMQP, accident
from app.sandbox.certification.stage import Stage

_STALLED_SECONDS = 8.0
_OFF_SECONDS = 30


@asynccontextmanager
async def _away(stage: Stage, how: signal.Signals = signal.SIGTERM) -> AsyncIterator[None]:
    """The client is ended, and started again once all that happens meanwhile has been published."""
    await stage.clients.stop(how=how)
    yield
    await stage.published()
    await stage.clients.start()
    await stage.connected()


@accident(
    ALL,
    what="The client is ended, a round is played, and it is started again.",
    client="Reads its book and its results from disk, and recovers from where they end.",
    why="Results of the time in between are replayed only to who says from when on.",
    restarts=True,
)
async def restarted(stage: Stage) -> None:
    async with _away(stage):
        await stage.main.play()


@accident(
    ALL,
    what="The client is killed in the middle of a round, and started again.",
    client="Finds a complete book on disk; pays nothing twice that it had paid.",
    why="A process may end between any two of its writes.",
    restarts=True,
)
async def killed(stage: Stage) -> None:
    playing = asyncio.create_task(stage.main.play(2))
    async with _away(stage, signal.SIGKILL):
        await playing


@accident(
    ALL,
    what="While the client is down, a market that it had settled gets the other result.",
    client="Replaces the older result by the replayed one, whether or not a rollback came.",
    why="A recovery replays of each market only its latest result; of frames, too, the newest counts.",
    restarts=True,
)
async def resettled_while_away(stage: Stage) -> None:
    entry = await settled_market(stage)
    async with _away(stage):
        await on_market(stage.main, "roll_back_market", entry, release=False)
        await on_market(stage.main, "settle_market", entry, result=opposite(entry))


@accident(
    ALL,
    what="While the client is down, a settlement that it had paid is rolled back, and not made again.",
    client="Takes the payment back: the market is listed as suspended, so it has no result.",
    why="Rollbacks are not replayed by every recovery: what is on offer has none.",
    restarts=True,
)
async def rolled_back_while_away(stage: Stage) -> None:
    entry = await settled_market(stage)
    async with _away(stage):
        await on_market(stage.main, "roll_back_market", entry, release=False)


@accident(
    ALL,
    what="While the client is down, a match ends that it had on offer.",
    client="Closes what is not replayed, and settles what is.",
    why="Nothing of a match that is over is on offer; its results come with what was missed.",
    restarts=True,
)
async def finished_while_away(stage: Stage) -> None:
    game = await stage.games.begin(rounds=6)
    await game.play()
    await stage.agree()
    async with _away(stage):
        await game.finish()


@accident(
    ALL,
    what="A second process of the client starts, and a round is played; the first one reconnects.",
    client="Each process has a book of its own; neither is disturbed by the other's recovery.",
    why="What one requests reaches the queues of both.",
    restarts=True,
)
async def two_processes(stage: Stage) -> None:
    await stage.clients.start(2)
    try:
        await stage.connected()
        await stage.until("the second process reports", lambda: 2 in stage.clients.received)
        await stage.main.play()
        stage.amqp.cut()
        stage.http.cut()
        await stage.main.play()
        await stage.agree()
    finally:
        await stage.clients.stop(2)


@accident(
    ALL,
    what=f"The client's process stands still for {_STALLED_SECONDS:.0f} seconds while two rounds are played.",
    client="Reads what has queued up, in order, and is right again.",
    why="A slow reader is behind, not wrong; beyond the limits it is notified, and recovers.",
    restarts=True,
)
async def stalled(stage: Stage) -> None:
    stage.clients.pause()
    await stage.main.play(2)
    await asyncio.sleep(_STALLED_SECONDS)
    stage.clients.resume()


@accident(
    ALL,
    what="The tenant gets a new key and password; the old ones end; the client starts with the new ones.",
    client="Ends with a clear error, or waits; goes on from its stored book with the new login.",
    why="Connections of an old login are closed within a second; trying again with it is refused.",
    restarts=True,
)
async def login_rotated(stage: Stage) -> None:
    async with _away(stage):
        await stage.service.grant()
        stage.truth.use(stage.service.access.api_key)
        await stage.main.play()


@accident(
    AMQP,
    what=f"The client begins anew with a clock that is {_OFF_SECONDS} seconds fast, then so much slow.",
    client="Compares our timestamps with each other, and recovers from two minutes before its `after`.",
    why="No rule of the feed but `after` has the client's clock in it: what is newer is for us to say.",
    restarts=True,
)
async def clock(stage: Stage) -> None:
    for later in (-_OFF_SECONDS, _OFF_SECONDS):
        async with stage.clock(later * 1000):
            await stage.main.play(2)
            await stage.agree()
    await stage.prepare()


@accident(
    AMQP,
    what="The process that publishes is killed in the middle of a round, and started again.",
    client="Ignores what comes twice; recovers if alive has subscribed=0.",
    why="A crash repeats messages that were not confirmed, with the same x-seq.",
)
async def feed_killed(stage: Stage) -> None:
    playing = asyncio.create_task(stage.main.play(2))
    await stage.service.kill("feed")
    await playing
    await stage.service.start("feed")
