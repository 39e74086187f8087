"""What goes wrong between the broker and a client's queue."""

import asyncio

from app.sandbox.certification.altering import altered
from app.sandbox.certification.declarations import AMQP, accident
from app.sandbox.certification.deliveries import Delivery, Treatment
from app.sandbox.certification.http_proxy import Refusal
from app.sandbox.certification.stage import Stage, of

#: No recovery succeeds: what the client shows is what it concludes by itself.
NO_RECOVERY = Refusal(503, "The service is unavailable.", {"retry-after": "1"})
#: Within which a client suspends that notices no lost connection, but silence.
SILENCE_SECONDS, _ALIVE_SECONDS = 33.0, 15.0


@accident(
    AMQP,
    what="Three messages of a match are lost, while others of it and alive arrive.",
    client="Sees an x-prev-seq above its last x-seq: suspends the match at once, and recovers it.",
    why="Nothing else shows such a loss. What was lost may have ended a market that is still on sale.",
)
async def gap(stage: Stage) -> None:
    async with stage.requests(NO_RECOVERY, lambda request: request.recovery):
        async with stage.deliveries(Treatment.WITHHELD, of(stage.main), 3) as lost:
            await stage.play()
            await stage.until("messages are lost", lambda: len(lost) == 3)
        await stage.suspended(stage.main)


@accident(
    AMQP,
    what="A round of one match is lost; messages of another match arrive; then the first match goes on.",
    client="Recovers from before its newest message of that match, not from its newest message of all.",
    why="What was lost is older than messages of other matches that have arrived since.",
)
async def gap_noticed_late(stage: Stage) -> None:
    async with stage.deliveries(Treatment.WITHHELD, of(stage.main)):
        await stage.play()
    await stage.other.play()
    await stage.published()
    await stage.main.play()


@accident(
    AMQP,
    what="The settlements of a round are lost, and nothing else.",
    client="Recovers, and settles by what is replayed.",
    why="The odds_change of the same moment closes the markets, and hides that no result came.",
)
async def settlement_lost(stage: Stage) -> None:
    def settlement(delivery: Delivery) -> bool:
        return delivery.live and delivery.kind == "bet_settlement"

    async with stage.deliveries(Treatment.WITHHELD, settlement) as lost:
        await stage.play()
        await stage.until("a settlement is lost", lambda: bool(lost))
    await stage.main.play()


@accident(
    AMQP,
    what="The connection is cut, and cannot be made again while a round is played.",
    client="Suspends everything, after 20 seconds at most; connects, recovers what it missed; offers again.",
    why="An exclusive queue is deleted with its connection, and what is published meanwhile is lost.",
)
async def disconnected(stage: Stage) -> None:
    stage.amqp.refusing = True
    stage.amqp.cut()
    await stage.suspended(seconds=SILENCE_SECONDS)
    await stage.main.play()
    stage.amqp.refusing = False
    await stage.connected()


@accident(
    AMQP,
    what="The connection is cut in the middle of a round, and can be made again at once.",
    client="Recovers after each connect, however short the interruption was.",
    why="Messages of a moment are lost as completely as those of an hour.",
)
async def disconnected_briefly(stage: Stage) -> None:
    playing = asyncio.create_task(stage.main.play(2))
    stage.amqp.cut()
    await playing
    await stage.connected()


@accident(
    AMQP,
    what="A round is lost at the end of what is published, and alive has subscribed=0.",
    client="Suspends everything at once, and recovers.",
    why="The service knows that messages were lost; no x-prev-seq follows that would show it.",
)
async def subscribed_0(stage: Stage) -> None:
    async with stage.deliveries(Treatment.WITHHELD, lambda delivery: delivery.live):
        await stage.play()
    async with stage.requests(NO_RECOVERY, lambda request: request.recovery):
        await notify(stage)
        await stage.suspended()
    if stage.http.serves_sdk:  # SDKs repeat no request that was refused: they are notified again
        await notify(stage)


