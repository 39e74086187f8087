"""Market types of players: kills on a map, as the server's scoreboard counts them.

They rest on every counted round of the map. A player who leaves keeps the kills that they have; one who never
appeared in a kill on the map did not play, and their markets are void.
"""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from app.domain.entrants import account_of
from app.domain.ids import entrant_number
from app.domain.match import MapPlay
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, LineSequence
from app.trading.match_facts import MatchFacts, Subject
from app.trading.match_phase import MatchPhase
from app.trading.player_forecast import duel_on_map, kills_on_map, most_on_map
from app.trading.player_kills import Duel
from app.trading.propositions import OfPlayer
from app.trading.round_endings import PLAYERS
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


def _no_result(facts: MatchFacts, number: int, *players: str) -> Settlement | None:
    """Why nothing can be said about the kills of these players on a map that has ended, if so."""
    play = facts.plays[number]
    if play.awarded or not facts.kills_known(number):
        return void(NO_RESULT, _end(play), "not every round of the map was played, or seen")
    if any((number, account(player)) not in facts.kills for player in players):
        return void(NO_RESULT, _end(play), "the player did not play")
    return None


def _end(play: MapPlay) -> tuple[int, ...]:
    return () if play.end_id is None else (play.end_id,)


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
    return _no_result(facts, specifiers.map, specifiers.player) or decide(
        False, (play.end_id, *kills), f"{len(kills)} kills on the map"
    )


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


def _duels(phase: MatchPhase) -> Iterable[Specifiers]:
    number = phase.map.number if phase.map else 0
    for one, other in phase.duels:
        yield Specifiers(map=number, player=one, opponent=other)
        yield Specifiers(map=number, player=other, opponent=one)


def _duel_price(forecast: Forecast, specifiers: Specifiers) -> float:
    """The chance while the bet stands: with as many kills as each other it is void."""
    found = _duel(forecast, specifiers)
    chance = found.more / (1 - found.level)
    return chance if account(specifiers.player) < account(specifiers.opponent) else 1 - chance


def _level_chance(forecast: Forecast, specifiers: Specifiers) -> float:
    return _duel(forecast, specifiers).level


def _duel(forecast: Forecast, specifiers: Specifiers) -> Duel:
    """That of the one with the lower account against the other."""
    one, other = sorted((account(specifiers.player), account(specifiers.opponent)))
    return forecast.once(duel_on_map, (specifiers.map, one, other))


def _without_order(specifiers: Specifiers) -> Specifiers:
    first, second = sorted((specifiers.player, specifiers.opponent))
    return replace(specifiers, player=first, opponent=second)


def _settle_duel(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    number, players = specifiers.map, (specifiers.player, specifiers.opponent)
    play = facts.plays.get(number)
    if play is None or play.end_id is None:
        return None
    if unknown := _no_result(facts, number, *players):
        return unknown
    own, others = (facts.kills[number, account(player)] for player in players)
    rests_on = (play.end_id, *own, *others)
    if len(own) == len(others):
        return void(NO_RESULT, rests_on, f"both have {len(own)} kills")
    return decide(len(own) > len(others), rests_on, f"{len(own)} kills against {len(others)}")


def _before_map(phase: MatchPhase) -> int:
    """The number of the map on offer, while it has not begun and all ten players are known; else 0."""
    waits = phase.map is not None and not phase.map.rounds_won and phase.in_freeze is None
    return phase.map.number if phase.map and waits and len(phase.players) == 2 * PLAYERS else 0


def _most_offers(phase: MatchPhase) -> Iterable[Specifiers]:
    number = _before_map(phase)
    return [Specifiers(map=number, player=player) for player in phase.players] if number else []


def _shared_offers(phase: MatchPhase) -> Iterable[Specifiers]:
    number = _before_map(phase)
    return [Specifiers(map=number)] if number else []


def _most_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.once(most_on_map, specifiers.map).get(account(specifiers.player), 0.0)


def _shared_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return 1 - sum(forecast.once(most_on_map, specifiers.map).values())


def _settle_most(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    number, player = specifiers.map, specifiers.player
    play = facts.plays.get(number)
    if play is None or play.end_id is None:
        return None
    if unknown := _no_result(facts, number, *([player] if player else [])):
        return unknown
    kills = {who: ids for (of_map, who), ids in facts.kills.items() if of_map == number}
    most = max((len(ids) for ids in kills.values()), default=0)
    first = [who for who, ids in kills.items() if len(ids) == most]
    rests_on = (play.end_id, *(number for who in first for number in kills[who]))
    happened = first == [account(player)] if player else len(first) > 1
    return decide(happened, rests_on, f"{len(first)} with {most} kills")


def _all_kills(specifiers: Specifiers) -> Subject:
    """Those of every round of the map: no event alone decides."""
    return specifiers.map, 0, 0


def _map_alone(specifiers: Specifiers) -> Specifiers:
    return Specifiers(map=specifiers.map)


RULES = (
    _KILLS,
    opposite(_KILLS, 37, "player_kills_under"),
    Rule(
        id=38,
        key="player_more_kills",
        family="player_duel",
        opens=_duels,
        price=_duel_price,
        settle=_settle_duel,
        subject=_all_kills,
        pairs=True,
        shared=_without_order,
        void_chance=_level_chance,
    ),
    Rule(
        id=39,
        key="player_most_kills",
        family="map_most_kills",
        opens=_most_offers,
        price=_most_price,
        settle=_settle_most,
        subject=_all_kills,
        shared=_map_alone,
    ),
    Rule(
        id=40,
        key="map_most_kills_shared",
        family="map_most_kills",
        opens=_shared_offers,
        price=_shared_price,
        settle=_settle_most,
        subject=_all_kills,
        shared=_map_alone,
    ),
)
