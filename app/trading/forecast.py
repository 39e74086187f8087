"""Every probability that prices of one state of one match need, each computed once, on first use.

They depend on each other: the round being played moves the map, the map moves the match.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import mul
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace
from propcache.api import cached_property

from app.domain.match import CurrentRound, TimelineEvent
from app.trading import map_scores, model, skill
from app.trading.lines import Distribution, Finals, Measure, Score, measured
from app.trading.map_scores import (
    MapParameters,
    MapState,
    finals,
    half_scores,
    home_wins_round,
    map_state,
    mixture,
    reaches_first,
    sides,
    wins_map,
)
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import MatchPhase, match_phase
from app.trading.model import Skill
from app.trading.outlook import MapOutlook, MapsAhead, RoundOutlook, map_outlook, round_outlook
from app.trading.round_model import basic_state, home_wins_by_skill, state_before
from app.trading.round_state import RoundState
from app.trading.round_view import economy_state, round_state, seen_at

Key = TypeVar("Key")
Found = TypeVar("Found")


class Branch(NamedTuple):
    """A state that the map's next round may lead to, with probability `weight` under `map_parameters`."""

    weight: float
    map_parameters: MapParameters
    state: MapState


class Forecast:
    """The probabilities that follow from `facts` at `now` (Unix ms). Lives as long as one reaction.

    The current round is seen at `now`, not at its newest fact: clock and fuse have run on since. If the clock
    is behind the match's last log batch, that batch's arrival counts as `now`.

    Which team is better, and by how much, is never known exactly: everything is the mean over `cases` of
    skill, and while sides are unknown over both teams' beginning as CT.
    """

    def __init__(self, facts: MatchFacts, now: int) -> None:
        self.facts, self.match = facts, facts.match
        self.now = max(now, self.match.last_arrived_at)
        self._map_parameters: dict[tuple[int, float], list[tuple[float, MapParameters]]] = {}
        self._states: dict[int, MapState] = {}
        self._before: dict[int, float] = {}
        self._outlooks_ahead: dict[int, MapOutlook] = {}
        self._distributions: dict[tuple[Measure, int], Distribution] = {}
        self._once: dict[tuple[object, object], Any] = {}
        #: The forecast that this one is later than, and by how many ms: both share what is later still.
        self._earlier: tuple[Forecast, int] | None = None

    @cached_property
    def cases(self) -> tuple[skill.Case, ...]:
        """The skills that home may have, with their probabilities."""
        return skill.cases(self.match)

    @cached_property
    def _skills(self) -> tuple[float, ...]:
        return tuple([case.skill for case in self.cases])

    @cached_property
    def skill(self) -> Skill:
        return skill.moments(self.cases)

    @cached_property
    def phase(self) -> MatchPhase:
        """What of the facts decides which markets may be on offer."""
        return match_phase(self.facts)

    def once(self, compute: Callable[["Forecast", Key], Found], key: Key) -> Found:
        """What `compute` finds for this forecast and `key`, computed on first use."""
        known: Found | None = self._once.get((compute, key))
        if known is None:
            known = self._once[compute, key] = compute(self, key)
        return known

    def later(self, millis: int) -> "Forecast":
        """The forecast for so many ms later, if nothing happens until then but that time passes."""
        if self._earlier is not None:
            earlier, passed = self._earlier
            return earlier.later(passed + millis)
        return self.once(Forecast._so_much_later, millis)

    def _so_much_later(self, millis: int) -> "Forecast":
        after = Forecast(self.facts, self.now + millis)
        after._earlier = self, millis
        after._map_parameters, after._states = self._map_parameters, self._states
        after._before, after.phase, after.planter = self._before, self.phase, self.planter
        after._current_outlook, after._outlooks_ahead = self._current_outlook, self._outlooks_ahead
        after._ahead_of_match = self._ahead_of_match
        after.cases, after.skill, after.economy = self.cases, self.skill, self.economy
        if self.round_state and self.current_round:
            after.round_state = seen_at(self.match, self.current_round, self.round_state, after.now)
        return after

    @cached_property
    def round_state(self) -> RoundState | None:
        """The current round as it is now; None outside rounds, or while sides are unknown."""
        return round_state(self.match, self.now) if self.current_round else None

    @cached_property
    def current_round(self) -> CurrentRound | None:
        """The round in its freeze or live, not yet won."""
        current = self.match.current
        return current if current and current.phase != "over" and not current.pending_result else None

    def map_parameters(self, number: int, level: float) -> list[tuple[float, MapParameters]]:
        """The map's parameters under this skill, with their probabilities: one, or one for each side that
        home may begin on."""
        known = self._map_parameters.get((number, level))
        if known is None:
            even = sides(self.facts.play(number))
            known = [(weight, replace(parameters, skill=level)) for weight, parameters in even]
            self._map_parameters[number, level] = known
        return known

    def state(self, number: int) -> MapState:
        """The map before its next round, or the one being played."""
        known = self._states.get(number)
        if known is None:
            known = self._states[number] = map_state(self.facts.play(number))
        return known

    def half_scores(self, number: int) -> Finals:
        """The scores that the map's first half can end with, and their probabilities."""
        return self.once(Forecast._first_half, number)

    def _first_half(self, number: int) -> Finals:
        outlook = self._outlook(number)
        if outlook:
            return outlook.half_scores(self.current_round_chances)
        return mixture(
            (weight, half_scores(parameters, state)) for weight, parameters, state in self.branches(number)
        )

    def reaches_first(self, number: int, target: int) -> float:
        """The chance that home has `target` rounds of the map before away has."""
        return self.once(Forecast._race, (number, target))

    def _race(self, of_map: tuple[int, int]) -> float:
        number, target = of_map
        outlook = self._outlook(number)
        if outlook:
            return outlook.reaches_first(target, self.current_round_chances)
        return sum(
            weight * reaches_first(parameters, state, target)
            for weight, parameters, state in self.branches(number)
        )

    def _outlook(self, number: int) -> RoundOutlook | None:
        """That of the current round of this map; None when there is none, or while sides are unknown."""
        current = self.current_round
        return self._current_outlook if current and current.map == number else None

    @cached_property
    def _current_outlook(self) -> RoundOutlook | None:
        number = self.current_round.map if self.current_round else 0
        (_, parameters), *other = self.map_parameters(number, self.cases[0].skill)
        state = self.state(number)
        if other or parameters.decided(state.home, state.away):
            return None
        return round_outlook(self.cases, parameters, state, self.economy)

    def distribution(self, measure: Measure, number: int = 0) -> Distribution:
        """What `measure` of a map's final score may come to; with `number` 0, of the match's final score in
        maps."""
        known = self._distributions.get((measure, number))
        if known is None:
            known = self._distributions[measure, number] = self._distribution(measure, number)
        return known

    def _distribution(self, measure: Measure, number: int) -> Distribution:
        if not number:
            if self._ahead_of_match:
                of_round, of_match = self._ahead_of_match
                return of_round.match_distribution(measure, of_match, self.current_round_chances)
            return Distribution.of(measured(measure, self.match_finals))
        outlook = self._outlook(number)
        if outlook:
            return outlook.distribution(measure, self.current_round_chances)
        ahead = self._map_ahead(number)
        if ahead:
            return ahead.distribution(measure, self.once(Forecast._cases_reaching, number))
        return Distribution.of(measured(measure, self.finals(number)))

    def finals(self, number: int) -> Finals:
        """Final scores of a map and their probabilities."""
        if outlook := self._outlook(number):
            return outlook.finals(self.current_round_chances)
        if ahead := self._map_ahead(number):
            return ahead.finals(self.once(Forecast._cases_reaching, number))
        return mixture((weight, finals(*after)) for weight, *after in self.branches(number))

    def _map_ahead(self, number: int) -> MapOutlook | None:
        """The outlook of a map of which no round is in progress."""
        known = self._outlooks_ahead.get(number)
        if known is None:
            current = self.current_round
            if current is not None and current.map == number:
                return None
            ahead = sides(self.facts.play(number))
            known = self._outlooks_ahead[number] = map_outlook(self._skills, ahead, self.state(number))
        return known

    def _cases_reaching(self, number: int) -> list[float]:
        """The probabilities of the cases if the map is played."""
        earlier = range(self.maps_left.start, number)
        reached = [weight for weight, _ in self.cases]
        if not map_scores.always_goes_on(self.match, len(earlier)):
            wins = [self._wins(before) for before in earlier]
            chances = [[by_skill[level] for _, level in self.cases] for by_skill in wins]
            reached = list(map(mul, reached, map_scores.goes_on(self.match, len(reached), chances)))
        total = sum(reached)
        return [weight / total for weight in reached]

    def branches(self, number: int) -> list[Branch]:
        """The states of the map after the current round, in all cases of skill in which it is played."""
        return self.once(Forecast._all_branches, number)

    def _all_branches(self, number: int) -> list[Branch]:
        return [
            Branch(weight * branch.weight, branch.map_parameters, branch.state)
            for case, weight in zip(self.cases, self.once(Forecast._cases_reaching, number), strict=True)
            for branch in self._branches_from(number, case.skill)
        ]

    def _branches_from(self, number: int, level: float) -> Iterator[Branch]:
        state, current = self.state(number), self.current_round
        for weight, parameters in self.map_parameters(number, level):
            if current is None or current.map != number or parameters.decided(state.home, state.away):
                yield Branch(weight, parameters, state)
                continue
            chance = self.current_round_chances[level]
            won, lost = (state.after(parameters, home, self.economy) for home in (True, False))
            yield Branch(weight * chance, parameters, won)
            yield Branch(weight * (1 - chance), parameters, lost)

    @cached_property
    def economy(self) -> int | None:
        """What both sides had at the beginning of the current round, as a state of the economy; None where
        the log does not show it."""
        current, state = self.current_round, self.round_state
        if current is None or state is None:
            return None
        (_, parameters), *_ = self.map_parameters(current.map, self.cases[0].skill)
        return economy_state(current, state, parameters, self.state(current.map))

    def before_round(self, number: int) -> float:
        """Home's chance of the map's next round before it begins."""
        known = self._before.get(number)
        if known is None:
            current = self.current_round
            seen = self.economy if current and current.map == number else None
            known = self._before[number] = sum(
                case.weight * self._before_round_under(number, case.skill, seen) for case in self.cases
            )
        return known

    def _before_round_under(self, number: int, level: float, seen: int | None) -> float:
        return sum(
            weight * home_wins_round(parameters, self.state(number), seen)
            for weight, parameters in self.map_parameters(number, level)
        )

    def round_logit(self, number: int) -> float:
        return model.logit(self.before_round(number))

    def round_win(self, number: int, round_number: int) -> float:
        """Home's chance to win this round: the current one, or the one after it."""
        current = self.current_round
        if current and (current.map, current.number) == (number, round_number):
            return self._current_round_win
        if current is None or round_number != current.number + 1:
            return self.before_round(number)
        return sum(
            weight * home_wins_round(parameters, state) for weight, parameters, state in self.branches(number)
        )

    @cached_property
    def _current_round_win(self) -> float:
        chances = self.current_round_chances
        return sum([weight * chances[level] for weight, level in self.cases])

    @cached_property
    def current_round_chances(self) -> Mapping[float, float]:
        """Home's chance of the current round by skill."""
        if (current := self.current_round) is None:
            return {}
        if (state := self.round_state) is not None:
            return self._by_state(state, current.map, self.home_is_ct(current.map) is not False)
        sides = [self.planter < 0] if self.planter else [True, False]
        found = [self._by_state(self._bare_state(current, each), current.map, each) for each in sides]
        return {case.skill: sum(one[case.skill] for one in found) / len(found) for case in self.cases}

    def _by_state(self, state: RoundState, number: int, home_is_ct: bool) -> Mapping[float, float]:
        side = model.side_logit(self.facts.play(number).name)
        return home_wins_by_skill(state, side, home_is_ct, self.cases, self.skill)

    def _bare_state(self, current: CurrentRound, home_is_ct: bool) -> RoundState:
        return basic_state(self.facts.play(current.map), current, home_is_ct, self._plant, self.now)

    def state_of(self, number: int, round_number: int) -> RoundState:
        """The current round as far as it is known, or one that has not begun."""
        current = self.current_round
        if current is None or (current.map, current.number) != (number, round_number):
            return state_before(self.facts.play(number), round_number)
        return self.round_state or self._bare_state(current, self.home_is_ct(number) is not False)

    @cached_property
    def events(self) -> Sequence[TimelineEvent]:
        """The events of the current round."""
        return self.current_round.events if self.current_round else ()

    @cached_property
    def _plant(self) -> TimelineEvent | None:
        return next((event for event in self.events if event.type == "bomb_planted"), None)

    @cached_property
    def planter(self) -> int:
        """1 when home planted the bomb in the current round, -1 when away did, else 0."""
        team = self._plant.actor_team if self._plant else None
        return model.sign(team) if team else 0

    @cached_property
    def map_score_chances(self) -> dict[Score, float]:
        """The probability of each final map score."""
        return dict(self.match_finals)

    @cached_property
    def match_finals(self) -> Finals:
        """Final map scores and their probabilities."""
        if self._ahead_of_match:
            outlook, ahead = self._ahead_of_match
            return outlook.match_finals(ahead, self.current_round_chances)
        match = self.match
        score, cases = (match.score_home, match.score_away), []
        for case in self.cases:
            chances = [self._wins(number)[case.skill] for number in self.maps_left]
            ends = map_scores.match_finals(*score, match.best_of, chances)
            cases.append((case.weight, tuple(ends.items())))
        return mixture(cases)

    @cached_property
    def maps_left(self) -> range:
        """The maps that are not over."""
        best_of = self.match.best_of
        return range(best_of - map_scores.maps_left(self.match) + 1, best_of + 1)

    @cached_property
    def _ahead_of_match(self) -> tuple[RoundOutlook, MapsAhead] | None:
        """The outlook of the current round and the match's score in maps; None when there is no current
        round."""
        numbers, match = self.maps_left, self.match
        outlook = self._outlook(numbers[0]) if numbers else None
        if outlook is None:
            return None
        wins = [self._wins(number) for number in numbers[1:]]
        return outlook, outlook.maps_ahead((match.score_home, match.score_away), match.best_of, wins)

    def _wins(self, number: int) -> Mapping[float, float]:
        """Home's chance to win the map, by skill."""
        return self.once(Forecast._wins_by_skill, number)

    def _wins_by_skill(self, number: int) -> Mapping[float, float]:
        if outlook := self._outlook(number):
            return outlook.map_wins(self.current_round_chances)
        if ahead := self._map_ahead(number):
            return ahead.wins
        found = [(case.skill, self._branches_from(number, case.skill)) for case in self.cases]
        return {skill: sum(one.weight * wins_map(*one[1:]) for one in ahead) for skill, ahead in found}

    def home_is_ct(self, number: int) -> bool | None:
        """Whether home plays CT in the current round; None while the sides are unknown."""
        (_, parameters), *other = self.map_parameters(number, self.cases[0].skill)
        if other:
            return None
        state = self.state(number)
        return parameters.home_is_ct(parameters.position(state.home, state.away)[0])

    def ct_wins(self, number: int, round_number: int) -> float:
        home = self.round_win(number, round_number)
        return home if self.home_is_ct(number) is not False else 1 - home
