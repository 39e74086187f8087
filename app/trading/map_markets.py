"""Market types of one map. Most are a condition on its final score, which prices and settles them."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Literal

from app.domain.match import MapPlay, Round
from app.trading.forecast import Forecast
from app.trading.map_scores import Score, chance_of, reachable
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import map_on_offer
from app.trading.rules import NO_RESULT, Rule, Settlement, decide, void, without_team
from app.trading.specifiers import Specifiers

TEAMS = ("home", "away")
_HANDICAPS = (-4.5, -2.5, 2.5, 4.5)

Condition = Callable[[Specifiers, int, int], bool]  #: of the final score (home, away)
Lines = Callable[[MapPlay], Iterable[Specifiers]]


def for_map_on_offer(lines: Lines, facts: MatchFacts) -> Iterable[Specifiers]:
    number = map_on_offer(facts)
    return lines(facts.play(number)) if number else ()


def team_lines(play: MapPlay) -> Iterable[Specifiers]:
    return (Specifiers(map=play.number, team=team) for team in TEAMS)


def single_line(play: MapPlay) -> Iterable[Specifiers]:
    return (Specifiers(map=play.number),)


def _total_lines(play: MapPlay) -> Iterable[Specifiers]:
    """Around the usual length; in overtime, whether another one follows."""
    below = (5.5, 3.5, 2.5, 1.5)
    lines = [play.max_rounds - step for step in below]
    beyond = play.rounds_won - play.max_rounds
    if beyond >= 0 and play.overtime_rounds:
        lines = [play.max_rounds + (beyond // play.overtime_rounds + 1) * play.overtime_rounds + 0.5]
    return (Specifiers(map=play.number, threshold=line) for line in lines)


def _handicap_lines(play: MapPlay) -> Iterable[Specifiers]:
    return (Specifiers(map=play.number, team=team, handicap=line) for team in TEAMS for line in _HANDICAPS)


def _team_lines(play: MapPlay) -> Iterable[Specifiers]:
    line = play.max_rounds // 2 - 1.5
    return (Specifiers(map=play.number, team=team, threshold=line) for team in TEAMS)


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


def _odd(specifiers: Specifiers, home: int, away: int) -> bool:
    return (home + away) % 2 == 1


def negated(condition: Condition) -> Condition:
    return lambda specifiers, home, away: not condition(specifiers, home, away)


def handicap_pair(specifiers: Specifiers) -> Specifiers:
    """One side's line and the other's opposite line make one book."""
    return Specifiers(
        map=specifiers.map,
        handicap=specifiers.handicap if specifiers.team == "home" else -specifiers.handicap,
    )


def _final_price(condition: Condition, forecast: Forecast, specifiers: Specifiers) -> float:
    return chance_of(forecast.map_finals(specifiers.map), partial(condition, specifiers))


def _final_settle(condition: Condition, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """By the final score; before the map's end as soon as every score still possible gives the same result,
    also when the map was cut short: what was decided by then stands. Rounds played after the map was
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


def _overtime_price(condition: Condition, forecast: Forecast, specifiers: Specifiers) -> float:
    return _final_price(condition, forecast, _goes_beyond(forecast.facts, specifiers))


def _overtime_settle(condition: Condition, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    return _final_settle(condition, facts, _goes_beyond(facts, specifiers))


def _ended(play: MapPlay) -> str:
    return f"map ended {play.home_score}:{play.away_score}"


def ids(rounds: Iterable[Round]) -> tuple[int, ...]:
    return tuple(played.id for played in rounds)


def unchanged(specifiers: Specifiers) -> Specifiers:
    """For groups whose markets share every specifier."""
    return specifiers


def _final(
    id: int,
    key: str,
    family: str,
    lines: Lines,
    condition: Condition,
    *,
    shared: Callable[[Specifiers], Specifiers] | None = None,
    about_format: Literal["", "map"] = "map",
) -> Rule:
    """A type that depends on the map's final score."""
    return Rule(
        id=id,
        key=key,
        family=family,
        opens=partial(for_map_on_offer, lines),
        price=partial(_final_price, condition),
        settle=partial(_final_settle, condition),
        shared=shared or without_team,
        by_format=True,
        about_format=about_format,
    )


def _overtime(id: int, key: str, condition: Condition) -> Rule:
    return Rule(
        id=id,
        key=key,
        family="map_overtime",
        opens=partial(for_map_on_offer, single_line),
        price=partial(_overtime_price, condition),
        settle=partial(_overtime_settle, condition),
        by_format=True,
        about_format="map",
    )


RULES = (
    Rule(
        id=6,
        key="map_winner",
        family="map_winner",
        opens=partial(for_map_on_offer, team_lines),
        price=partial(_final_price, wins),
        settle=_winner_settle,
    ),
    _final(7, "map_round_handicap", "map_round_handicap", _handicap_lines, covers, shared=handicap_pair),
    _final(8, "map_total_rounds_over", "map_total_rounds", _total_lines, exceeds),
    _final(9, "map_total_rounds_under", "map_total_rounds", _total_lines, negated(exceeds)),
    _overtime(10, "map_overtime", exceeds),
    _overtime(31, "map_no_overtime", negated(exceeds)),
    _final(25, "team_rounds_over", "team_rounds", _team_lines, _team_exceeds, shared=unchanged),
    _final(
        26,
        "team_rounds_under",
        "team_rounds",
        _team_lines,
        negated(_team_exceeds),
        shared=unchanged,
    ),
    _final(27, "map_rounds_odd", "map_rounds_parity", single_line, _odd, about_format=""),
    _final(28, "map_rounds_even", "map_rounds_parity", single_line, negated(_odd), about_format=""),
)
