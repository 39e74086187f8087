"""How a match may go on, drawn at random, round by round: what sums over states are compared with.

Nothing is shared with `trading.combinations` but the chances themselves: a round's by skill, side and the
state of both sides' money, and the kills of a player given a final score. Who wins which market is decided
here, from what was drawn, by market type.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from app.domain.market import MarketKey
from app.trading import half_walk
from app.trading.forecast import Forecast
from app.trading.half_walk import Economy
from app.trading.map_scores import MapParameters
from app.trading.model import half_of
from app.trading.player_forecast import kills_by_score
from app.trading.player_markets import account
from app.trading.registry import RULES
from app.trading.round_endings import first_kill, first_kill_and_round
from app.trading.round_kills import endings_of
from app.trading.rules import Specifiers, parse_specifiers

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_OVERTIMES = 3  #: as many as `map_scores.finals` computes one by one


class DrawnMap(msgspec.Struct):
    """A map in each continuation: home's rounds after each round of regulation from `first` on (row 0: before
    that), and the final score. `home_won` is who wins the map."""

    first: int
    home_rounds: Ints
    home: Ints
    away: Ints
    home_won: Bools


class Continuations:
    """So many continuations of the match of `forecast`."""

    def __init__(self, forecast: Forecast, count: int, random: np.random.Generator) -> None:
        self.forecast, self.count, self._random = forecast, count, random
        weights = [case.weight for case in forecast.cases]
        self._case = random.choice(len(weights), count, p=np.array(weights) / sum(weights))
        self._won_in_overtime: Bools = np.zeros(count, dtype=np.bool_)  #: the current round of an overtime
        self.maps = {number: self._map(number) for number in forecast.maps_left}
        self._score()
        self._kills: dict[tuple[int, int], Ints] = {}
        self._endings: npt.NDArray[np.str_] | None = None
        self._plays: dict[str, Bools] = {}

    def _score(self) -> None:
        match = self.forecast.match
        home, away = np.full(self.count, match.score_home), np.full(self.count, match.score_away)
        self.played = np.full(self.count, match.best_of - len(self.forecast.maps_left))
        for one in self.maps.values():
            goes_on = np.maximum(home, away) <= match.best_of // 2
            home, away = home + (goes_on & one.home_won), away + (goes_on & ~one.home_won)
            self.played = self.played + goes_on
        self.home_maps, self.away_maps = home, away

    def _map(self, number: int) -> DrawnMap:
        forecast, state = self.forecast, self.forecast.state(number)
        skills = [case.skill for case in forecast.cases]
        sides = forecast.map_parameters(number, skills[0])
        side = self._random.integers(len(sides), size=self.count)
        known = [[replace(one, skill=skill) for skill in skills] for _, one in sides]
        form = known[0][0]
        home, away = np.full(self.count, state.home), np.full(self.count, state.away)
        column = side * len(skills) + self._case
        economy = np.zeros(self.count, dtype=np.int64)
        flat = [one for of_side in known for one in of_side]
        half, position = form.position(state.home, state.away)
        if position:
            beliefs = [half_walk.belief(one.half(half), state.results, state.economy) for one in flat]
            economy = self._draw(np.array(beliefs), column)
        history, current = [home], forecast.current_round
        length = form.max_rounds // 2
        if not form.decided(state.home, state.away):
            for index in range(state.home + state.away, form.max_rounds):
                over = (home > length) | (away > length)
                half, position = divmod(index, length)
                if index == state.home + state.away and current and current.map == number:
                    of_skill = np.array([forecast.current_round_chances[skill] for skill in skills])
                    chance = of_skill[self._case]
                    if forecast.economy is not None and position:
                        economy = np.full(self.count, forecast.economy)
                else:
                    chance = self._chances(flat, half, position)[column, economy]
                won = self._random.random(self.count) < chance
                economy = self._next(flat, half, position, economy, won, column)
                if position + 1 == length:
                    economy = np.zeros(self.count, dtype=np.int64)
                home, away = home + (won & ~over), away + (~won & ~over)
                history.append(home)
        rounds = np.array(history)
        if form.overtime_rounds:
            home, away = self._overtimes(number, flat, column, home, away)
        coin = self._random.random(self.count) < 0.5
        return DrawnMap(state.home + state.away, rounds, home, away, (home > away) | ((home == away) & coin))

    def _overtimes(
        self, number: int, flat: Sequence[MapParameters], column: Ints, home: Ints, away: Ints
    ) -> tuple[Ints, Ints]:
        """Played from the present score on; the last one that is computed is drawn again while it ends
        level."""
        form, current, state = flat[0], self.forecast.current_round, self.forecast.state(number)
        level, half = form.max_rounds // 2, form.overtime_rounds // 2
        begun = max(state.home + state.away - form.max_rounds, 0) // form.overtime_rounds
        inside = state.home + state.away >= form.max_rounds and not form.decided(state.home, state.away)
        for overtime in range(begun, begun + _OVERTIMES):
            base = level + overtime * half
            in_it = (np.minimum(home, away) >= base) & (np.maximum(home, away) <= base + half)
            last = overtime == begun + _OVERTIMES - 1
            waiting = in_it.copy()
            while waiting.any():
                new_home, new_away = home.copy(), away.copy()
                for index in range(
                    form.max_rounds + overtime * form.overtime_rounds,
                    form.max_rounds + (overtime + 1) * form.overtime_rounds,
                ):
                    going = (
                        waiting
                        & (new_home + new_away == index)
                        & (np.maximum(new_home, new_away) <= base + half)
                    )
                    number_of_half, position = half_of(index, form.max_rounds, form.overtime_rounds)
                    chance = self._chances(flat, number_of_half, position)[column, 0]
                    if inside and index == state.home + state.away and current and current.map == number:
                        skills = [case.skill for case in self.forecast.cases]
                        chance = np.array([self.forecast.current_round_chances[one] for one in skills])[
                            self._case
                        ]
                    won = self._random.random(self.count) < chance
                    if inside and index == state.home + state.away:
                        self._won_in_overtime = np.where(going, won, self._won_in_overtime)
                    new_home, new_away = new_home + (going & won), new_away + (going & ~won)
                ends_level = new_home == new_away
                accepted = waiting & ~ends_level if last else waiting
                home, away = np.where(accepted, new_home, home), np.where(accepted, new_away, away)
                waiting = waiting & ~accepted
        return home, away

    def _chances(self, flat: Sequence[MapParameters], half: int, position: int) -> npt.NDArray[np.float64]:
        """Home's chance, by column and state of the economy."""
        rows = []
        for one in flat:
            of_half = one.half(half)
            states = of_half.economy.size if position else 1
            ct = [half_walk.ct_wins_in(of_half, position, state) for state in range(states)]
            rows.append(ct if one.home_is_ct(half) else [1 - chance for chance in ct])
        return np.array(rows)

    def _next(
        self, flat: Sequence[MapParameters], half: int, position: int, economy: Ints, won: Bools, column: Ints
    ) -> Ints:
        money: Economy = flat[0].half(half).economy
        moves = np.array(
            [
                [
                    list(accumulate(dict(move).get(state, 0.0) for state in range(money.size)))
                    for move in money.following(position, result)
                ]
                for result in (False, True)
            ]
        )
        home_is_ct = np.array([one.home_is_ct(half) for one in flat])[column]
        ct_won = np.where(home_is_ct, won, ~won).astype(np.int64)
        rows = moves[ct_won, economy if position else 0]
        return np.asarray((self._random.random(self.count)[:, None] > rows[:, :-1]).sum(axis=1))

    def _draw(self, beliefs: npt.NDArray[np.float64], column: Ints) -> Ints:
        rows = np.cumsum(beliefs, axis=1)[column]
        return np.asarray((self._random.random(self.count)[:, None] > rows[:, :-1]).sum(axis=1))

    def wins(self, key: MarketKey) -> Bools:
        """In which continuations the market wins; where its map is not played, whether it would."""
        specifiers = parse_specifiers(key[1])
        family, about = RULES[key[0]].family, RULES[key[0]].key
        return _BY_FAMILY[family](self, about, specifiers)

    def round_won(self, number: int, round_number: int) -> Bools:
        """Whether home wins this round."""
        played = self.forecast.facts.rounds.get((number, round_number))
        if played is not None:
            return np.full(self.count, played.winner == "home")
        one = self.maps[number]
        row = round_number - one.first
        if row >= len(one.home_rounds):
            return self._won_in_overtime
        return np.asarray(one.home_rounds[row] > one.home_rounds[row - 1])

    def ending(self, number: int, round_number: int) -> npt.NDArray[np.str_]:
        """How the current round ends."""
        if self._endings is None:
            chances = endings_of(self.forecast, (number, round_number))._asdict()
            home_is_ct = self.forecast.home_is_ct(number) is not False
            ct_won = self.round_won(number, round_number) == home_is_ct
            found = np.empty(self.count, dtype="<U12")
            for won, ways in (
                (True, ("defuse", "time", "ct_kills")),
                (False, ("bomb", "t_kills", "late_kills")),
            ):
                weights = np.array([chances[way] for way in ways])
                drawn = self._random.choice(ways, self.count, p=weights / weights.sum())
                found = np.where(ct_won == won, drawn, found)
            self._endings = found
        return self._endings

    def play(self, about: str, key: MarketKey) -> Bools:
        """Something of the current round that is as likely whoever wins it."""
        if about not in self._plays:
            chance = RULES[key[0]].price(self.forecast, parse_specifiers(key[1]))
            self._plays[about] = np.asarray(self._random.random(self.count) < chance)
        return self._plays[about]

    def first_kill(self, number: int, round_number: int) -> Bools:
        """Whether home gets the first kill of the current round."""
        if "first kill" not in self._plays:
            first = first_kill(self.forecast.round_logit(number), self.forecast.home_is_ct(number))
            win = self.forecast.round_win(number, round_number)
            both = first_kill_and_round(first, win)
            chance = np.where(self.round_won(number, round_number), both / win, (first - both) / (1 - win))
            self._plays["first kill"] = np.asarray(self._random.random(self.count) < chance)
        return self._plays["first kill"]

    def kills(self, number: int, player: str) -> Ints:
        """The player's kills on the map."""
        key = number, account(player)
        if key not in self._kills:
            by_score, one = kills_by_score(self.forecast, key), self.maps[number]
            found = np.zeros(self.count, dtype=np.int64)
            for (home, away), kills in by_score.items():
                at = np.flatnonzero((one.home == home) & (one.away == away))
                values, chances = zip(*kills.chances, strict=True)
                found[at] = self._random.choice(values, len(at), p=np.array(chances) / sum(chances))
            self._kills[key] = found
        return self._kills[key]


