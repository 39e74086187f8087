"""The probability that several markets of a match win together.

A sum over the states of the distribution that prices single markets: skills, sides, the rounds of each map,
the maps. Given a final score, players' kills are independent of each other; given who wins a round, so are
its first kill, a headshot, an AWP kill and the way it ends.

A leg on a map that is not played is void: it falls out, and the price is made again from the legs that are
left. The fair price takes that into account. With L the legs, and for each earlier end of the match the legs
that are then left,

    q(L) = P(all maps of L are played, L wins) / (1 - sum of P(it ends so, those left win) / q(those left)),

so that a bet at odds of 1 / q(L) is worth its stake. Without such a leg q is the probability that all win,
and never above that of a leg; with one it can be, because a void leg leaves a bet on the others.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from msgspec.structs import replace

from app.domain.market import MarketKey
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, Score
from app.trading.map_paths import Chances, Demands, Start, Way, all_final_scores, final_scores, first_step
from app.trading.map_scores import MapParameters
from app.trading.player_forecast import kills_by_score
from app.trading.propositions import (
    CT_ENDINGS,
    T_ENDINGS,
    OfEnding,
    OfHalfScore,
    OfMapScore,
    OfMatchScore,
    OfPlay,
    OfPlayer,
    OfRace,
    OfRounds,
    Proposition,
)
from app.trading.registry import RULES
from app.trading.round_kills import endings_of
from app.trading.round_markets import KILLS
from app.trading.rules import parse_specifiers

NEVER = 1e-12  #: probabilities up to this are none
_SURE = 1e-9  #: relative difference of two probabilities that are the same
_NO_LINE = float("inf")


class _Finals:
    """Final scores of a map, and of each its chance under each skill. A level one counts half for each
    team."""

    def __init__(self, found: Mapping[Score, Chances], skills: int) -> None:
        self.scores = tuple(found)
        self._table = np.array(list(found.values())).reshape(len(found), skills)
        self._home = np.array([1.0 if home > away else 0.5 if home == away else 0.0 for home, away in found])

    def wins(self, counted: Chances) -> tuple[Chances, Chances]:
        """The chances that home and away win the map, if this share of each final score counts."""
        home: Chances = (counted * self._home) @ self._table
        away: Chances = (counted * (1 - self._home)) @ self._table
        return home, away


def _holding(one: OfMapScore, scores: Iterable[Score]) -> list[float]:
    return [float(one.holds(*score)) for score in scores]


def _map_of(proposition: Proposition) -> int:
    return 0 if isinstance(proposition, OfMatchScore) else proposition.map


class JointDistribution:
    """The probability that markets win together, by one forecast. Each part is computed once."""

    def __init__(self, forecast: Forecast) -> None:
        self._forecast = forecast
        self._skills = tuple([case.skill for case in forecast.cases])
        self._weights: Chances = np.array([case.weight for case in forecast.cases])
        self._propositions: dict[MarketKey, Proposition] = {}
        self._finals: dict[object, _Finals] = {}
        self._maps: dict[tuple[int, frozenset[MarketKey]], tuple[Chances, Chances]] = {}
        self._vectors: dict[object, Chances] = {}
        self._known: dict[frozenset[MarketKey], float] = {}
        self._kills: dict[tuple[int, int], dict[Score, Distribution]] = {}

    def probability(self, legs: Collection[MarketKey]) -> float:
        """The fair probability q of these legs; 1 of none."""
        key = frozenset(legs)
        if not key:
            return 1.0
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._fair(key)
        return known

    def changes_nothing(self, whole: float, others: Collection[MarketKey]) -> bool:
        """Whether legs of this probability are the same bet as the `others`, all but one of them."""
        rest = self.probability(others)
        return abs(whole - rest) <= _SURE * rest

    def goes_with(self, key: MarketKey, legs: Sequence[MarketKey]) -> bool:
        """Whether a further leg is possible and changes the probability, and each of `legs` still does."""
        if any(self.are_dependent(leg, key) for leg in legs):
            return False
        whole = self.probability([*legs, key])
        if whole <= NEVER or self.changes_nothing(whole, legs):
            return False
        map_of = {leg: _map_of(self._proposition(leg)) for leg in (*legs, key)}
        # Without a leg about the match, maps say nothing about each other but how likely they are.
        near = legs if 0 in map_of.values() else [leg for leg in legs if map_of[leg] == map_of[key]]
        return not any(
            self.changes_nothing(whole, [key, *[other for other in legs if other != leg]]) for leg in near
        )

    def are_dependent(self, one: MarketKey, two: MarketKey) -> bool:
        """Whether two legs depend on each other in a way that the distribution does not have: the kills of a
        round with anything else of that round, or while it is played with anything at all."""
        first, second = self._proposition(one), self._proposition(two)
        for kills, other in ((first, second), (second, first)):
            if not isinstance(kills, OfPlay) or kills.about != KILLS:
                continue
            apart = isinstance(other, OfPlayer | OfPlay | OfEnding) and other.map == kills.map
            if apart or self._forecast.phase.live:
                return True
        return False

    def _proposition(self, key: MarketKey) -> Proposition:
        known = self._propositions.get(key)
        if known is None:
            propose = RULES[key[0]].proposition
            if propose is None:
                raise ValueError(f"markets of type {key[0]} cannot be combined")
            known = self._propositions[key] = propose(self._forecast, parse_specifiers(key[1]))
        return known

    def _fair(self, legs: frozenset[MarketKey]) -> float:
        map_of = {key: _map_of(self._proposition(key)) for key in legs}
        last = max(map_of.values())
        wins, rest = 0.0, 1.0
        for played, chance in self._ends(map_of).items():
            if played >= last:
                wins += chance
            elif chance:
                rest -= chance / self.probability([key for key in legs if map_of[key] <= played])
        return min(wins / rest, 1.0) if rest > NEVER else 0.0

    def _ends(self, map_of: Mapping[MarketKey, int]) -> dict[int, float]:
        """By how many maps are played in all: the probability that it is so many, and that the legs win that
        are then left. `map_of`: the map of each leg, 0 for the match."""
        match, numbers = self._forecast.match, self._forecast.maps_left
        of_match = [
            one
            for key, number in map_of.items()
            if not number and isinstance(one := self._proposition(key), OfMatchScore)
        ]
        most, played = match.best_of // 2, match.best_of - len(numbers)
        ways: dict[Score, Chances] = {(match.score_home, match.score_away): self._weights}
        found: dict[int, float] = {}
        for number in [*numbers, 0]:
            ended = [score for score in ways if not number or max(score) > most]
            chances = [ways.pop(score) for score in ended]
            found[played] = sum(
                [
                    float(chance.sum())
                    for score, chance in zip(ended, chances, strict=True)
                    if all(one.holds(*score) for one in of_match)
                ]
            )
            if not ways:
                break
            won, lost = self._map(number, frozenset([key for key, of in map_of.items() if of == number]))
            following: dict[Score, Chances] = {}
            for (home, away), weights in ways.items():
                up, down = (home + 1, away), (home, away + 1)
                following[up] = following[up] + weights * won if up in following else weights * won
                following[down] = weights * lost
            ways, played = following, played + 1
        return found

    def _map(self, number: int, legs: frozenset[MarketKey]) -> tuple[Chances, Chances]:
        """By skill, the chances that home, or away, wins this map and that its legs win."""
        known = self._maps.get((number, legs))
        if known is None:
            known = self._maps[number, legs] = self._map_with(number, sorted(legs))
        return known

    def _map_with(self, number: int, legs: Sequence[MarketKey]) -> tuple[Chances, Chances]:
        demanded = [self._proposition(key) for key in legs]
        passes = tuple(
            [key for key, one in zip(legs, demanded, strict=True) if isinstance(one, OfRace | OfHalfScore)]
        )
        shares = self._shares_of_round(number, demanded)
        won, lost = np.zeros((2, len(self._skills)))
        for side, (weight, parameters) in enumerate(self._forecast.map_parameters(number, self._skills[0])):
            for results in self._ways(number, [one for one in demanded if isinstance(one, OfRounds)]):
                key = number, side, tuple(sorted(results.items())), passes, shares
                finals = self._finals.get(key)
                if finals is None:
                    found = self._walk(number, parameters, results, passes, shares)
                    finals = self._finals[key] = _Finals(found, len(self._skills))
                up, down = finals.wins(self._shares(number, finals.scores, legs))
                won, lost = won + weight * up, lost + weight * down
        return won, lost

    def _walk(
        self,
        number: int,
        parameters: MapParameters,
        results: Mapping[int, bool],
        passes: Sequence[MarketKey],
        shares: tuple[float, float],
    ) -> dict[Score, Chances]:
        """The final scores of the map. `shares`: how much counts of the ways on which home wins the current
        round, and of those on which it loses it."""
        forecast, state, known = self._forecast, self._forecast.state(number), replace(parameters, skill=0.0)
        current = forecast.current_round
        in_round = current if current and current.map == number else None
        if in_round is None and not results and not passes:
            return all_final_scores(known, self._skills, state)
        starts = [Start(state, np.ones(len(self._skills)))]
        if in_round is not None and not known.decided(state.home, state.away):
            chances = np.array([forecast.current_round_chances[skill] for skill in self._skills])
            wanted = results.get(in_round.number)
            starts = [
                after._replace(weights=after.weights * shares[not won])
                for won, after in first_step(known, starts[0], chances, forecast.economy)
                if wanted in (None, won)
            ]
        demands = Demands(results, [self._way(self._proposition(key), known) for key in passes])
        return final_scores(known, self._skills, starts, demands)

    def _way(self, proposition: Proposition, parameters: MapParameters) -> Way:
        """What the scores of a map must fulfil on the way to its end."""
        match proposition:
            case OfRace(_, target, of_home):
                if of_home:
                    return lambda home, away: away != target or home >= target
                return lambda home, away: home != target or away >= target
            case OfHalfScore(_, holds):
                length = parameters.max_rounds // 2
                return lambda home, away: home + away != length or holds(home, away)
        raise ValueError(f"{proposition} is not about the way to a score")

    def _ways(self, number: int, demanded: Sequence[OfRounds]) -> Iterator[dict[int, bool]]:
        """The results of rounds with which all of these come true; without those of rounds that are over."""
        for ways in product(*[one.ways for one in demanded]):
            results: dict[int, bool] = {}
            for round_number, won in (result for way in ways for result in way):
                played = self._forecast.facts.rounds.get((number, round_number))
                known = results.get(round_number, won) if played is None else played.winner == "home"
                if known is not won:
                    break
                if played is None:
                    results[round_number] = won
            else:
                yield results

    def _shares_of_round(self, number: int, demanded: Sequence[Proposition]) -> tuple[float, float]:
        """How much of a won, and of a lost, current round counts: the chance of what the legs demand of its
        play."""
        won, lost, seen = 1.0, 1.0, set[str]()
        ways: frozenset[str] | None = None
        for one in demanded:
            if isinstance(one, OfPlay | OfEnding):
                self._check_current(one)
            if isinstance(one, OfPlay):
                if one.about in seen:
                    return 0.0, 0.0
                seen.add(one.about)
                won, lost = won * one.home_won, lost * one.home_lost
            elif isinstance(one, OfEnding):
                ways = one.ways if ways is None else ways & one.ways
        if ways is None:
            return won, lost
        current = self._forecast.current_round
        chances = self._forecast.once(endings_of, (number, current.number if current else 0))._asdict()
        ct, t = (
            sum([chances[way] for way in side & ways]) / max(sum([chances[way] for way in side]), NEVER)
            for side in (CT_ENDINGS, T_ENDINGS)
        )
        return (
            (won * ct, lost * t) if self._forecast.home_is_ct(number) is not False else (won * t, lost * ct)
        )

    def _check_current(self, one: OfPlay | OfEnding) -> None:
        current = self._forecast.current_round
        if current is None or (current.map, current.number) != (one.map, one.round):
            raise ValueError(f"map {one.map}, round {one.round} is not the current round")

    def _shares(self, number: int, scores: tuple[Score, ...], legs: Iterable[MarketKey]) -> Chances:
        """How much of each final score counts: whether it is as demanded, and the chance of the players'
        kills."""
        shares, lines = np.ones(len(scores)), dict[int, tuple[float, float]]()
        for key in legs:
            one = self._proposition(key)
            if isinstance(one, OfMapScore):
                shares = shares * self._once((key, scores), partial(_holding, one, scores))
            elif isinstance(one, OfPlayer):
                low, high = lines.get(one.account, (-1.0, _NO_LINE))
                lines[one.account] = (max(low, one.line), high) if one.over else (low, min(high, one.line))
        for account, between in lines.items():
            chances = partial(self._kill_chances, number, account, between, scores)
            shares = shares * self._once((account, between, scores), chances)
        return shares

    def _once(self, key: object, compute: Callable[[], Sequence[float]]) -> Chances:
        known = self._vectors.get(key)
        if known is None:
            known = self._vectors[key] = np.array(compute(), dtype=np.float64)
        return known

    def _kill_chances(
        self, number: int, account: int, between: tuple[float, float], scores: Sequence[Score]
    ) -> list[float]:
        """The chances that a player's kills lie between two lines, by final score; 0 where none can come."""
        (low, high), by_score = between, self._kills_of(number, account)
        found = []
        for score in scores:
            kills = by_score.get(score)
            over = 0.0 if high == _NO_LINE or kills is None else kills.over(high)
            found.append(max(0.0, kills.over(low) - over) if kills else 0.0)
        return found

    def _kills_of(self, number: int, account: int) -> dict[Score, Distribution]:
        known = self._kills.get((number, account))
        if known is None:
            known = self._kills[number, account] = kills_by_score(self._forecast, (number, account))
        return known
