"""Market types of one player: kills on a map, as the server's scoreboard counts them.

They rest on every counted round of the map. A player who leaves keeps the kills that they have; one who never
appeared in a kill on the map did not play, and their markets are void.
"""

from collections.abc import Iterable
from functools import lru_cache

from app.domain.entrants import account_of
from app.domain.ids import entrant_number
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, LineSequence
from app.trading.match_facts import MatchFacts, Subject
from app.trading.match_phase import MatchPhase
from app.trading.player_forecast import kills_on_map
from app.trading.propositions import OfPlayer
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


@lru_cache(maxsize=8192)
def account(player: str) -> int:
    return account_of(entrant_number(player, "player") or 0) or 0


def _offers(phase: MatchPhase) -> Iterable[Specifiers]:
    number = phase.map.number if phase.map else 0
    return (Specifiers(map=number, player=player) for player in phase.players)


def _distribution(forecast: Forecast, specifiers: Specifiers) -> Distribution:
    return forecast.once(kills_on_map, (specifiers.map, account(specifiers.player)))


def _lines(forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    return _distribution(forecast, specifiers).lines()


def _over_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return _distribution(forecast, specifiers).over(specifiers.threshold)


def _of_kills(forecast: Forecast, specifiers: Specifiers) -> OfPlayer:
    return OfPlayer(specifiers.map, account(specifiers.player), specifiers.threshold, over=True)


def _of_player(specifiers: Specifiers) -> Subject:
    return specifiers.map, 0, account(specifiers.player)


def _settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    play, key = facts.plays.get(specifiers.map), (specifiers.map, account(specifiers.player))
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
    proposition=_of_kills,
    ladder=Ladder(size=1, lines=_lines, place=with_threshold),
)

RULES = (_KILLS, opposite(_KILLS, 37, "player_kills_under"))
