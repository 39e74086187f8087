"""What the engine must know about a market type: one `Rule` a type, nothing else."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

import msgspec

from app.domain.market import Result
from app.domain.match import TimelineEvent
from app.trading.forecast import Forecast
from app.trading.ladder import Ladder
from app.trading.match_facts import MatchFacts, Subject
from app.trading.match_phase import MatchPhase
from app.trading.specifiers import Specifiers

NOT_PLAYED = 4  #: the void reason of an offer whose event never took place
NO_RESULT = 14  #: the void reason of an event that was played but gives no answer


class Settlement(msgspec.Struct, frozen=True):
    """The result of a market, and the numbers of the facts that it rests on."""

    result: Result
    rests_on: tuple[int, ...]
    reason: str
    void_reason_id: int | None = None


def decide(won: bool, rests_on: Iterable[int], reason: str) -> Settlement:
    return Settlement(Result.WON if won else Result.LOST, tuple(rests_on), reason)


def void(void_reason_id: int, rests_on: Iterable[int], reason: str) -> Settlement:
    return Settlement(Result.VOID, tuple(rests_on), reason, void_reason_id)


def without_team(specifiers: Specifiers) -> Specifiers:
    """The specifiers that both teams' markets of one group share."""
    return msgspec.structs.replace(specifiers, team="")


Price = Callable[[Forecast, Specifiers], float]


def probability_against(price: Price, forecast: Forecast, specifiers: Specifiers) -> float:
    """That of the opposite, by the price of a market type."""
    return 1 - price(forecast, specifiers)


def subjects_of(events: Iterable[TimelineEvent]) -> set[Subject]:
    """What these events are about: their rounds, and those who acted."""
    rounds: set[Subject] = {(event.map, event.round, 0) for event in events}
    return rounds | {(event.map, 0, event.actor.account) for event in events if event.actor is not None}


def of_round(specifiers: Specifiers) -> Subject:
    return specifiers.map, specifiers.round, 0


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One market type.

    `family` is shared by the types whose markets form a group (over and under). `opens` returns
    the markets that are on offer in this phase of the match. `price` is the probability that the market
    wins. `settle` returns the settlement as soon as the facts decide, and None until then; it need not handle
    events that can no longer take place, nor cancelled matches: the engine voids those. `shared` returns
    the specifiers that the markets of one group share: by default all but the team. `by_format`: the result
    depends on how many rounds a map has. `about_format`: under another format of the map, or of the series,
    it is another bet. `subject` is what an event must be about to
    decide the market; None: the end of its round, map or match does. Of a type with a `ladder`, `opens`
    returns specifiers without a line, and the ladder's lines are put into them. `pairs`: its
    groups are two markets, of which the second one's chance is what the first one's leaves; those of a ladder
    are, too.
    """

    id: int
    key: str
    family: str
    opens: Callable[[MatchPhase], Iterable[Specifiers]]
    price: Price
    settle: Callable[[MatchFacts, Specifiers], Settlement | None]
    by_format: bool = False
    about_format: Literal["", "map", "series"] = ""
    subject: Callable[[Specifiers], Subject] | None = None
    ladder: Ladder | None = None
    pairs: bool = False
    shared: Callable[[Specifiers], Specifiers] = without_team

    def group(self, specifiers: Specifiers) -> str:
        """The name of the group: exactly one of its markets wins."""
        return _group(self.family, self.shared, specifiers)


@lru_cache(maxsize=65_536)
def _group(family: str, shared: Callable[[Specifiers], Specifiers], specifiers: Specifiers) -> str:
    return f"{family}:{shared(specifiers).text}"
