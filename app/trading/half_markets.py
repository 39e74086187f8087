"""Market types of a part of a map: races to a number of rounds, the first half, pistol rounds.

Rounds alone decide them, however the map ends.
"""

from collections.abc import Iterable
from functools import lru_cache, partial

from msgspec.structs import replace

from app.domain.match import Round
from app.trading.forecast import Forecast
from app.trading.map_markets import (
    Condition,
    Lines,
    for_map_on_offer,
    ids,
    single_line,
    team_lines,
    wins,
)
from app.trading.map_scores import Sides, home_wins_opening, sides
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import TEAMS, MatchPhase, OfferedMap
from app.trading.propositions import OfHalfScore, OfRace, OfRounds
from app.trading.rules import NO_RESULT, Rule, Settlement, Specifiers, decide, of_team, void
from app.trading.skill import Case


def _race_lines(play: OfferedMap) -> Iterable[Specifiers]:
    half = play.max_rounds // 2
    targets = sorted({half // 3, half * 7 // 12, half * 5 // 6})
    return (
        Specifiers(map=play.number, team=team, target=target)
        for target in targets
        for team in TEAMS
        if target > max(play.home_score, play.away_score)
    )


def _race_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return of_team(forecast.reaches_first(specifiers.map, specifiers.target), specifiers)


def _of_race(forecast: Forecast, specifiers: Specifiers) -> OfRace:
    return OfRace(specifiers.map, specifiers.target, specifiers.team == "home")


def _race_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """By the team that reaches the target first; unseen rounds may hide which one that was."""
    counted = facts.counted(specifiers.map)
    for index, played in enumerate(counted):
        there = [played.home_score >= specifiers.target, played.away_score >= specifiers.target]
        rests_on = ids(counted[: index + 1])
        if all(there):
            return void(NO_RESULT, rests_on, "which team got there first is not known")
        if any(there):
            return decide(there[specifiers.team == "away"], rests_on, f"{specifiers.target} reached")
    return None


def _half_length(facts: MatchFacts, specifiers: Specifiers) -> int:
    return facts.play(specifiers.map).max_rounds // 2


def _in_first_half(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    play = phase.map
    return lines(play) if play and play.rounds_won < play.max_rounds // 2 else ()


def _half_winner_price(forecast: Forecast, specifiers: Specifiers) -> float:
    home, away, _ = forecast.once(_half_ends, specifiers.map)
    return home if specifiers.team == "home" else away


def _half_level_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.once(_half_ends, specifiers.map)[2]


def _half_ends(forecast: Forecast, number: int) -> tuple[float, float, float]:
    """The chances that home wins the first half, that away does, and that it ends level."""
    ends = forecast.half_scores(number)
    return (
        sum([chance for (home, away), chance in ends if home > away]),
        sum([chance for (home, away), chance in ends if home < away]),
        sum([chance for (home, away), chance in ends if home == away]),
    )


def _of_half_score(condition: Condition, forecast: Forecast, specifiers: Specifiers) -> OfHalfScore:
    return OfHalfScore(specifiers.map, partial(condition, specifiers))


def _half_settle(condition: Condition, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """At the half's end, or as soon as every score it can still end with agrees."""
    length = _half_length(facts, specifiers)
    counted = facts.counted(specifiers.map)
    first_half = [played for played in counted if played.number <= length]
    for index, played in enumerate(first_half, start=1):
        home, away, left = played.home_score, played.away_score, length - played.number
        answers = {condition(specifiers, home + more, away + left - more) for more in range(left + 1)}
        if len(answers) == 1:
            return decide(answers.pop(), ids(first_half[:index]), f"first half at {home}:{away}")
    if counted and counted[-1].number > length:
        return void(NO_RESULT, ids(counted), "how the first half ended is not known")
    return None


def _level_line(play: OfferedMap) -> Iterable[Specifiers]:
    """A half of an odd number of rounds cannot end level."""
    return () if play.max_rounds // 2 % 2 else single_line(play)


def _level(specifiers: Specifiers, home: int, away: int) -> bool:
    return home == away


def _pistol_number(facts: MatchFacts, specifiers: Specifiers, half: int) -> int:
    return 1 + (half - 1) * _half_length(facts, specifiers)


def _pistol_offers(phase: MatchPhase) -> Iterable[Specifiers]:
    """Pistol rounds that have not gone live."""
    play = phase.map
    if play is None:
        return
    begun = play.rounds_won + phase.live
    for half in (1, 2):
        if begun < 1 + (half - 1) * (play.max_rounds // 2):
            yield from (Specifiers(map=play.number, team=team, half=half) for team in TEAMS)


def _pistol_wins(forecast: Forecast, of_half: tuple[int, int]) -> list[tuple[float, float]]:
    """Home's chance of the first round, which is not over, of this half (from 0) of a map: in each case, with
    the probability of the case. The cases of both halves are the same."""
    number, half = of_half
    state, current = forecast.state(number), forecast.current_round
    (_, known), *_ = forecast.map_parameters(number, forecast.cases[0].skill)
    opens = known.position(state.home, state.away) == (half, 0)
    if not (opens and current is not None and current.map == number):
        return _opening_wins(forecast.cases, sides(forecast.facts.play(number)), half)
    return [
        (weight * of_side, forecast.current_round_chances[level])
        for weight, level in forecast.cases
        for of_side, _ in forecast.map_parameters(number, level)
    ]


@lru_cache(maxsize=1024)
def _opening_wins(cases: tuple[Case, ...], known_sides: Sides, half: int) -> list[tuple[float, float]]:
    """The same before the half begins; `known_sides` are the map's parameters under any skill."""
    return [
        (weight * of_side, home_wins_opening(replace(known, skill=level), half))
        for weight, level in cases
        for of_side, known in known_sides
    ]


def _pistol_chances(forecast: Forecast, specifiers: Specifiers, half: int) -> list[tuple[float, float]]:
    """Home's chance in each case, with the probability of the case; of a round that is over, its result."""
    ahead = forecast.once(_pistol_wins, (specifiers.map, half - 1))
    played = forecast.facts.rounds.get((specifiers.map, _pistol_number(forecast.facts, specifiers, half)))
    return [(weight, float(played.winner == "home")) for weight, _ in ahead] if played else ahead


def _pistol_price(forecast: Forecast, specifiers: Specifiers) -> float:
    home = sum([weight * chance for weight, chance in _pistol_chances(forecast, specifiers, specifiers.half)])
    return of_team(home, specifiers)


def _of_pistol(forecast: Forecast, specifiers: Specifiers) -> OfRounds:
    number = _pistol_number(forecast.facts, specifiers, specifiers.half)
    return OfRounds(specifiers.map, (((number, specifiers.team == "home"),),))


def _pistol_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    round_key = specifiers.map, _pistol_number(facts, specifiers, specifiers.half)
    played = facts.rounds.get(round_key)
    if facts.unseen(round_key):
        return void(NO_RESULT, (), "how this round ended is not known")
    return (
        decide(played.winner == specifiers.team, (played.id,), f"round {played.number}") if played else None
    )


def _until_second_pistol(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    ahead = any(specifiers.half == 2 for specifiers in _pistol_offers(phase))
    return lines(phase.map) if phase.map and ahead else ()


def _pistols_won(forecast: Forecast, number: int) -> tuple[float, float, float]:
    """The chances that home wins none of both pistol rounds of a map, one, and both."""
    specifiers = Specifiers(map=number)
    first, second = (_pistol_chances(forecast, specifiers, half) for half in (1, 2))
    cases = [(weight, one, two) for (weight, one), (_, two) in zip(first, second, strict=True)]
    none = sum([weight * (1 - one) * (1 - two) for weight, one, two in cases])
    both = sum([weight * one * two for weight, one, two in cases])
    return none, 1 - none - both, both


def _both_pistols_price(forecast: Forecast, specifiers: Specifiers) -> float:
    none, _, both = forecast.once(_pistols_won, specifiers.map)
    return both if specifiers.team == "home" else none


def _shared_pistols_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.once(_pistols_won, specifiers.map)[1]


def _of_both_pistols(forecast: Forecast, specifiers: Specifiers) -> OfRounds:
    home = specifiers.team == "home"
    return _of_pistols(forecast, specifiers, ((home, home),))


def _of_shared_pistols(forecast: Forecast, specifiers: Specifiers) -> OfRounds:
    return _of_pistols(forecast, specifiers, ((True, False), (False, True)))


def _of_pistols(
    forecast: Forecast, specifiers: Specifiers, results: tuple[tuple[bool, bool], ...]
) -> OfRounds:
    numbers = [_pistol_number(forecast.facts, specifiers, half) for half in (1, 2)]
    return OfRounds(specifiers.map, tuple(tuple(zip(numbers, one, strict=True)) for one in results))


def _pistols(facts: MatchFacts, specifiers: Specifiers) -> tuple[list[Round], bool]:
    """The pistol rounds whose result is known, and whether that of the others will never be."""
    keys = [(specifiers.map, _pistol_number(facts, specifiers, half)) for half in (1, 2)]
    played = [facts.rounds[key] for key in keys if key in facts.rounds]
    unseen = sum(facts.unseen(key) for key in keys)
    return played, bool(unseen) and len(played) + unseen == len(keys)


def _both_pistols_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """An unknown one voids nothing while the other can still be lost."""
    played, never_known = _pistols(facts, specifiers)
    lost = next((pistol for pistol in played if pistol.winner != specifiers.team), None)
    if lost:
        return decide(False, (lost.id,), f"pistol round {lost.number} lost")
    if len(played) == 2:
        return decide(True, ids(played), "both pistol rounds won")
    return void(NO_RESULT, ids(played), "how a pistol round ended is not known") if never_known else None


def _shared_pistols_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    played, never_known = _pistols(facts, specifiers)
    if len(played) == 2:
        winners = {pistol.winner for pistol in played}
        return decide(len(winners) == 2, ids(played), f"pistol rounds won by {' and '.join(sorted(winners))}")
    return void(NO_RESULT, ids(played), "how a pistol round ended is not known") if never_known else None


RULES = (
    Rule(
        id=11,
        key="race_to_rounds",
        family="race_to_rounds",
        opens=partial(for_map_on_offer, _race_lines),
        price=_race_price,
        settle=_race_settle,
        proposition=_of_race,
        pairs=True,
    ),
    Rule(
        id=12,
        key="pistol_winner",
        family="pistol_winner",
        opens=_pistol_offers,
        price=_pistol_price,
        settle=_pistol_settle,
        proposition=_of_pistol,
        by_format=True,
        pairs=True,
    ),
    Rule(
        id=22,
        key="half_winner",
        family="half",
        opens=partial(_in_first_half, team_lines),
        price=_half_winner_price,
        settle=partial(_half_settle, wins),
        proposition=partial(_of_half_score, wins),
        by_format=True,
    ),
    Rule(
        id=23,
        key="half_level",
        family="half",
        opens=partial(_in_first_half, _level_line),
        price=_half_level_price,
        settle=partial(_half_settle, _level),
        proposition=partial(_of_half_score, _level),
        by_format=True,
        about_format="map",
    ),
    Rule(
        id=24,
        key="both_pistols",
        family="both_pistols",
        opens=partial(_until_second_pistol, team_lines),
        price=_both_pistols_price,
        settle=_both_pistols_settle,
        proposition=_of_both_pistols,
        by_format=True,
    ),
    Rule(
        id=35,
        key="shared_pistols",
        family="both_pistols",
        opens=partial(_until_second_pistol, single_line),
        price=_shared_pistols_price,
        settle=_shared_pistols_settle,
        proposition=_of_shared_pistols,
        by_format=True,
    ),
)
