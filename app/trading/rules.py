"""A market type: its specifiers, the ladder of its lines, and what the engine must know of it, one `Rule` a
type.

Of a total or a handicap those lines are on offer whose chance is nearest to evens. The first of them is the
main line. Lines follow the expectation, but not each of its moves: one that is on offer gives way only when
another is nearer by more than `_STAY`, and none is beyond `_LIMIT`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain.market import Result, specifier_values
from app.domain.match import TimelineEvent
from app.trading.forecast import Forecast
from app.trading.lines import Line, LineSequence
from app.trading.match_facts import MatchFacts, Subject
from app.trading.match_phase import MatchPhase
from app.trading.propositions import Proposition, negated


class Specifiers(msgspec.Struct, frozen=True, gc=False):
    """The specifiers of one market; zero or "" where a type has none. The order is the canonical one."""

    map: int = 0
    round: int = 0
    team: str = ""
    player: str = ""
    opponent: str = ""
    handicap: float = 0.0
    threshold: float = 0.0
    target: int = 0
    half: int = 0
    home_maps: int = -1
    away_maps: int = -1

    @property
    def text(self) -> str:
        """Canonical text: ``map=1|round=3|team=home``, or "" when nothing is set."""
        return _text(self)


NO_SPECIFIERS = Specifiers()
_DEFAULTS = tuple((name, getattr(NO_SPECIFIERS, name)) for name in Specifiers.__struct_fields__)


@lru_cache(maxsize=65_536)
def _text(specifiers: Specifiers) -> str:
    values = ((name, getattr(specifiers, name), unset) for name, unset in _DEFAULTS)
    return "|".join(f"{name}={_plain(value)}" for name, value, unset in values if value != unset)


def _plain(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


@lru_cache(maxsize=65_536)
def parse_specifiers(text: str) -> Specifiers:
    """The values in canonical text. Unknown names and malformed numbers raise `ValueError`."""
    pairs = specifier_values(text)
    if pairs.keys() - set(Specifiers.__struct_fields__):
        raise ValueError(f"specifiers {text!r}: unknown name")
    try:
        return msgspec.convert(pairs, Specifiers, strict=False)
    except msgspec.ValidationError as wrong:
        raise ValueError(f"specifiers {text!r}: {wrong}") from wrong


#: How much nearer to evens a line must be to replace one that is on offer.
_STAY = 0.05
#: The farthest from evens that a line is on offer, and how much nearer it must be to come on.
_LIMIT, _ENTRY = 0.4, 0.02
_ROUNDED = 1e-8  #: more than distances from evens are rounded by
_LOWEST, _HIGHEST = 0.5 - _LIMIT - 1e-9, 0.5 + _LIMIT + 1e-9


class Ladder(msgspec.Struct, frozen=True):
    """The lines of one type. For specifiers without a line, `lines` returns all that are not decided, each
    with the chance to exceed it, and `place` puts a line into them. `size` is how many are on offer, `ahead`
    how many on a map to come."""

    size: int
    lines: Callable[[Forecast, Specifiers], LineSequence]
    place: Callable[[Specifiers, float], Specifiers]
    ahead: int = 2


@lru_cache(maxsize=65_536)
def with_threshold(base: Specifiers, line: float) -> Specifiers:
    return replace(base, threshold=line)


@lru_cache(maxsize=65_536)
def with_handicap(base: Specifiers, line: float) -> Specifiers:
    """The handicap with which the team wins above or below home's lead of `line`."""
    return replace(base, handicap=-line if base.team == "home" else line)


def places_near(lines: LineSequence, size: int) -> Sequence[int]:
    """The places of so many of these lines on both sides of evens, and of two more; `lines` are in order, so
    that the chances to exceed them fall."""
    evens = lines.first_at_most(0.5)
    return lines.places[max(evens - size - 2, 0) : evens + size + 2]


def nearest(lines: LineSequence, size: int) -> Iterator[Line]:
    """The lines `places_near` evens, those nearer to it first, without those that are too far from it to be
    on offer. Each is read when it is reached: mostly the first few decide."""
    between, tails, places = lines.between, lines.tails, lines.places
    after = lines.first_at_most(0.5)
    before, first, end = after - 1, max(after - size - 2, 0), min(after + size + 2, len(places))
    above = tails[places[before] + 1] if before >= first else 1.0
    below = tails[places[after] + 1] if after < end else 0.0
    while True:
        if above + below < 1.0:
            if above > _HIGHEST:
                return
            yield between[places[before]], above
            before -= 1
            above = tails[places[before] + 1] if before >= first else 1.0
        else:
            if below < _LOWEST:
                return
            yield between[places[after]], below
            after += 1
            below = tails[places[after] + 1] if after < end else 0.0


