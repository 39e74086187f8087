"""Market types of one player: kills on a map, as the server's scoreboard counts them.

They rest on every counted round of the map. A player who leaves keeps the kills that they have; one who never
appeared in a kill on the map did not play, and their markets are void.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from app.domain.ids import entrant_number, player_urn
from app.domain.match import Team
from app.domain.match_entrants import match_of_player, stand_in_player
from app.trading.forecast import Forecast
from app.trading.ladder import Ladder, with_threshold
from app.trading.lines import Distribution, total
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import map_on_offer
from app.trading.player_model import Moments, kills_to_come, rate
from app.trading.rules import NO_RESULT, Rule, Settlement, decide, void
from app.trading.specifiers import Specifiers

_TEAM = 5
_TEAMS: tuple[Team, Team] = ("home", "away")


@lru_cache(maxsize=8192)
def _account(player: str) -> int:
    found = match_of_player(entrant_number(player, "player") or 0)
    return found[1] if found else 0


def _offers(facts: MatchFacts) -> Iterable[Specifiers]:
    """The players of the map on offer, while none of its rounds is live: each kill moves their prices, and
    bettors may see it first."""
    number = map_on_offer(facts)
    if number is None or not facts.kills_known(number) or not _between_rounds(facts):
        return []
    return [
        Specifiers(map=number, player=player_urn(stand_in_player(facts.match, account)))
        for team in _TEAMS
        for account in _players(facts, number, team)
    ]


def _between_rounds(facts: MatchFacts) -> bool:
    current = facts.match.current
    return facts.live is None or (current is not None and current.phase == "freeze")


def _players(facts: MatchFacts, number: int, team: Team) -> list[int]:
    """The accounts of those who play for the team; none while that is not clear."""
    absent = {one.player.account for one in facts.match.presence.absent}
    known = [one.account for one in facts.match.roster if one.team == team and one.account not in absent]
    if len(known) > _TEAM:
        known = [account for account in known if (number, account) in facts.kills]
    return known if len(known) <= _TEAM else []


def _distribution(forecast: Forecast, specifiers: Specifiers) -> Distribution:
    """How many kills the player has at the end of the map."""
    facts, account = forecast.facts, _account(specifiers.player)
    kills = rounds = 0
    for number, counted in facts.counted_rounds.items():
        if (number, account) in facts.kills:
            kills += len(facts.kills[number, account])
            rounds += len(counted)
    seen = len(facts.kills.get((specifiers.map, account), ()))
    length = forecast.distribution(total, specifiers.map)
    to_come = Moments(length.mean - facts.play(specifiers.map).rounds_won, length.variance)
    return _counted(kills_to_come(rate(kills, rounds), to_come), seen)


@lru_cache(maxsize=1024)
def _counted(chances: tuple[float, ...], seen: int) -> Distribution:
    """The kills of a map, given how many were seen and the chances of 0, 1, 2, … more."""
    return Distribution.of(enumerate(chances, start=seen))


def _lines(forecast: Forecast, specifiers: Specifiers) -> Sequence[tuple[float, float]]:
    return _distribution(forecast, specifiers).lines()


def _over_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return _distribution(forecast, specifiers).over(specifiers.threshold)


def _under_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return 1 - _over_price(forecast, specifiers)


def _settle(over: bool, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    play, key = facts.plays.get(specifiers.map), (specifiers.map, _account(specifiers.player))
    if play is None:
        return None
    played_out = play.end_id is not None and not play.awarded
    kills = (facts.kills if played_out else facts.lasting_kills).get(key, ())
    if len(kills) > specifiers.threshold:
        decisive = kills[: int(specifiers.threshold) + 1]
        return decide(over, decisive, f"{len(decisive)} kills")
    if play.end_id is None:
        return None
    if play.awarded or not facts.kills_known(specifiers.map):
        return void(NO_RESULT, (play.end_id,), "not every round of the map was played, or seen")
    if key not in facts.kills:
        return void(NO_RESULT, (play.end_id,), "the player did not play")
    return decide(not over, (play.end_id, *kills), f"{len(kills)} kills on the map")


_KILLS = Ladder(size=1, lines=_lines, place=with_threshold)

RULES = (
    Rule(
        id=36,
        key="player_kills_over",
        family="player_kills",
        opens=_offers,
        price=_over_price,
        settle=partial(_settle, True),
        ladder=_KILLS,
    ),
    Rule(
        id=37,
        key="player_kills_under",
        family="player_kills",
        opens=_offers,
        price=_under_price,
        settle=partial(_settle, False),
        ladder=_KILLS,
    ),
)
