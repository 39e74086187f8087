"""What happens in matches, and what operators do: every channel carries it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.sandbox.certification.declarations import ALL, AMQP, accident
from app.sandbox.certification.game import Game
from app.sandbox.certification.stage import Inconclusive, Stage

_REASON = "certification"
_WINDOW_MILLIS = 60_000
_ROUNDS_UNTIL_OPEN = 4


@accident(
    ALL,
    what="Three rounds are played in two matches: prices change several times a second, markets settle.",
    client="Applies each message in order; compares timestamps in milliseconds; settles each bet once.",
    why="Several changes fall into one second, and a settlement comes beside the odds that end the market.",
)
async def play(stage: Stage) -> None:
    for _ in range(3):
        await stage.main.play()
        await stage.other.play()


@accident(
    ALL,
    what="An operator rolls a settlement back; the engine settles the market again.",
    client="Takes the payment back, and pays again by the new result.",
    why="A settlement may be withdrawn as long as the match goes on, and later; the newest message holds.",
)
async def rollback(stage: Stage) -> None:
    entry = await settled_market(stage)
    await on_market(stage.main, "roll_back_market", entry, release=True)


@accident(
    ALL,
    what="An operator rolls a settlement back, and does not settle again.",
    client="Takes the payment back; shows no result; offers the market only when it is listed as active.",
    why="Who forgets a rollback leaves bets paid that are open again.",
)
async def rollback_held(stage: Stage) -> None:
    entry = await settled_market(stage)
    await on_market(stage.main, "roll_back_market", entry, release=False)


@accident(
    ALL,
    what="A settlement is rolled back, and settled with the other result.",
    client="Takes the first payment back, and pays by the second result, once.",
    why="A changed result is always a rollback and a new settlement.",
)
async def resettled(stage: Stage) -> None:
    entry = await settled_market(stage)
    await on_market(stage.main, "roll_back_market", entry, release=False)
    await stage.published()
    await on_market(stage.main, "settle_market", entry, result=opposite(entry))


@accident(
    ALL,
    what="An operator voids an open market.",
    client="Ends the offer, and refunds every stake.",
    why="A void is a result of its own (bet_cancel; frames: voided); no settlement follows.",
)
async def void(stage: Stage) -> None:
    await on_market(stage.main, "void_market", await _open(stage.main))


@accident(
    ALL,
    what="A market is voided, and the void is rolled back.",
    client="Takes the refunds back, and offers the market again once it is listed as active.",
    why="rollback_bet_cancel without end_time (frames: pending) reopens the market.",
)
async def void_rolled_back(stage: Stage) -> None:
    offer = await _open(stage.main)
    await on_market(stage.main, "void_market", offer)
    await stage.agree()
    await on_market(stage.main, "roll_back_market", offer, release=True)


@accident(
    ALL,
    what="The bets of one minute on an open market are void; the market goes on.",
    client="Refunds the bets placed in the window, and leaves offer and settlement as they are.",
    why="A bet_cancel with start_time and end_time (frames: void_window) is about bets, not the market.",
)
async def void_window(stage: Stage) -> None:
    await _void_window(stage.main, await _open(stage.main))
    await stage.main.play()


@accident(
    ALL,
    what="The bets of one minute on a settled market are void.",
    client="Refunds the bets placed in the window; the others stay settled.",
    why="The result stands for every other bet.",
)
async def void_window_settled(stage: Stage) -> None:
    await _void_window(stage.main, await settled_market(stage))


@accident(
    ALL,
    what="The void of a window is rolled back.",
    client="Takes these refunds back, and nothing else.",
    why="A rollback with the same start and end (frames: rolled_back) withdraws that window alone.",
)
async def void_window_rolled_back(stage: Stage) -> None:
    offer = await _open(stage.main)
    window = await _void_window(stage.main, offer)
    await stage.agree()
    await on_market(stage.main, "roll_back_market", offer, **window)


@accident(
    ALL,
    what="A game server loads a backup: rounds that were settled are played again.",
    client="Rolls back, notes the void windows, and settles the rounds again under the same keys.",
    why="Bets placed while the rounds were played the first time are void; earlier and later ones are not.",
)
async def backup(stage: Stage) -> None:
    game = await stage.games.with_backup()
    await game.load_backup()
    await game.play()
    await stage.agree()
    await game.command("cancel")


@accident(
    ALL,
    what="Teams and players have quotes, ampersands, angle brackets and letters of other scripts.",
    client="Parses XML and JSON with a parser; looks for nothing in their text.",
    why="Names are what somebody has typed.",
)
async def names(stage: Stage) -> None:
    game = await stage.games.begin(rename=lambda name: f"{name} “Å” & <Ж>'s")
    await game.play(2)
    await on_market(game, "void_market", await _open(game), reason='no "result" & <nothing> else')
    await stage.agree()
    await game.command("cancel")


@accident(
    ALL,
    what="An operator suspends a match, and releases it.",
    client="Takes no bets on it meanwhile, and offers again what is listed as active.",
    why="Only a market of status 1 (frames: active) may be sold.",
)
async def suspended(stage: Stage) -> None:
    await stage.main.command("suspend", reason=_REASON)
    await stage.suspended(stage.main)
    await stage.agree()
    await stage.main.command("unsuspend", reason=_REASON)
    await stage.main.play()


@accident(
    ALL,
    what="A match is cancelled in play.",
    client="Ends every offer, and refunds what is void.",
    why="Markets without a result are void.",
)
async def cancelled(stage: Stage) -> None:
    game = await stage.games.begin()
    await game.play()
    await stage.agree()
    await game.command("cancel")


@accident(
    ALL,
    what="A market type is switched off for the tenant, a round is played, and it is switched on again.",
    client="Nothing of its own: the type's markets are suspended, settle, and are listed again.",
    why="Over AMQP a message of which nothing is left still belongs to the chain of x-prev-seq.",
)
async def market_type_off(stage: Stage) -> None:
    offer = await _open(stage.main)
    async with _changed(stage, f"market-types/{offer['id']}", "on", False):
        await stage.agree()
        await stage.main.play()
        await stage.agree()


@accident(
    AMQP,
    what="A match is unbooked, a round is played, and it is booked again.",
    client="Suspends what one odds_change suspends; recovers when x-prev-seq shows what came in between.",
    why="Nothing of an unbooked match is published, not even results.",
)
async def unbooked(stage: Stage) -> None:
    async with _changed(stage, f"bookings/{stage.main.match.id}", "booked", False):
        await stage.published()
        await stage.play()
    await stage.main.play()


@accident(
    AMQP,
    what="The tenant receives bet_stop, and a match is suspended and released.",
    client="Suspends all active markets of the match, or ignores the message: the odds_change follows.",
    why="No x-prev-seq refers to a bet_stop: to lose it is no gap.",
)
async def bet_stop(stage: Stage) -> None:
    async with _changed(stage, "bet-stop", "bet_stop", True):
        await stage.main.play()
        await stage.main.command("suspend", reason=_REASON)
        await stage.agree()
        await stage.main.command("unsuspend", reason=_REASON)
        await stage.main.play()
        await stage.agree()


@accident(
    ALL,
    what="A match is played to its end.",
    client="Settles everything, and has nothing of it on offer.",
    why="The last markets settle with the last round; a recovery or a snapshot shows none of them.",
)
async def finished(stage: Stage) -> None:
    game = await stage.games.begin(rounds=6)
    await game.finish()


@asynccontextmanager
async def _changed(stage: Stage, what: str, name: str, value: bool) -> AsyncIterator[None]:
    """Within the block this property of the tenant has this value, and afterwards the other one again."""
    address = f"/ops/v1/tenants/{stage.service.tenant}/{what}"
    await stage.games.operator.call("PUT", address, {name: value})
    try:
        yield
    finally:
        await stage.games.operator.call("PUT", address, {name: not value})


async def settled_market(stage: Stage) -> dict[str, object]:
    """A market of the main match that is settled."""
    await stage.main.play()
    await stage.agree()
    return await stage.main.newest_settled()


async def _open(game: Game) -> dict[str, object]:
    """A market of the match that is on offer; if there is none now, play goes on until there is."""
    for _ in range(_ROUNDS_UNTIL_OPEN):
        offers = [offer for offer in await game.offers() if offer["status"] == "active"]
        if offers:
            return offers[len(offers) // 2]
        await game.play()
        await asyncio.sleep(1)
    raise Inconclusive(f"no market of {game.urn} is on offer")


async def on_market(game: Game, command: str, market: dict[str, object], **fields: object) -> None:
    """A command on the market of an offer or of an entry of the ledger."""
    about = {"market_id": market.get("market_id", market.get("id")), "specifiers": market["specifiers"]}
    await game.command(command, **(about | {"reason": _REASON} | fields))


async def _void_window(game: Game, market: dict[str, object]) -> dict[str, int]:
    """Void the bets of the last minute on the market; the window."""
    now = time.time_ns() // 1_000_000
    window = {"start_time": now - _WINDOW_MILLIS, "end_time": now}
    await on_market(game, "void_market", market, **window)
    return window


def opposite(entry: dict[str, object]) -> str:
    return "lost" if entry["outcome"] == "won" else "won"