def stays(chance: float) -> bool:
    """Whether a line with this chance to exceed it stays on offer while none comes on."""
    distance = abs(chance - 0.5)
    return distance < _LIMIT - _ROUNDED or round(distance, 9) <= _LIMIT


def reach(chance: float) -> float:
    """The farthest from evens that a line may be to stay in place of one with this chance to exceed it."""
    return abs(chance - 0.5) + _STAY + _ROUNDED


def choose(lines: Iterable[Line], on_offer: Collection[float], size: int) -> list[float]:
    """The lines to offer, given those that are: `size` of them, without any that comes on if it is 0."""
    ranked = []
    for line, chance in lines:
        distance = round(abs(chance - 0.5), 9)
        if line in on_offer and distance <= _LIMIT:
            ranked.append((distance - _STAY, abs(line), line))
        elif size and distance <= _LIMIT - _ENTRY:
            ranked.append((distance, abs(line), line))
    return sorted([line for *_, line in sorted(ranked)[: size or None]])


#: Families of markets about kills.
KILL_FAMILIES = frozenset(("round_kills", "player_kills", "player_duel", "map_most_kills"))
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
    return replace(specifiers, team="")


Price = Callable[[Forecast, Specifiers], float]
Settle = Callable[[MatchFacts, Specifiers], Settlement | None]
Propose = Callable[[Forecast, Specifiers], Proposition]


def of_team(home: float, specifiers: Specifiers) -> float:
    """The chance of the specifiers' team, given home's."""
    return home if specifiers.team == "home" else 1 - home


def subjects_of(events: Iterable[TimelineEvent]) -> set[Subject]:
    """What these events are about: their rounds, and those who acted."""
    rounds: set[Subject] = {(event.map, event.round, 0) for event in events}
    return rounds | {(event.map, 0, event.actor.account) for event in events if event.actor is not None}


def of_round(specifiers: Specifiers) -> Subject:
    return specifiers.map, specifiers.round, 0


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One market type.

    `family` is shared by the types whose markets form a group (over and under). `opens` returns the markets
    that are on offer in this phase of the match. `price` is the probability that the market wins. `settle`
    returns the settlement as soon as the facts decide, and None until then; it need not handle events that
    can no longer take place, nor cancelled matches: the engine voids those. `shared` returns the specifiers
    that the markets of one group share: by default all but the team. `by_format`: the result depends on how
    many rounds a map has. `about_format`: under another format of the map, or of the series, it is another
    bet. `subject` is what an event must be about to decide the market; None: the end of its round, map or
    match decides it. Of a type with a `ladder`, `opens` returns specifiers without a line, and the ladder's
    lines are put into them. `pairs`: its groups are two markets, of which the second one's chance is what the
    first one's leaves; those of a ladder are, too. `proposition` is what must come true for the market to
    win; a type without one is not part of combinations. `void_chance` is the probability that bets are void
    although the map is played out; `price` is then that of a win while they are not.
    """

    id: int
    key: str
    family: str
    opens: Callable[[MatchPhase], Iterable[Specifiers]]
    price: Price
    settle: Settle
    by_format: bool = False
    about_format: Literal["", "map", "series"] = ""
    subject: Callable[[Specifiers], Subject] | None = None
    ladder: Ladder | None = None
    pairs: bool = False
    shared: Callable[[Specifiers], Specifiers] = without_team
    proposition: Propose | None = None
    void_chance: Price | None = None

    def group(self, specifiers: Specifiers) -> str:
        """The name of the group: exactly one of its markets wins."""
        return _group(self.family, self.shared, specifiers)


@lru_cache(maxsize=65_536)
def _group(family: str, shared: Callable[[Specifiers], Specifiers], specifiers: Specifiers) -> str:
    return f"{family}:{shared(specifiers).text}"


def opposite(rule: Rule, id: int, key: str) -> Rule:
    """The market type that wins where that of `rule` loses: under and over, even and odd, no and yes."""
    return replace(
        rule,
        id=id,
        key=key,
        price=partial(_price_against, rule.price),
        settle=partial(_settle_against, rule.settle),
        proposition=partial(_proposition_against, rule.proposition) if rule.proposition else None,
    )


def _proposition_against(propose: Propose, forecast: Forecast, specifiers: Specifiers) -> Proposition:
    return negated(propose(forecast, specifiers))


def _price_against(price: Price, forecast: Forecast, specifiers: Specifiers) -> float:
    return 1 - price(forecast, specifiers)


def _settle_against(settle: Settle, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    found = settle(facts, specifiers)
    if found is None or found.result is Result.VOID:
        return found
    return decide(found.result is Result.LOST, found.rests_on, found.reason)
