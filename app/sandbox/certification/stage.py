"""What an accident has to work with: matches, both proxies, the client, and judgements of its book."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from inspect import isawaitable
from random import Random

from app.sandbox.certification import amqp_proxy, http_proxy
from app.sandbox.certification.amqp_proxy import AmqpProxy
from app.sandbox.certification.clients import Clients
from app.sandbox.certification.deliveries import Delivery, Treatment
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.game import Game, Games
from app.sandbox.certification.http_proxy import Cut, HttpProxy, Refusal, Request, Treated
from app.sandbox.certification.reports import Difference, Truth
from app.sandbox.certification.service import CertifiedService

Channel = str  #: `amqp`, `http` (pages), `events` (server-sent events) or `websocket`
CHANNELS = ("amqp", "http", "events", "websocket")
_LOOK_SECONDS, _STABLE_SECONDS, BRIEFLY = 0.1, 1.0, 0.3
_PUBLISHED_SECONDS = 90.0  #: without a queue, messages wait for one
_MOST_ROUNDS = 9  #: of a match: afterwards another begins

RETRY_SECONDS = 3
TOO_MANY = Refusal(429, "Too many requests.", {"retry-after": str(RETRY_SECONDS)})


class WrongBook(Exception):
    """The client's book is wrong; `differences` begins with the market that was wrong first."""

    def __init__(self, text: str, differences: Sequence[Difference] = ()) -> None:
        super().__init__(text)
        self.differences = list(differences)


class Inconclusive(Exception):
    """The accident could not be brought about; this says nothing about the client."""