def _of_match(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    home, away = drawn.home_maps, drawn.away_maps
    return _of_score(about, one, home, away)


def _of_map(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    played = drawn.maps[one.map]
    if about == "map_winner":
        return np.asarray(played.home_won == (one.team == "home"))
    most = drawn.forecast.facts.play(one.map).max_rounds
    if about in ("map_overtime", "map_no_overtime"):
        return np.asarray((played.home + played.away > most) == (about == "map_overtime"))
    return _of_score(about, one, played.home, played.away)


def _of_score(about: str, one: Specifiers, home: Ints, away: Ints) -> Bools:
    own, other = (home, away) if one.team == "home" else (away, home)
    if about.endswith("winner"):
        return np.asarray(own > other)
    if about.endswith("handicap"):
        return np.asarray(own + one.handicap > other)
    if about == "correct_map_score":
        return np.asarray((home == one.home_maps) & (away == one.away_maps))
    if about in ("map_rounds_odd", "map_rounds_even"):
        return np.asarray((home + away) % 2 == (about == "map_rounds_odd"))
    count = own if about.startswith("team_rounds") else home + away
    return np.asarray(count > one.threshold if about.endswith("over") else count < one.threshold)


def _of_race(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    played = drawn.maps[one.map]
    home = played.home_rounds
    away = np.arange(len(home))[:, None] + played.first - home
    first_home, first_away = (
        np.argmax(np.vstack([row >= one.target, [[True] * drawn.count]]), axis=0) for row in (home, away)
    )
    return np.asarray(first_home < first_away if one.team == "home" else first_away < first_home)


def _of_half(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    length, played = drawn.forecast.facts.play(one.map).max_rounds // 2, drawn.maps[one.map]
    home = played.home_rounds[length - played.first]
    away = length - home
    if about == "half_level":
        return np.asarray(home == away)
    return np.asarray(home > away if one.team == "home" else away > home)


def _of_pistol(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    length = drawn.forecast.facts.play(one.map).max_rounds // 2
    if about == "pistol_winner":
        return np.asarray(drawn.round_won(one.map, 1 + (one.half - 1) * length) == (one.team == "home"))
    first, second = (drawn.round_won(one.map, number) for number in (1, 1 + length))
    if about == "shared_pistols":
        return np.asarray(first != second)
    home = one.team == "home"
    return np.asarray((first == home) & (second == home))


def _of_round(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    return np.asarray(drawn.round_won(one.map, one.round) == (one.team == "home"))


def _of_opening(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    return np.asarray(drawn.first_kill(one.map, one.round) == (one.team == "home"))


def _of_ending(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    ways: Mapping[str, tuple[str, ...]] = {
        "round_bomb_defused": ("defuse",),
        "round_bomb_exploded": ("bomb",),
        "round_time_expired": ("time",),
        "round_elimination": ("ct_kills", "t_kills", "late_kills"),
        "round_bomb_planted": ("defuse", "bomb", "late_kills"),
        "round_no_bomb_plant": ("time", "ct_kills", "t_kills"),
    }
    return np.isin(drawn.ending(one.map, one.round), ways[about])


def _of_play(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    opposites = {
        "round_opening_no_headshot": (15, "round_opening_headshot"),
        "round_no_awp_kill": (16, "round_awp_kill"),
        "round_kills_under": (19, "round_kills_over"),
    }
    ids = {"round_opening_headshot": 15, "round_awp_kill": 16, "round_kills_over": 19}
    number, name = opposites.get(about) or (ids[about], about)
    drawn_yes = drawn.play(f"{name} {one.threshold}", (number, one.text))
    return drawn_yes if about in ids else ~drawn_yes


def _of_player(drawn: Continuations, about: str, one: Specifiers) -> Bools:
    kills = drawn.kills(one.map, one.player)
    return np.asarray(kills > one.threshold if about.endswith("over") else kills < one.threshold)


_BY_FAMILY = {
    **dict.fromkeys(("match_winner", "match_map_handicap", "total_maps", "correct_map_score"), _of_match),
    **dict.fromkeys(
        (
            "map_winner",
            "map_round_handicap",
            "map_total_rounds",
            "map_overtime",
            "team_rounds",
            "map_rounds_parity",
        ),
        _of_map,
    ),
    "race_to_rounds": _of_race,
    "half": _of_half,
    **dict.fromkeys(("pistol_winner", "both_pistols"), _of_pistol),
    "round_winner": _of_round,
    "round_opening_kill": _of_opening,
    **dict.fromkeys(("round_ending", "round_bomb_planted"), _of_ending),
    **dict.fromkeys(("round_opening_headshot", "round_awp_kill", "round_kills"), _of_play),
    "player_kills": _of_player,
}
