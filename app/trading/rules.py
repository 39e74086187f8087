"""What the engine must know about a market type: one `Rule` a type, nothing else."""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from app.domain.market import Result
from app.trading.forecast import Outlook
from app.trading.match_facts import Evidence
from app.trading.specifiers import Spec

NOT_PLAYED = 4  #: the void reason of an offer whose event never took place
NO_RESULT = 14  #: the void reason of an event that was played but gives no answer


class Verdict(msgspec.Struct, frozen=True):
    """How a market ends, and the numbers of the facts that show it."""

    result: Result
    rests_on: tuple[int, ...]
    reason: str
    void_reason_id: int | None = None


def decide(truth: bool, rests_on: Iterable[int], reason: str) -> Verdict:
    return Verdict(Result.WON if truth else Result.LOST, tuple(rests_on), reason)


def void(void_reason_id: int, rests_on: Iterable[int], reason: str) -> Verdict:
    return Verdict(Result.VOID, tuple(rests_on), reason, void_reason_id)


def without_team(spec: Spec) -> Spec:
    """What a book of both teams' markets shares."""
    return msgspec.structs.replace(spec, team="")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One market type.

    `family` is shared by the types whose markets complement each other (over and under). `opens` says
    which markets are on offer in this state of the match. `price` is the probability that the market
    wins. `settle` answers as soon as the facts decide, and None until then; it need not know about
    events that can no longer take place, nor about cancelled matches: the engine voids those.
    `lone` markets have no complement, so the margin falls on the single price. `complement` is what
    the markets of one book share: by default everything but the team. `by_format`: how many rounds a map has
    decides how it ends. `about_format`: under another format of the map, or of the series, it is another bet.
    """

    id: int
    key: str
    family: str
    opens: Callable[[Evidence], Iterable[Spec]]
    price: Callable[[Outlook, Spec], float]
    settle: Callable[[Evidence, Spec], Verdict | None]
    lone: bool = False
    by_format: bool = False
    about_format: Literal["", "map", "series"] = ""
    complement: Callable[[Spec], Spec] = without_team

    def group(self, spec: Spec) -> str:
        """The name that the complements of one book share; "" for a lone market."""
        return "" if self.lone else f"{self.family}:{self.complement(spec).text}"
