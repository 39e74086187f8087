"""Market types of one player: kills on a map, as the server's scoreboard counts them.

They rest on every counted round of the map. A player who leaves keeps the kills that they have; one who never
appeared in a kill on the map did not play, and their markets are void.

A player's rate is not known: what is known of all players (`coefficients.players`) is moved towards the kills
so far, the more rounds there are the more (a gamma distribution). Neither is the number of rounds to come.
Kills are then negative binomial with the mean and the variance that follow from both.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from app.domain.entrants import account_of
from app.domain.ids import entrant_number
from app.trading.coefficients import load
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, LineSequence, counted, total
from app.trading.match_facts import MatchFacts, PlayerKey, Subject
from app.trading.match_phase import MatchPhase
from app.trading.rules import (
    NO_RESULT,
    Ladder,
    Rule,
    Settlement,
    Specifiers,
    decide,
    opposite,
    void,
    with_threshold,
)

_MOST = 60  #: kills on a map beyond which nobody gets


class Moments(NamedTuple):
    """Mean and variance."""

    mean: float
    variance: float


def kill_rate(kills: int, rounds: int) -> Moments:
    """A player's kills a round, who so far got `kills` in `rounds`."""
    known = load().players
    weight = known.rounds + rounds
    mean = (known.rate * known.rounds + kills) / weight
    return Moments(mean, mean / weight)


def kills_to_come(of_round: Moments, rounds: Moments) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … kills in so many rounds."""
    mean = of_round.mean * rounds.mean
    variance = (
        load().players.dispersion * mean
        + of_round.variance * (rounds.mean**2 + rounds.variance)
        + of_round.mean**2 * rounds.variance
    )
    if round(mean, 4) <= 0:
        return (1.0,)
    # Rounded for the cache; a rounded variance could equal the mean where few kills are to come.
    return _negative_binomial(round(mean, 4), round(max(variance / mean, 1.001), 4))


@lru_cache(maxsize=4096)
def _negative_binomial(mean: float, dispersion: float) -> tuple[float, ...]:
    """Chances of 0, 1, 2, … kills; `dispersion`, above 1, is the variance over the mean."""
    shape, odds = mean / (dispersion - 1), 1 - 1 / dispersion
    chances = [(1 - odds) ** shape]
    latest = chances[0]
    for count in range(_MOST):
        latest = latest * (count + shape) / (count + 1) * odds
        chances.append(latest)
    total = sum(chances)
    return tuple([chance / total for chance in chances])


@lru_cache(maxsize=8192)
def _account(player: str) -> int:
    return account_of(entrant_number(player, "player") or 0) or 0


def _offers(phase: MatchPhase) -> Iterable[Specifiers]:
    number = phase.map.number if phase.map else 0
    return (Specifiers(map=number, player=player) for player in phase.players)


def _distribution(forecast: Forecast, specifiers: Specifiers) -> Distribution:
    return forecast.once(_kill_count_of, (specifiers.map, _account(specifiers.player)))


def _kill_count_of(forecast: Forecast, player: PlayerKey) -> Distribution:
    """How many kills the player has at the end of the map."""
    facts, (on_map, account) = forecast.facts, player
    kills = rounds = 0
    for number, played in facts.counted_rounds.items():
        if (number, account) in facts.kills:
            kills += len(facts.kills[number, account])
            rounds += len(played)
    seen = len(facts.kills.get(player, ()))
    length = forecast.distribution(total, on_map)
    to_come = Moments(length.mean - facts.play(on_map).rounds_won, length.variance)
    return counted(kills_to_come(kill_rate(kills, rounds), to_come), seen)


def _lines(forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    return _distribution(forecast, specifiers).lines()


def _over_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return _distribution(forecast, specifiers).over(specifiers.threshold)


def _of_player(specifiers: Specifiers) -> Subject:
    return specifiers.map, 0, _account(specifiers.player)


def _settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    play, key = facts.plays.get(specifiers.map), (specifiers.map, _account(specifiers.player))
    if play is None:
        return None
    played_out = play.end_id is not None and not play.awarded
    kills = facts.kills.get(key, ()) if played_out else facts.lasting_kills(key)
    if len(kills) > specifiers.threshold:
        decisive = kills[: int(specifiers.threshold) + 1]
        return decide(True, decisive, f"{len(decisive)} kills")
    if play.end_id is None:
        return None
    if play.awarded or not facts.kills_known(specifiers.map):
        return void(NO_RESULT, (play.end_id,), "not every round of the map was played, or seen")
    if key not in facts.kills:
        return void(NO_RESULT, (play.end_id,), "the player did not play")
    return decide(False, (play.end_id, *kills), f"{len(kills)} kills on the map")


_KILLS = Rule(
    id=36,
    key="player_kills_over",
    family="player_kills",
    opens=_offers,
    price=_over_price,
    settle=_settle,
    subject=_of_player,
    ladder=Ladder(size=1, lines=_lines, place=with_threshold),
)

RULES = (_KILLS, opposite(_KILLS, 37, "player_kills_under"))
