"""Players' kills on a map of a match, from all that a forecast knows: how the map may end, the kills so far,
what is left of the current round, and each player's earlier rounds and matches. Given the final score, the
kills of two players are independent.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from app.domain.match import CurrentRound, PlayerForm, Team
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, Score
from app.trading.match_facts import MatchFacts, PlayerKey
from app.trading.match_phase import TEAMS, accounts_of
from app.trading.player_kills import Duel, Means, PlayerRecord, kill_model
from app.trading.round_endings import PLAYERS, kills_of_teams
from app.trading.round_kills import kill_state

_CLASSES = 60  #: of final scores, by the kills that they make likely
TeamKey = tuple[int, Team]  #: map number, team


class _TeamOnMap(NamedTuple):
    """What all players of a team share: their levels by account; of a player of level 1, the means of what is
    to come in later rounds (`_later`), and in the current one while alive; who is dead."""

    levels: dict[int, float]
    later: Means
    now: float
    dead: frozenset[int]


class _Player(NamedTuple):
    """A player's team, kills so far and level, and their mean of the current round."""

    team: Team
    seen: int
    factor: float
    further: float

    def mean(self, means: tuple[float, float]) -> float:
        """Of the kills to come, by those of a player of level 1 of home and of away."""
        return self.factor * means[self.team == "away"] + self.further


def kills_on_map(forecast: Forecast, player: PlayerKey) -> Distribution:
    """How many kills the player has at the end of the map."""
    team, seen, factor, further = _player(forecast, player)
    later = forecast.once(_team_on_map, (player[0], team)).later
    return kill_model().count(later, seen, factor, further)


def kills_by_score(forecast: Forecast, player: PlayerKey) -> dict[Score, Distribution]:
    """The same, given each final score of the map."""
    team, seen, factor, further = _player(forecast, player)
    means = _later_by_score(forecast, (player[0], team))
    found = {mean: kill_model().count([(mean, 1.0)], seen, factor, further) for mean in set(means.values())}
    return {score: found[mean] for score, mean in means.items()}


def duel_on_map(forecast: Forecast, duel: tuple[int, int, int]) -> Duel:
    """Who of two players, given by the map's number and both accounts, has more kills at its end."""
    number, *accounts = duel
    one, other = (_player(forecast, (number, account)) for account in accounts)
    more = level = 0.0
    duel_of, ahead = kill_model().duel, one.seen - other.seen
    for means, chance in forecast.once(_means_of_both, number):
        given = duel_of(one.mean(means), other.mean(means), ahead)
        more += chance * given.more
        level += chance * given.level
    return Duel(more, level)


def most_on_map(forecast: Forecast, number: int) -> dict[int, float]:
    """For each player of both teams, by account, the chance to have more kills at the end of the map than
    every other player. Before the map begins."""
    players = {
        account: _player(forecast, (number, account))
        for team in TEAMS
        for account in accounts_of(forecast.facts, number, team)
    }
    found = dict.fromkeys(players, 0.0)
    for means, chance in forecast.once(_means_of_both, number):
        alone = kill_model().most([one.mean(means) for one in players.values()])
        for account, one in zip(players, alone, strict=True):
            found[account] += chance * one
    return found


def _means_of_both(forecast: Forecast, number: int) -> list[tuple[tuple[float, float], float]]:
    """The kills in later rounds of players of level 1, of home and of away, with the chance of both."""
    home, away = (_later_by_score(forecast, (number, team)) for team in TEAMS)
    found: dict[tuple[float, float], float] = defaultdict(float)
    for score, chance in forecast.once(Forecast.finals, number):
        found[home[score], away[score]] += chance
    return list(found.items())


def _player(forecast: Forecast, player: PlayerKey) -> _Player:
    number, account = player
    team = forecast.once(_teams, 0).get(account, "home")
    levels, _, now, dead = forecast.once(_team_on_map, (number, team))
    factor = levels[account] if account in levels else _level(forecast, player, team)
    seen = len(forecast.facts.kills.get(player, ()))
    return _Player(team, seen, factor, 0.0 if account in dead else factor * now)


def _teams(forecast: Forecast, _: int) -> dict[int, Team]:
    return {one.account: one.team for one in forecast.facts.match.roster}


def _team_on_map(forecast: Forecast, of_team: TeamKey) -> _TeamOnMap:
    levels, current = _levels(forecast, of_team), _current(forecast, of_team[0])
    dead = frozenset([one.account for one in current.dead]) if current else frozenset()
    living = [one for account, one in levels.items() if account not in dead]
    now = _share_of_round(forecast, of_team, current, living)
    return _TeamOnMap(levels, _later(forecast, of_team), now, dead)


def _later(forecast: Forecast, of_team: TeamKey) -> Means:
    """The mean kills, of a player of level 1, in the rounds after the current one, by how the map may end,
    with the chance of each end: less than 0 where the mean of the current round is more than its result makes
    of it."""
    return forecast.once(_means_to_come, of_team).classes


