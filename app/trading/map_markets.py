"""Market types of one map. Most are a condition on its final score, which prices and settles them."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Literal

from app.domain.match import MapPlay, Round
from app.trading.forecast import Forecast
from app.trading.lines import LineSequence, Measure, Score, lead, of_away, of_home, total
from app.trading.map_scores import reachable
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import TEAMS, MatchPhase, OfferedMap
from app.trading.propositions import OfMapScore
from app.trading.rules import (
    NO_RESULT,
    Ladder,
    Price,
    Rule,
    Settlement,
    Specifiers,
    decide,
    opposite,
    void,
    with_handicap,
    with_threshold,
    without_team,
)

Condition = Callable[[Specifiers, int, int], bool]  #: of the final score (home, away)
Lines = Callable[[OfferedMap], Iterable[Specifiers]]


def for_map_on_offer(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    return lines(phase.map) if phase.map else ()


def team_lines(play: OfferedMap) -> Iterable[Specifiers]:
    return (Specifiers(map=play.number, team=team) for team in TEAMS)


def single_line(play: OfferedMap) -> Iterable[Specifiers]:
    return (Specifiers(map=play.number),)


def for_maps_on_offer(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    """On the map on offer, and on those to come."""
    yield from for_map_on_offer(lines, phase)
    for play in phase.ahead:
        yield from lines(play)


def own(specifiers: Specifiers, home: int, away: int) -> Score:
    """A score as (the team's, its opponent's)."""
    return (home, away) if specifiers.team == "home" else (away, home)


def wins(specifiers: Specifiers, home: int, away: int) -> bool:
    mine, theirs = own(specifiers, home, away)
    return mine > theirs


def covers(specifiers: Specifiers, home: int, away: int) -> bool:
    mine, theirs = own(specifiers, home, away)
    return mine + specifiers.handicap > theirs


def exceeds(specifiers: Specifiers, home: int, away: int) -> bool:
    return home + away > specifiers.threshold


def _team_exceeds(specifiers: Specifiers, home: int, away: int) -> bool:
    return own(specifiers, home, away)[0] > specifiers.threshold


def over_price(measure: Measure, forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.distribution(measure, specifiers.map).over(specifiers.threshold)


def winner_price(forecast: Forecast, specifiers: Specifiers) -> float:
    leads = forecast.distribution(lead, specifiers.map)
    return leads.over(0.5) if specifiers.team == "home" else 1 - leads.over(-0.5)


def handicap_price(forecast: Forecast, specifiers: Specifiers) -> float:
    leads = forecast.distribution(lead, specifiers.map)
    if specifiers.team == "home":
        return leads.over(-specifiers.handicap)
    return 1 - leads.over(specifiers.handicap)


def handicap_lines(forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    """All but the line that only the winner decides."""
    return forecast.distribution(lead, specifiers.map).lines(of_sign=False)


def count_lines(measure: Measure, forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    return forecast.distribution(measure, specifiers.map).lines()


def _of_team(specifiers: Specifiers) -> Measure:
    return of_home if specifiers.team == "home" else of_away


def _team_over_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return over_price(_of_team(specifiers), forecast, specifiers)


def _team_count_lines(forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    return count_lines(_of_team(specifiers), forecast, specifiers)


def _parity(home: int, away: int) -> int:
    return (home + away) % 2


def _odd(specifiers: Specifiers, home: int, away: int) -> bool:
    return _parity(home, away) == 1


def _odd_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.distribution(_parity, specifiers.map).over(0.5)


def handicap_pair(specifiers: Specifiers) -> Specifiers:
    """One side's line and the other's opposite line make one book."""
    return Specifiers(
        map=specifiers.map,
        handicap=specifiers.handicap if specifiers.team == "home" else -specifiers.handicap,
    )


def _final_settle(condition: Condition, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """By the final score; before the map's end as soon as every score still possible gives the same result,
    also when the map was cut short: what was decided by then stays decided. Rounds played after the map was
    decided settle nothing before the map's end."""
    play = facts.plays.get(specifiers.map)
    if play is None:
        return None
    if play.end_id is not None and not play.awarded:
        return decide(condition(specifiers, play.home_score, play.away_score), (play.end_id,), _ended(play))
    confirmed = facts.confirmed[specifiers.map]
    if not confirmed:
        return None
    home, away = confirmed[-1].home_score, confirmed[-1].away_score
    answer = _agreed(condition, specifiers, home, away, play.max_rounds, play.overtime_rounds)
    return None if answer is None else decide(answer, ids(confirmed), f"decided at {home}:{away}")


