"""What the engine must know about a market type: one `Rule` a type, nothing else."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

import msgspec

from app.domain.market import Result
from app.domain.match import TimelineEvent
from app.trading.forecast import Forecast
from app.trading.ladder import Ladder
from app.trading.match_facts import MatchFacts
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


def of_round(event: TimelineEvent, specifiers: Specifiers) -> bool:
    """Whether the market is about the round of this event."""
    return event.round == specifiers.round and event.map == specifiers.map


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One market type.

    `family` is shared by the types whose markets form a group (over and under). `opens` returns
    the markets that are on offer in this phase of the match. `price` is the probability that the market
    wins. `settle` returns the settlement as soon as the facts decide, and None until then; it need not handle
    events that can no longer take place, nor cancelled matches: the engine voids those. `shared` returns
    the specifiers that the markets of one group share: by default all but the team. `by_format`: the result
    depends on how many rounds a map has. `about_format`: under another format of the map, or of the series,
    it is another bet. `event` says whether an event of a round may decide the market; None: the end of
    its round, map or match does. Of a type with a `ladder`, `opens`
    returns specifiers without a line, and the ladder's lines are put into them.
    """

    id: int
    key: str
    family: str
    opens: Callable[[MatchPhase], Iterable[Specifiers]]
    price: Callable[[Forecast, Specifiers], float]
    settle: Callable[[MatchFacts, Specifiers], Settlement | None]
    by_format: bool = False
    about_format: Literal["", "map", "series"] = ""
    event: Callable[[TimelineEvent, Specifiers], bool] | None = None
    ladder: Ladder | None = None
    shared: Callable[[Specifiers], Specifiers] = without_team

    def is_decided_by(self, events: Iterable[TimelineEvent], specifiers: Specifiers) -> bool:
        """Whether one of these events may decide the market."""
        decides = self.event
        if decides is not None:
            for one in events:
                if decides(one, specifiers):
                    return True
        return False

    def group(self, specifiers: Specifiers) -> str:
        """The name of the group: exactly one of its markets wins."""
        return _group(self.family, self.shared, specifiers)


@lru_cache(maxsize=65_536)
def _group(family: str, shared: Callable[[Specifiers], Specifiers], specifiers: Specifiers) -> str:
    return f"{family}:{shared(specifiers).text}"