def _later_by_score(forecast: Forecast, of_team: TeamKey) -> dict[Score, float]:
    """The same by final score: the mean of its class."""
    found = forecast.once(_means_to_come, of_team)
    of_class = {_class_of(mean): mean for mean, _ in found.classes}
    return {
        score: of_class.get(_class_of(mean), mean)
        for score, mean in zip(found.scores, found.means, strict=True)
    }


class _ToCome(NamedTuple):
    """Final scores, the mean that follows from each, and these in classes with their chances."""

    scores: tuple[Score, ...]
    means: list[float]
    classes: Means


def _means_to_come(forecast: Forecast, of_team: TeamKey) -> _ToCome:
    number, team = of_team
    play = forecast.facts.play(number)
    counted = _whole_round(forecast, of_team) + _expected(team, play.home_score, play.away_score)
    scores, chances = zip(*forecast.once(Forecast.finals, number), strict=True)
    means = [mean - counted for mean in _means(team, scores)]
    return _ToCome(scores, means, in_classes(means, chances))


@lru_cache(maxsize=2048)
def _means(team: Team, scores: tuple[Score, ...]) -> tuple[float, ...]:
    """Of a player of level 1 on the whole map, at each of these final scores."""
    return tuple([_expected(team, home, away) for home, away in scores])


def in_classes(means: Sequence[float], chances: Sequence[float]) -> Means:
    """Fewer means, each with its chance: those that are close count as one, the closer the fewer kills are to
    come."""
    parts, weights = [0.0] * _CLASSES, [0.0] * _CLASSES
    for place, mean, chance in zip(map(_class_of, means), means, chances, strict=True):
        parts[place] += mean * chance
        weights[place] += chance
    return [(part / weight, weight) for part, weight in zip(parts, weights, strict=True) if weight]


def _class_of(mean: float) -> int:
    return int(2 * mean + 2) if mean < 4 else int(mean + 6) if mean < 10 else int(mean / 2 + 11)


def _expected(team: Team, home: float, away: float) -> float:
    """The kills of a player of this team when home and away win so many rounds."""
    return kill_model().expected(*((home, away) if team == "home" else (away, home)))


def _current(forecast: Forecast, number: int) -> CurrentRound | None:
    """The current round of this map."""
    current = forecast.current_round
    return current if current and current.map == number else None


def _whole_round(forecast: Forecast, of_team: TeamKey) -> float:
    """What final scores count, on average, for the current round."""
    number, team = of_team
    current = _current(forecast, number)
    home = forecast.round_win(number, current.number) if current else 0.0
    return _expected(team, home, 1 - home) if current else 0.0


def _share_of_round(
    forecast: Forecast, of_team: TeamKey, current: CurrentRound | None, living: list[float]
) -> float:
    """The mean kills to come in the current round of a living player of level 1: those of all living players,
    whose levels these are as far as they are known, sum to what the model of the round expects of the
    team."""
    if current is None:
        return 0.0
    state = forecast.once(kill_state, (current.map, current.number))
    state = state._replace(before=round(state.before * 20) / 20)  # fewer to compute; moves .03 kills at most
    home = of_team[1] == "home"
    alive, kills = (state.home if home else state.away), kills_of_teams(*state)[not home]
    known = living[:alive]
    return kills / (sum(known) + alive - len(known)) if alive else 0.0


def _levels(forecast: Forecast, of_team: TeamKey) -> dict[int, float]:
    """The levels of the team's players by account, scaled so that the mean of all five is 1; of players who
    are not known it is."""
    number, team = of_team
    accounts = accounts_of(forecast.facts, number, team)
    found = {account: _level(forecast, (number, account), team) for account in accounts}
    mean = (sum(found.values()) + PLAYERS - len(found)) / PLAYERS
    return {account: one / mean for account, one in found.items()}


def _level(forecast: Forecast, player: PlayerKey, team: Team) -> float:
    """By the player's earlier matches and the counted rounds of this one."""
    (_, account), facts = player, forecast.facts
    kills, expected = 0, 0.0
    for number in facts.counted_rounds:
        if (number, account) in facts.kills:
            kills += len(facts.kills[number, account]) - _kills_in_progress(facts, number, account)
            expected += forecast.once(_expected_so_far, (number, team))
    return kill_model().level(PlayerRecord(kills, expected), forecast.once(_forms, 0).get(account))


def _kills_in_progress(facts: MatchFacts, number: int, account: int) -> int:
    """The player's kills in a round that does not count yet."""
    current = facts.match.current
    if current is None or not current.events or current.map != number:
        return 0
    if (number, current.number) in facts.rounds:
        return 0
    return sum(
        event.on_scoreboard and event.actor is not None and event.actor.account == account
        for event in current.events
    )


def _expected_so_far(forecast: Forecast, of_team: TeamKey) -> float:
    """The kills, of a player of level 1, in the map's counted rounds."""
    number, team = of_team
    counted = forecast.facts.counted(number)
    home = sum([one.winner == "home" for one in counted])
    return _expected(team, home, len(counted) - home)


def _forms(forecast: Forecast, _: int) -> dict[int, PlayerForm]:
    return {one.account: one for one in forecast.facts.match.player_forms}