@accident(
    AMQP,
    what="Nothing at all is delivered for half a minute, alive included; the connection stays open.",
    client="Suspends everything after 20 seconds without any message, and recovers.",
    why="alive comes every ten seconds: without two of them nothing that is on sale is known to be right.",
)
async def silence(stage: Stage) -> None:
    async with stage.deliveries(Treatment.WITHHELD, lambda _: True):
        await stage.main.play()
        await stage.suspended(seconds=SILENCE_SECONDS)
    await stage.connected()


@accident(
    AMQP,
    what="Every message of two rounds is delivered twice.",
    client="Ignores what has the timestamp that it has already; pays each settlement once.",
    why="After a lost connection of ours everything unconfirmed is published again.",
)
async def repeated(stage: Stage) -> None:
    async with stage.deliveries(Treatment.REPEATED, lambda delivery: delivery.live):
        await stage.play(2)


@accident(
    AMQP,
    what="All messages of a round are delivered once more, when newer ones have arrived.",
    client="Ignores what is older than what it has of a market; takes no market on offer again.",
    why="The older message would put an old price on sale, or pay a settlement a second time.",
)
async def repeated_later(stage: Stage) -> None:
    await stage.play()
    await stage.agree()
    former = [each for each in stage.evidence.deliveries if each.live]
    await stage.play()
    await stage.agree()
    stage.amqp.inject(*former)


@accident(
    AMQP,
    what="The messages of a round are delivered in reverse order.",
    client="Compares the timestamps of prices and of results for each market; recovers at the first gap.",
    why="What a queue had missed comes after newer messages when it is published again.",
)
async def disorder(stage: Stage) -> None:
    async with stage.deliveries(Treatment.HELD, of(stage.main)) as held:
        await stage.play()
        await stage.until("messages wait", lambda: len(held) > 1)
    stage.amqp.release(lambda found: found[::-1])


@accident(
    AMQP,
    what="Messages of three rounds arrive all at once, late.",
    client="Applies them in order, and is right within seconds.",
    why="A network that was stuck delivers everything together.",
)
async def burst(stage: Stage) -> None:
    async with stage.deliveries(Treatment.HELD, lambda delivery: delivery.live):
        await stage.play(3)
    stage.amqp.release()


@accident(
    AMQP,
    what="A message arrives with a root element that the client does not know.",
    client="Acknowledges it, and passes over it.",
    why="A later version may publish more kinds of messages.",
)
async def unknown_message(stage: Stage) -> None:
    alive = (await newest_alives(stage))[0]
    at = alive.headers["timestamp_in_ms"]
    stage.amqp.inject(altered(alive, b'<new_kind product="2" timestamp="%d"><more/></new_kind>' % at))
    await stage.main.play()


@accident(
    AMQP,
    what="The messages of a round have attributes and elements that the client does not know.",
    client="Passes over them, and applies the rest.",
    why="A later version may say more; nothing that is there changes its meaning.",
)
async def unknown_attributes(stage: Stage) -> None:
    async with stage.deliveries(Treatment.HELD, of(stage.main)):
        await stage.play()

    def more(delivery: Delivery) -> Delivery:
        body = delivery.body.replace(b" product=", b' later="1" product=', 1)
        return altered(delivery, body.replace(b"</odds_change>", b"<later/></odds_change>"))

    stage.amqp.release(lambda held: [more(each) for each in held])


async def notify(stage: Stage) -> None:
    """`alive` with `subscribed="0"`, in every queue that receives `alive`."""
    stage.amqp.inject(
        *(
            altered(alive, alive.body.replace(b'subscribed="1"', b'subscribed="0"'))
            for alive in await newest_alives(stage)
        )
    )


async def newest_alives(stage: Stage) -> list[Delivery]:
    """An `alive` as it was last delivered to each consumer that receives them."""

    def found() -> list[Delivery]:
        consumers = stage.amqp.consumers
        return [each for tag, each in stage.evidence.alives.items() if tag in consumers]

    await stage.until("alive arrives", lambda: bool(found()), _ALIVE_SECONDS)
    return found()