@lru_cache(maxsize=16_384)
def _agreed(
    condition: Condition, specifiers: Specifiers, home: int, away: int, max_rounds: int, overtime_rounds: int
) -> bool | None:
    """The result under every final score still possible; None while they differ."""
    answers = {condition(specifiers, *score) for score in reachable(home, away, max_rounds, overtime_rounds)}
    return answers.pop() if len(answers) == 1 else None


def _winner_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """Only the map's end decides its winner; one awarded after it began goes by the award."""
    play = facts.plays.get(specifiers.map)
    if play is None or play.end_id is None:
        return None
    if play.awarded and play.started_at is None:
        return None
    if play.winner is None:
        return void(NO_RESULT, (play.end_id,), "the map ended without a winner")
    return decide(play.winner == specifiers.team, (play.end_id,), _ended(play))


def _goes_beyond(facts: MatchFacts, specifiers: Specifiers) -> Specifiers:
    return Specifiers(map=specifiers.map, threshold=facts.play(specifiers.map).max_rounds + 0.5)


def _overtime_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return over_price(total, forecast, _goes_beyond(forecast.facts, specifiers))


def _overtime_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    return _final_settle(exceeds, facts, _goes_beyond(facts, specifiers))


def _ended(play: MapPlay) -> str:
    return f"map ended {play.home_score}:{play.away_score}"


def ids(rounds: Iterable[Round]) -> tuple[int, ...]:
    return tuple([played.id for played in rounds])


def unchanged(specifiers: Specifiers) -> Specifiers:
    """For groups whose markets share every specifier."""
    return specifiers


def _of_map_score(condition: Condition, forecast: Forecast, specifiers: Specifiers) -> OfMapScore:
    return OfMapScore(specifiers.map, partial(condition, specifiers))


def _of_overtime(forecast: Forecast, specifiers: Specifiers) -> OfMapScore:
    return _of_map_score(exceeds, forecast, _goes_beyond(forecast.facts, specifiers))


def _final(
    id: int,
    key: str,
    family: str,
    lines: Lines,
    condition: Condition,
    *,
    where: Callable[[Lines, MatchPhase], Iterable[Specifiers]] = for_map_on_offer,
    price: Price,
    shared: Callable[[Specifiers], Specifiers] = without_team,
    about_format: Literal["", "map"] = "map",
    ladder: Ladder | None = None,
) -> Rule:
    """A type that depends on the map's final score."""
    return Rule(
        id=id,
        key=key,
        family=family,
        opens=partial(where, lines),
        price=price,
        settle=partial(_final_settle, condition),
        shared=shared,
        by_format=True,
        about_format=about_format,
        ladder=ladder,
        pairs=True,
        proposition=partial(_of_map_score, condition),
    )


_TOTAL = _final(
    8,
    "map_total_rounds_over",
    "map_total_rounds",
    single_line,
    exceeds,
    where=for_maps_on_offer,
    price=partial(over_price, total),
    ladder=Ladder(size=5, lines=partial(count_lines, total), place=with_threshold),
)
_TEAM_TOTAL = _final(
    25,
    "team_rounds_over",
    "team_rounds",
    team_lines,
    _team_exceeds,
    price=_team_over_price,
    shared=unchanged,
    ladder=Ladder(size=2, lines=_team_count_lines, place=with_threshold),
)
_ODD = _final(27, "map_rounds_odd", "map_rounds_parity", single_line, _odd, price=_odd_price, about_format="")
_OVERTIME = Rule(
    id=10,
    key="map_overtime",
    family="map_overtime",
    opens=partial(for_map_on_offer, single_line),
    price=_overtime_price,
    settle=_overtime_settle,
    by_format=True,
    about_format="map",
    pairs=True,
    proposition=_of_overtime,
)

RULES = (
    Rule(
        id=6,
        key="map_winner",
        family="map_winner",
        opens=partial(for_maps_on_offer, team_lines),
        price=winner_price,
        settle=_winner_settle,
        proposition=partial(_of_map_score, wins),
    ),
    _final(
        7,
        "map_round_handicap",
        "map_round_handicap",
        team_lines,
        covers,
        where=for_maps_on_offer,
        price=handicap_price,
        shared=handicap_pair,
        ladder=Ladder(size=4, lines=handicap_lines, place=with_handicap),
    ),
    _TOTAL,
    opposite(_TOTAL, 9, "map_total_rounds_under"),
    _OVERTIME,
    opposite(_OVERTIME, 31, "map_no_overtime"),
    _TEAM_TOTAL,
    opposite(_TEAM_TOTAL, 26, "team_rounds_under"),
    _ODD,
    opposite(_ODD, 28, "map_rounds_even"),
)
