"""What goes wrong when a client requests what it missed, and while it is replayed."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from app.sandbox.certification.accidents.queue import NO_RECOVERY, SILENCE_SECONDS, notify
from app.sandbox.certification.altering import altered
from app.sandbox.certification.declarations import AMQP, accident
from app.sandbox.certification.deliveries import Delivery, Treatment
from app.sandbox.certification.http_proxy import Cut, Refusal, Request
from app.sandbox.certification.stage import RETRY_SECONDS, TOO_MANY, Stage, WrongBook, require_pause

_REQUEST = re.compile(rb'request_id="[^"]*"')


@accident(
    AMQP,
    what="Recoveries are refused with 409 twice: another one is in progress (at the SDK address none is).",
    client="Stays suspended, and requests again with another request_id until one is accepted.",
    why="After a restart the recovery of the process before may still run.",
)
async def recovery_409(stage: Stage) -> None:
    if stage.http.serves_sdk:
        await _refused(stage, None, 0)
    else:
        await _refused(stage, Refusal(409, "Another recovery is in progress.", {"retry-after": "5"}))


@accident(
    AMQP,
    what=f"A recovery is refused with 429, and Retry-After of {RETRY_SECONDS} seconds.",
    client="Stays suspended, and requests again after these seconds, not before.",
    why="Requests that come earlier are refused, too, and count.",
)
async def recovery_429(stage: Stage) -> None:
    require_pause(await _refused(stage, TOO_MANY, 1))


@accident(
    AMQP,
    what="Recoveries are refused with 503 three times.",
    client="Stays suspended, and requests again until one is accepted.",
    why="REST may be down while the queue is not.",
)
async def recovery_503(stage: Stage) -> None:
    await _refused(stage, NO_RECOVERY, 3)


@accident(
    AMQP,
    what="The connection breaks before the answer to a recovery's request arrives.",
    client="Requests again, unless what it requested is replayed after all.",
    why="Whether the service has received the request is unknown.",
)
async def recovery_no_answer(stage: Stage) -> None:
    async with stage.requests(Cut(0), _full_recovery, 1) as times:
        await _interrupt(stage)
        await stage.until("a recovery is requested", lambda: bool(times), stage.patience)
        await stage.main.play()
        await stage.agree()


@accident(
    AMQP,
    what="The connection is cut in the middle of a recovery.",
    client="Stays suspended, connects, and requests again from where its book is complete.",
    why="What was replayed so far is no complete book; the end of it will never come.",
)
async def recovery_cut(stage: Stage) -> None:
    async with _held_recovery(stage):
        await stage.suspended(seconds=SILENCE_SECONDS)
        stage.amqp.held.clear()
        stage.amqp.cut()
    await stage.connected()


@accident(
    AMQP,
    what="While a recovery of the client's is under way, that of another process ends.",
    client="Ignores messages with another request_id; stays suspended until its own is complete.",
    why="A recovery reaches every queue of the tenant, whichever process requested it.",
)
async def recovery_of_another(stage: Stage) -> None:
    async with _held_recovery(stage) as held:
        await stage.suspended(seconds=SILENCE_SECONDS)
        stage.amqp.inject(_of_another(held[-1]))
        await asyncio.sleep(1)
        await stage.suspended(seconds=0)
    stage.amqp.release()


@accident(
    AMQP,
    what="A round is played while a recovery is under way; its messages come before what is replayed.",
    client="Holds live messages back until snapshot_complete, then applies them.",
    why="What is replayed was read before them; applied after them it would be older.",
)
async def live_in_recovery(stage: Stage) -> None:
    async with _held_recovery(stage):
        await stage.play()
    stage.amqp.release()


@accident(
    AMQP,
    what="Messages of a recovery that is complete are delivered again, after newer live ones.",
    client="Ignores them: the recovery is over, and they are older than what it has.",
    why="Applied, they would put old prices on sale, and close markets that were opened since.",
)
async def replay_late(stage: Stage) -> None:
    replayed = await _recovered(stage)
    stage.amqp.inject(*(each for each in replayed if each.kind != "snapshot_complete"))


@accident(
    AMQP,
    what="A recovery of another process is delivered, older than the live messages before it.",
    client="Ignores messages with another request_id.",
    why="They may be older than the book, and what they omit is not closed.",
)
async def replay_of_another(stage: Stage) -> None:
    replayed = await _recovered(stage)
    stage.amqp.inject(*(_of_another(each) for each in replayed))


async def _refused(stage: Stage, treated: Refusal | None, most: int = 2) -> list[float]:
    """Have the client recover, its first requests treated so; when each was made.

    At the SDK address one is refused, and the client is notified afterwards, as the service does: SDKs repeat
    no request.
    """
    sdk = stage.http.serves_sdk
    most = min(most, 1) if sdk else most
    async with stage.requests(treated, _full_recovery, most) as times:
        await _interrupt(stage)
        await stage.suspended(seconds=SILENCE_SECONDS)
        await stage.until("recoveries are requested", lambda: len(times) > 0, stage.patience)
        await stage.main.play()
        if sdk and most:
            await asyncio.sleep(RETRY_SECONDS)
            await notify(stage)
        await stage.agree()
    if len(times) <= most:
        raise WrongBook(f"requested a recovery {len(times)} times only, of which {most} failed")
    return times


async def _interrupt(stage: Stage) -> None:
    """Cut the connection while a round is played: where nothing is lost, nothing has to be recovered, and
    SDKs are not notified."""
    stage.amqp.refusing = True
    stage.amqp.cut()
    await stage.play()
    stage.amqp.refusing = False


def _full_recovery(request: Request) -> bool:
    return request.recovery


@asynccontextmanager
async def _held_recovery(stage: Stage) -> AsyncIterator[list[Delivery]]:
    """A recovery of the client's, of which everything is held back; yields once all of it is there."""
    async with stage.deliveries(Treatment.HELD, lambda delivery: delivery.replayed) as held:
        await _interrupt(stage)
        await _complete(stage, lambda: held)
        yield held


async def _recovered(stage: Stage) -> list[Delivery]:
    """All that was replayed by a recovery of the client's, which has ended; newer live messages follow it."""
    stage.evidence.deliveries.clear()
    await _interrupt(stage)
    await _complete(stage, lambda: stage.evidence.deliveries)
    await stage.agree()
    replayed = [each for each in stage.evidence.deliveries if each.replayed]
    await stage.play()
    await stage.agree()
    return replayed


async def _complete(stage: Stage, deliveries: Callable[[], list[Delivery]]) -> None:
    """Wait until the end of a recovery is among these deliveries."""

    def complete() -> bool:
        return any(each.kind == "snapshot_complete" for each in deliveries())

    await stage.until("a recovery is complete", complete, stage.patience)


def _of_another(delivery: Delivery) -> Delivery:
    """The same as if another process had requested it."""
    return altered(delivery, _REQUEST.sub(b'request_id="424242"', delivery.body))
