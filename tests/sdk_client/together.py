"""Several processes of one tenant, cut in any order: what each has on offer ten seconds after the last is
back, and what their recoveries cost."""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from scripts.demonstration.report import Check
from tests.sdk_client.feed import FeedClient
from tests.sdk_client.selfcheck import SelfCheck

SECONDS_BACK = 10.0
_SHORTEST, _LONGEST, _SPREAD = 1.0, 10.0, 3.0
_BACK_SECONDS = 60.0
_CPU = "process_cpu_seconds_total "


class Cost(msgspec.Struct, frozen=True):
    """What was spent up to a moment (monotonic seconds): messages received, those replayed, recoveries, and
    the processor's seconds of the web and feed processes."""

    at: float
    received: int
    replayed: int
    recoveries: int
    web: float
    feed: float

    def since(self, before: "Cost") -> "Cost":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(before), strict=True)
        return Cost(*(now - then for now, then in pairs))


class Round(msgspec.Struct, frozen=True):
    """The cuts of one round, by client and in seconds, and how many markets of each book were wrong."""

    cuts: dict[str, float]
    wrong: dict[str, int]
    notices: int
    cost: Cost


class Group:
    """The clients of a tenant of the demo, each with a name."""

    def __init__(self, clients: dict[str, FeedClient], check: SelfCheck, metrics: dict[str, str]) -> None:
        self._clients, self._check, self._metrics = clients, check, metrics

    async def round(self, chance: random.Random) -> Round:
        """Cut some of them, wait until all are back and ten seconds more, and compare each book."""
        names = list(self._clients)
        chosen = chance.sample(names, chance.randint(1, len(names)))
        cuts = {name: chance.uniform(_SHORTEST, _LONGEST) for name in chosen}
        starts = {name: chance.uniform(0, _SPREAD) for name in chosen}
        before, marks = await self.cost(), {name: len(each.log) for name, each in self._clients.items()}
        await asyncio.gather(*(self._cut(name, starts[name], cuts[name]) for name in chosen))
        await asyncio.sleep(SECONDS_BACK)
        found = await asyncio.gather(*(self._wrong(each) for each in self._clients.values()))
        notices = sum(
            each.count("down: alive with subscribed=0", marks[name]) for name, each in self._clients.items()
        )
        cost = (await self.cost()).since(before)
        return Round(cuts, dict(zip(names, found, strict=True)), notices, cost)

    async def _cut(self, name: str, start: float, seconds: float) -> None:
        client = self._clients[name]
        await asyncio.sleep(start)
        client.cut(seconds)
        await client.until("cut", lambda: not client.connected, _BACK_SECONDS)
        await client.until("back", lambda: client.connected, _BACK_SECONDS)

    async def _wrong(self, client: FeedClient) -> int:
        """How many markets are wrong now; what is on its way is none. A client that is not up is wrong in
        all that it has."""
        found: Check = await self._check.settled(client.book)
        return found.count if client.producer.up else max(1, client.book.open)

    async def cost(self) -> Cost:
        """What was spent so far."""
        clients: Sequence[FeedClient] = list(self._clients.values())
        web, feed = await asyncio.gather(*(_processor(self._metrics[name]) for name in ("web", "feed")))
        return Cost(
            time.monotonic(),
            sum(each.received for each in clients),
            sum(each.replayed for each in clients),
            sum(each.count("recovery ") for each in clients),
            web,
            feed,
        )


async def _processor(url: str) -> float:
    """The processor's seconds that a process has used."""
    async with httpx.AsyncClient(trust_env=False) as http:
        lines = (await http.get(url)).text.splitlines()
    return float(next(line for line in lines if line.startswith(_CPU)).removeprefix(_CPU))


def shown(number: int, found: Round) -> str:
    """One line about a round."""
    cuts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found.cuts.items())
    cost = found.cost
    return (
        f"{number:3}  {cuts}: wrong {sum(found.wrong.values())}, notices {found.notices}, "
        f"recoveries {cost.recoveries}, replayed {cost.replayed} of {cost.received} messages, "
        f"web {cost.web / cost.at:.2f} and feed {cost.feed / cost.at:.2f} cores in {cost.at:.0f} s"
    )


def summary(rounds: Sequence[Round], quiet: Cost) -> str:
    """The sums over all rounds, beside the same time without a cut."""
    costs: list[Any] = [each.cost for each in rounds]
    recoveries = sum(each.recoveries for each in costs)
    seconds, web, feed = (sum(getattr(each, name) for each in costs) for name in ("at", "web", "feed"))
    more_web, more_feed = web - quiet.web / quiet.at * seconds, feed - quiet.feed / quiet.at * seconds
    replayed = sum(each.replayed for each in costs)
    return (
        f"{len(rounds)} rounds, {sum(len(each.cuts) for each in rounds)} cuts: "
        f"{sum(sum(each.wrong.values()) for each in rounds)} wrong markets; {recoveries} recoveries, "
        f"{replayed} messages replayed ({replayed / max(1, recoveries):.0f} each); beyond a quiet time of "
        f"the same length {1000 * more_web / max(1, recoveries):.0f} ms of the web process and "
        f"{1000 * more_feed / max(1, recoveries):.0f} ms of the feed process a recovery"
    )
