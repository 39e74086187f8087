"""Every probability that prices of one state of one match need, each computed once, on first use.

They depend on each other: the round being played moves the map, the map moves the match.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from app.domain.match import CurrentRound, TimelineEvent
from app.trading import kill_model, match_scores, model
from app.trading.map_scores import (
    Finals,
    MapParameters,
    MapState,
    finals,
    map_parameters,
    map_state,
    mixture,
    wins_map,
)
from app.trading.match_facts import MatchFacts
from app.trading.model import Skill
from app.trading.round_clock import certain_winner
from app.trading.round_state import RoundState
from app.trading.round_view import round_state

#: The chance of what the rules leave no doubt about; what follows from it stays finite in logits.
_CERTAIN = 1 - 1e-9


class Branch(NamedTuple):
    """A state that the map's next round may lead to, with probability `weight` under `map_parameters`."""

    weight: float
    map_parameters: MapParameters
    state: MapState


class Forecast:
    """The probabilities that follow from `facts` at `now` (Unix ms). Lives as long as one reaction.

    The current round is seen at `now`, not at its newest fact: clock and fuse have run on since. A clock that
    is behind the newest fact counts as there.

    Skill is assumed to lie with equal probability at either end of its spread: the distributions of maps
    and match are the mean of both cases, so that two teams are not priced as even with more certainty than
    the rounds alone give.
    """

    def __init__(self, facts: MatchFacts, now: int) -> None:
        self.facts = facts
        self.match = facts.match
        self.now = max(now, self.match.last_fact_at)
        self._finals: dict[tuple[int, float | None], Finals] = {}
        self._map_parameters: dict[tuple[int, float], MapParameters] = {}
        self._states: dict[int, MapState] = {}
        self._branches: dict[int, list[Branch]] = {}

    @cached_property
    def skill(self) -> Skill:
        return model.skill(self.match)

    def later(self, millis: int) -> "Forecast":
        """The forecast for so many ms later, if nothing happens until then but that time passes."""
        after = Forecast(self.facts, self.now + millis)
        after._map_parameters, after._states = self._map_parameters, self._states
        after.skill = self.skill
        return after

    @cached_property
    def round_state(self) -> RoundState | None:
        """The current round as it is now; None outside rounds, or while sides are unknown."""
        return round_state(self.match, self.now) if self.current_round else None

    @cached_property
    def current_round(self) -> CurrentRound | None:
        """The round in its freeze or live, not yet won."""
        current = self.match.current
        return current if current and current.phase != "over" and not current.won else None

    def map_parameters(self, number: int, skill: float | None = None) -> MapParameters:
        """The map's parameters, under the mean skill or another one."""
        level = self.skill.mean if skill is None else skill
        known = self._map_parameters.get((number, level))
        if known is None:
            known = self._map_parameters[number, level] = map_parameters(self.facts.play(number), level)
        return known

    def state(self, number: int) -> MapState:
        known = self._states.get(number)
        if known is None:
            known = self._states[number] = map_state(self.facts.play(number))
        return known

    def map_finals(self, number: int) -> Finals:
        """The map's final scores and their probabilities, the current round included."""
        known = self._finals.get((number, None))
        if known is None:
            cases = ((0.5, self._finals_under(number, skill)) for skill in self.skill.ends)
            known = self._finals[number, None] = mixture(cases)
        return known

    def _finals_under(self, number: int, skill: float) -> Finals:
        known = self._finals.get((number, skill))
        if known is None:
            ahead = self._branches_under(number, skill)
            known = mixture((branch.weight, finals(branch.map_parameters, branch.state)) for branch in ahead)
            self._finals[number, skill] = known
        return known

    def branches(self, number: int) -> list[Branch]:
        """The states of the map after the current round, in both cases of skill."""
        known = self._branches.get(number)
        if known is None:
            cases = [branch for skill in self.skill.ends for branch in self._branches_under(number, skill)]
            known = self._branches[number] = [branch._replace(weight=branch.weight / 2) for branch in cases]
        return known

    def _branches_under(self, number: int, skill: float) -> list[Branch]:
        (home, away, last), parameters = self.state(number), self.map_parameters(number, skill)
        current = self.current_round
        if current is None or current.map != number or parameters.decided(home, away):
            return [Branch(1.0, parameters, (home, away, last))]
        mean = self.round_win(number, current.number)
        chance = model.logistic(model.logit(mean) + skill - self.skill.mean)
        index = home + away
        return [
            Branch(chance, parameters, (home + 1, away, parameters.next_last_won(index, 1))),
            Branch(1 - chance, parameters, (home, away + 1, parameters.next_last_won(index, -1))),
        ]

    def before_round(self, number: int) -> float:
        """Home's chance of the map's next round before it begins."""
        home, away, last = self.state(number)
        return self.map_parameters(number).home_wins(home + away, last)

    def round_logit(self, number: int) -> float:
        return model.logit(self.before_round(number))

    def round_win(self, number: int, round_number: int) -> float:
        """Home's chance to win this round: the current one, or the one after it."""
        current = self.current_round
        if current and (current.map, current.number) == (number, round_number):
            return self._current_round_win(current)
        home, away, _ = self.state(number)
        if current is None or round_number != current.number + 1:
            return self.before_round(number)
        parameters, index = self.map_parameters(number), home + away
        won = parameters.home_wins(index + 1, parameters.next_last_won(index, 1))
        lost = parameters.home_wins(index + 1, parameters.next_last_won(index, -1))
        chance = self.round_win(number, current.number)
        return chance * won + (1 - chance) * lost

    def _current_round_win(self, current: CurrentRound) -> float:
        winner = certain_winner(self.round_state) if self.round_state else None
        if winner is not None:
            home_is_ct = self.home_is_ct(current.map) is not False
            return _CERTAIN if home_is_ct is (winner == "CT") else 1 - _CERTAIN
        before = self.round_logit(current.map)
        return kill_model.win_chance(before, current.alive_home, current.alive_away, self._bomb)

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
    def _bomb(self) -> float:
        """What a planted bomb is worth to home, by how long it has ticked."""
        if self._plant is None:
            return 0.0
        return self.planter * kill_model.planted((self.now - self._plant.at) / 1000)

    @cached_property
    def match_finals(self) -> Finals:
        """Final map scores and their probabilities."""
        match = self.match
        numbers = range(match.best_of - match_scores.maps_left(match) + 1, match.best_of + 1)
        score = match.score_home, match.score_away
        cases = []
        for skill in self.skill.ends:
            chances = [self._map_win(number, skill) for number in numbers]
            cases.append((0.5, tuple(match_scores.finals(*score, match.best_of, chances).items())))
        return mixture(cases)

    def _map_win(self, number: int, skill: float) -> float:
        ahead = self._branches_under(number, skill)
        return sum(branch.weight * wins_map(branch.map_parameters, branch.state) for branch in ahead)

    def home_is_ct(self, number: int) -> bool | None:
        """Whether home plays CT in the current round; None while the sides are unknown."""
        parameters = self.map_parameters(number)
        if parameters.home_starts_ct is None:
            return None
        half, _ = model.half_of(
            sum(self.state(number)[:2]), parameters.max_rounds, parameters.overtime_rounds
        )
        return parameters.home_starts_ct is not model.switched(half)

    def alive(self, number: int) -> tuple[int, int]:
        """(CT, T) players alive in the current round; full teams before it."""
        current = self.current_round
        if current is None or current.map != number:
            return kill_model.PLAYERS, kill_model.PLAYERS
        both = current.alive_home, current.alive_away
        return both if self.home_is_ct(number) is not False else (both[1], both[0])

    def ct_wins(self, number: int, round_number: int) -> float:
        home = self.round_win(number, round_number)
        return home if self.home_is_ct(number) is not False else 1 - home
