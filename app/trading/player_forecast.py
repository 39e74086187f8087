"""A player's kills on a map of a match, from all that a forecast knows: how the map may end, the kills so
far, what is left of the current round, and the player's earlier rounds and matches.
"""

from app.domain.match import CurrentRound, PlayerForm, Team
from app.trading.forecast import Forecast
from app.trading.lines import Distribution
from app.trading.match_facts import MatchFacts, PlayerKey
from app.trading.match_phase import accounts_of
from app.trading.player_kills import PlayerRecord, expected_kills, kill_count, level, with_form
from app.trading.round_endings import PLAYERS, kills_of_teams
from app.trading.round_kills import kill_state

_BASE = 1000  #: more rounds than anybody has on a map
TeamKey = tuple[int, Team]  #: map number, team


def kills_on_map(forecast: Forecast, player: PlayerKey) -> Distribution:
    """How many kills the player has at the end of the map."""
    number, account = player
    of_team = number, _team(forecast.facts, account)
    levels = forecast.once(_levels, of_team)
    factor = levels[account] if account in levels else _level(forecast, player, of_team[1])
    now = factor * _in_current_round(forecast, account, of_team)
    means = [(max(factor * later + now, 0.0), chance) for later, chance in forecast.once(_later, of_team)]
    return kill_count(means, len(forecast.facts.kills.get(player, ())))


def _team(facts: MatchFacts, account: int) -> Team:
    return next((one.team for one in facts.match.roster if one.account == account), "home")


def _later(forecast: Forecast, of_team: TeamKey) -> list[tuple[float, float]]:
    """The mean kills, of a player of level 1, in the rounds after the current one, by how the map may end,
    with the chance of each end. Less than 0 where that round's mean is more than its result makes of it."""
    number, team = of_team
    play, counted = forecast.facts.play(number), _whole_round(forecast, of_team)
    counted += _expected(team, play.home_score, play.away_score)
    return [
        (_expected(team, *divmod(score, _BASE)) - counted, chance)
        for score, chance in forecast.distribution(_final_score, number).chances
    ]


def _final_score(home: int, away: int) -> int:
    """Measures a final score as one number."""
    return home * _BASE + away


def _expected(team: Team, home: float, away: float) -> float:
    """The kills of a player of this team when home and away win so many rounds."""
    return expected_kills(home, away) if team == "home" else expected_kills(away, home)


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


def _in_current_round(forecast: Forecast, account: int, of_team: TeamKey) -> float:
    """The kills to come in the current round, of a player of level 1: none of one who is dead."""
    current = _current(forecast, of_team[0])
    if current is None or any(one.account == account for one in current.dead):
        return 0.0
    return forecast.once(_share_of_round, of_team)


def _share_of_round(forecast: Forecast, of_team: TeamKey) -> float:
    """The mean kills to come in the current round of a living player of level 1: those of all living players
    sum to what the model of the round expects of their team."""
    current = _current(forecast, of_team[0])
    if current is None:
        return 0.0
    state = forecast.once(kill_state, (current.map, current.number))
    home = of_team[1] == "home"
    alive, kills = (state.home if home else state.away), kills_of_teams(*state)[not home]
    dead = {one.account for one in current.dead}
    living = [one for account, one in forecast.once(_levels, of_team).items() if account not in dead][:alive]
    return kills / (sum(living) + alive - len(living)) if alive else 0.0


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
            expected += _expected(team, *forecast.once(_rounds_won, number))
    form = forecast.once(_forms, 0).get(account, PlayerForm(account))
    return level(with_form(PlayerRecord(kills, expected), form))


def _kills_in_progress(facts: MatchFacts, number: int, account: int) -> int:
    """The player's kills in a round that does not count yet."""
    current = facts.match.current
    if current is None or current.map != number or (number, current.number) in facts.rounds:
        return 0
    return sum(
        event.on_scoreboard and event.actor is not None and event.actor.account == account
        for event in current.events
    )


def _rounds_won(forecast: Forecast, number: int) -> tuple[int, int]:
    """By home and by away, of the map's counted rounds."""
    counted = forecast.facts.counted(number)
    home = sum([one.winner == "home" for one in counted])
    return home, len(counted) - home


def _forms(forecast: Forecast, _: int) -> dict[int, PlayerForm]:
    return {one.account: one for one in forecast.facts.match.player_forms}