@dataclass
class Stage:
    """`main` and `other` are the matches that every accident may play on; `patience` is how long (seconds) a
    client may take to be right again."""

    channel: Channel
    service: CertifiedService
    games: Games
    amqp: AmqpProxy
    http: HttpProxy
    clients: Clients
    truth: Truth
    evidence: Evidence
    rng: Random
    patience: float
    _games: list[Game] = field(default_factory=list)

    @property
    def main(self) -> Game:
        return self._games[0]

    @property
    def other(self) -> Game:
        return self._games[1]

    async def prepare(self) -> None:
        """Two matches with rounds to play, nothing wrong on the way, and a client that runs."""
        self.reset()
        if self.clients.can_restart and (1 not in self.clients.running or self.clients.ended(1) is not None):
            await self.clients.start()
        for index in range(2):
            if index >= len(self._games):
                self._games.append(await self.games.begin())
            elif self._games[index].rounds_played > _MOST_ROUNDS:
                await self._games[index].command("cancel")
                self._games[index] = await self.games.begin()

    def reset(self) -> None:
        """Let everything pass again."""
        self.amqp.rule, self.http.rule = amqp_proxy.pass_all, http_proxy.pass_all
        self.amqp.refusing = False
        self.amqp.release()
        self.clients.resume()

    async def forget(self) -> None:
        """After a failure: end the client, remove what it has stored, and end the matches, so that the next
        accident finds a client without a wrong market. One that others have started goes on as it is."""
        self.reset()
        if self.clients.can_restart:
            await self.clients.stop()
            self.clients.forget()
            while self._games:
                await self._games.pop().command("cancel")
            await self.truth.begin()

    @asynccontextmanager
    async def clock(self, later_millis: int) -> AsyncIterator[None]:
        """Within the block the time is so much later in all messages: to the client, which begins anew before
        and after it, that is the same as if its own clock were slow. Negative: as if it were fast."""
        await self.forget()
        self.amqp.later_millis = self.http.later_millis = later_millis
        try:
            await self.prepare()
            await self.connected()
            yield
            await self.forget()
        finally:
            self.amqp.later_millis = self.http.later_millis = 0

    async def until(
        self, what: str, true: Callable[[], bool | Awaitable[bool]], seconds: float = 30.0
    ) -> None:
        """Wait for what the accident needs. Raises `Inconclusive`."""
        deadline = time.monotonic() + seconds
        while not (await found if isawaitable(found := true()) else found):
            if time.monotonic() > deadline:
                raise Inconclusive(f"waited {seconds:.0f} s in vain until {what}")
            await asyncio.sleep(0.05)

    @property
    def amqp_used(self) -> bool:
        return self.channel == "amqp"

    async def connected(self) -> None:
        """Wait until the client follows its channel. Raises `WrongBook` if it does not."""

        def connected() -> bool:
            self.require_running()
            return self.following()

        try:
            await self.until("the client is connected", connected, self.patience)
        except Inconclusive as error:
            raise WrongBook(f"the client does not follow the channel: {error}") from None

    def following(self) -> bool:
        return self.amqp.consuming > 0 if self.amqp_used else self.http.following > 0

    @property
    def reported(self) -> bool:
        """Whether the client has reported anything."""
        self.clients.read_files()
        return bool(self.clients.received)

    async def play(self, rounds: int = 1) -> None:
        """Play rounds of the main match, and wait until everything of them is published."""
        await self.main.play(rounds)
        await self.published()

    async def published(self) -> None:
        """Wait until everything that has happened so far is published to the client's queue."""
        if self.amqp_used:
            await self.until("everything is published", self.service.caught_up, _PUBLISHED_SECONDS)

    async def agree(self, *, still: float = _STABLE_SECONDS) -> None:
        """Wait until the client's book is that of the service, and stays so for `still` seconds without a
        message. Raises `WrongBook`, and `Inconclusive` where the service takes too long to publish.

        Of a further process the open markets are compared alone: it has no results from before it began.
        """
        published_by = time.monotonic() + _PUBLISHED_SECONDS
        deadline, right_since = time.monotonic() + self.patience, 0.0
        while True:
            found = await self._looked()
            now = time.monotonic()
            if found is None:
                deadline = now + self.patience
                if now > published_by:
                    raise Inconclusive(f"not everything was published within {_PUBLISHED_SECONDS:.0f} s")
            elif found:
                right_since = 0.0
            else:
                right_since = right_since or now
                if now - max(right_since, self.evidence.quiet_since) >= still:
                    return
            if now > deadline:
                if not found:
                    raise Inconclusive("the service was never quiet")
                raise WrongBook(f"still wrong after {self.patience:.0f} s", self._ordered(found))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _looked(self) -> list[Difference] | None:
        """What is wrong at this moment; None while messages are on their way."""
        self.clients.read_files()
        self.require_running()
        missing = [number for number in self.clients.running if number not in self.clients.received]
        if missing:
            return [Difference("", 0, "", f"no report of process {missing[0]}", "")]
        if self.amqp_used and not await self.service.caught_up():
            return None
        found: list[Difference] = []
        for number in sorted(self.clients.running):
            report = self.clients.received[number].report
            found += await self.truth.differences(report, results=number == 1)
        return found

    def require_running(self) -> None:
        """Raise `WrongBook` if a process of the client has ended by itself."""
        for number in self.clients.running:
            if (status := self.clients.ended(number)) is not None:
                raise WrongBook(f"the client has ended by itself, with status {status}")

    def _ordered(self, differences: Sequence[Difference]) -> list[Difference]:
        """The market first that came first of those in which it is wrong."""
        return sorted(differences, key=lambda each: self.evidence.first_about(*self.texts(each)))

    def texts(self, difference: Difference) -> tuple[str, ...]:
        """What stands in messages and frames about the market of a difference."""
        about = difference.specifiers.replace("&", "&amp;")
        if self.amqp_used:
            return f'event_id="{difference.match}"', f'id="{difference.market}"', f'"{about}"'
        uuid = self.truth.uuid(difference.match)
        named = (f'"match_id":"{uuid}"',) if uuid else ()
        return *named, f'"specifiers":"{difference.specifiers}"', f'"id":{difference.market},'

    async def suspended(self, game: Game | None = None, seconds: float = 8.0) -> None:
        """Wait until the client has no market of the match (of any, without one) open, while it cannot know
        what it missed. Raises `WrongBook`."""
        deadline = time.monotonic() + seconds
        while opened := self._open(game):
            if time.monotonic() > deadline:
                what = "everything" if game is None else game.urn
                raise WrongBook(
                    f"{what} must be suspended within {seconds:.0f} s, until it is recovered", opened
                )
            await asyncio.sleep(0.1)

    def _open(self, game: Game | None) -> list[Difference]:
        self.clients.read_files()
        names = None if game is None else {game.urn, game.match.id}
        return [
            Difference(match.match, market.id, market.specifiers, f"open at {market.odds}", "suspended")
            for received in self.clients.received.values()
            for match in received.report.matches
            for market in match.markets
            if market.status == 1 and (names is None or match.match in names)
        ]

    @asynccontextmanager
    async def deliveries(
        self, treatment: Treatment, which: Callable[[Delivery], bool], most: int = 1_000_000
    ) -> AsyncIterator[list[Delivery]]:
        """Within the block the first deliveries of which `which` is true are treated so; yields them."""
        found: list[Delivery] = []

        def rule(delivery: Delivery) -> Treatment:
            if len(found) < most and which(delivery):
                found.append(delivery)
                return treatment
            return Treatment.PASSED

        self.amqp.rule = rule
        try:
            yield found
        finally:
            self.amqp.rule = amqp_proxy.pass_all

    @asynccontextmanager
    async def requests(
        self, treated: Refusal | Cut | None, which: Callable[[Request], bool], most: int = 1_000_000
    ) -> AsyncIterator[list[float]]:
        """Within the block the first requests of which `which` is true are treated so; yields when each
        such request came (monotonic seconds), those that pass afterwards included."""
        times: list[float] = []

        def rule(request: Request) -> Treated:
            if not which(request):
                return None
            times.append(time.monotonic())
            return treated if len(times) <= most else None

        self.http.rule = rule
        try:
            yield times
        finally:
            self.http.rule = http_proxy.pass_all


def require_pause(times: Sequence[float]) -> None:
    """Raise `WrongBook` if the second of these requests, of which the first was refused with `TOO_MANY`, came
    too early."""
    waited = times[1] - times[0] if len(times) > 1 else RETRY_SECONDS
    if waited < RETRY_SECONDS - 0.2:
        raise WrongBook(f"requested again after {waited:.1f} s, although Retry-After was {RETRY_SECONDS} s")


def of(game: Game) -> Callable[[Delivery], bool]:
    """Live messages of the match."""
    return lambda delivery: delivery.live and delivery.match == game.urn
