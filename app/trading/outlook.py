"""Everything that prices need about one state of one match, each part computed once when first asked.

The parts hang together: the round being played moves the map, the map moves the match.
"""

from collections.abc import Sequence
from functools import cached_property

from app.domain.match import MapPlay, RoundPlay, TimelineEvent
from app.trading import duel, model, series
from app.trading.chain import Finals, State, Terms, finals, mixture, present, terms
from app.trading.evidence import Evidence


class Outlook:
    """Prices' view of `evidence`. Lives as long as one reaction."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.match = evidence.match
        self._finals: dict[int, Finals] = {}
        self._terms: dict[int, Terms] = {}

    @cached_property
    def skill(self) -> float:
        return model.skill(self.match)

    @cached_property
    def playing(self) -> RoundPlay | None:
        """The round in hand: in its freeze or live, not yet won."""
        current = self.match.current
        return current if current and current.phase != "over" and not current.won else None

    def terms(self, number: int) -> Terms:
        known = self._terms.get(number)
        if known is None:
            known = self._terms[number] = terms(self.evidence.play(number), self.skill)
        return known

    def state(self, number: int) -> State:
        return present(self.evidence.play(number))

    def map_finals(self, number: int) -> Finals:
        """The map's final scores and their chances, the round in hand taken into account."""
        known = self._finals.get(number)
        if known is None:
            known = self._finals[number] = self._map_finals(self.evidence.play(number))
        return known

    def _map_finals(self, play: MapPlay) -> Finals:
        given, state = self.terms(play.number), present(play)
        if given.decided(*state[:2]):
            return ((state[:2], 1.0),)
        return mixture((chance, finals(given, then)) for chance, then in self.branches(play.number))

    def branches(self, number: int) -> tuple[tuple[float, State], ...]:
        """The states that the map's next round leads to, with their chances."""
        (home, away, _), given = self.state(number), self.terms(number)
        index = home + away
        current = self.playing
        in_hand = current is not None and current.map == number
        chance = self.round_win(number, current.number) if current and in_hand else self.before_round(number)
        return (
            (chance, (home + 1, away, given.carried(index, 1))),
            (1 - chance, (home, away + 1, given.carried(index, -1))),
        )

    def before_round(self, number: int) -> float:
        """Home's chance of the map's next round before anything of it was seen."""
        home, away, last = self.state(number)
        return self.terms(number).home_wins(home + away, last)

    def round_logit(self, number: int) -> float:
        return model.logit(self.before_round(number))

    def round_win(self, number: int, round_number: int) -> float:
        """Home's chance to win this round: the one in hand, or the one after it."""
        current = self.playing
        if current and (current.map, current.number) == (number, round_number):
            return self._round_in_hand(current)
        home, away, _ = self.state(number)
        if current is None or round_number != current.number + 1:
            return self.before_round(number)
        given, index = self.terms(number), home + away
        won = given.home_wins(index + 1, given.carried(index, 1))
        lost = given.home_wins(index + 1, given.carried(index, -1))
        chance = self.round_win(number, current.number)
        return chance * won + (1 - chance) * lost

    def _round_in_hand(self, current: RoundPlay) -> float:
        return duel.win_chance(
            self.round_logit(current.map), current.alive_home, current.alive_away, self.planted
        )

    @cached_property
    def events(self) -> Sequence[TimelineEvent]:
        """What happened in the round in hand."""
        return self.playing.events if self.playing else ()

    @cached_property
    def planted(self) -> int:
        """1 when home planted the bomb in the round in hand, -1 when away did, else 0."""
        slot = next((event.actor_slot for event in self.events if event.type == "bomb_planted"), None)
        return model.sign(slot) if slot else 0

    @cached_property
    def match_finals(self) -> dict[tuple[int, int], float]:
        """Final map scores and their chances."""
        match = self.match
        first = match.best_of - series.maps_left(match) + 1
        chances = [self.map_win(number) for number in range(first, match.best_of + 1)]
        return series.finals(match.score_home, match.score_away, match.best_of, chances)

    def map_win(self, number: int) -> float:
        """Home's chance of the map, a level end (where the format knows one) shared out."""
        home = sum(chance for (won, lost), chance in self.map_finals(number) if won > lost)
        level = sum(chance for (won, lost), chance in self.map_finals(number) if won == lost)
        return home + level / 2

    def home_is_ct(self, number: int) -> bool | None:
        """Whether home plays CT in the round in hand; None while nobody knows."""
        given = self.terms(number)
        if given.home_starts_ct is None:
            return None
        half, _ = model.half_of(sum(self.state(number)[:2]), given.max_rounds, given.overtime_rounds)
        return given.home_starts_ct is not model.switched(half)

    def alive(self, number: int) -> tuple[int, int]:
        """(CT, T) players alive in the round in hand; full teams before it."""
        current = self.playing
        if current is None or current.map != number:
            return duel.PLAYERS, duel.PLAYERS
        both = current.alive_home, current.alive_away
        return both if self.home_is_ct(number) is not False else (both[1], both[0])

    def ct_wins(self, number: int, round_number: int) -> float:
        home = self.round_win(number, round_number)
        return home if self.home_is_ct(number) is not False else 1 - home
