"""Market types of the match: conditions on the final map score, and the winner."""

from collections.abc import Callable, Iterable
from functools import partial

from app.domain.match import Match
from app.trading import map_scores
from app.trading.forecast import Forecast
from app.trading.lines import total
from app.trading.map_markets import (
    Condition,
    count_lines,
    covers,
    exceeds,
    handicap_lines,
    handicap_pair,
    handicap_price,
    over_price,
    unchanged,
    winner_price,
    wins,
)
from app.trading.match_facts import MatchFacts
from app.trading.match_phase import TEAMS, MatchPhase
from app.trading.propositions import OfMatchScore
from app.trading.rules import (
    NO_RESULT,
    NO_SPECIFIERS,
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
)

Lines = Callable[[MatchPhase], Iterable[Specifiers]]


def _on_match(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    return lines(phase) if phase.map else ()


def _on_series(lines: Lines, phase: MatchPhase) -> Iterable[Specifiers]:
    """Map scores are a market of their own only where there is more than one map."""
    return _on_match(lines, phase) if phase.best_of > 1 else ()


def _team_lines(phase: MatchPhase) -> Iterable[Specifiers]:
    return (Specifiers(team=team) for team in TEAMS)


def _no_lines(phase: MatchPhase) -> Iterable[Specifiers]:
    return (NO_SPECIFIERS,)


def _score_lines(phase: MatchPhase) -> Iterable[Specifiers]:
    """All final scores that could come when the match began; those ruled out are settled already."""
    possible = map_scores.reachable_in_match(*phase.maps_won, phase.best_of, phase.maps_left)
    return (Specifiers(home_maps=home, away_maps=away) for home, away in sorted(possible))


def _is_score(specifiers: Specifiers, home: int, away: int) -> bool:
    return (specifiers.home_maps, specifiers.away_maps) == (home, away)


def _one_book(specifiers: Specifiers) -> Specifiers:
    return NO_SPECIFIERS


def _score_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return forecast.map_score_chances.get((specifiers.home_maps, specifiers.away_maps), 0.0)


def _ends(match: Match) -> tuple[int, ...]:
    return tuple(play.end_id for play in match.maps if play.status == "finished" and play.end_id is not None)


def _settle(condition: Condition, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """As soon as every final map score still possible gives the same result, and a map has ended."""
    match = facts.match
    if not _ends(match):
        return None
    home, away = map_scores.maps_won(match)
    possible = map_scores.reachable_in_match(home, away, match.best_of, map_scores.maps_left(match))
    answers = {condition(specifiers, *score) for score in possible}
    return decide(answers.pop(), _ends(match), f"maps {home}:{away}") if len(answers) == 1 else None


def _winner_settle(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """By the official winner, once the match is over; one that never began is not settled."""
    match = facts.match
    if not facts.over or facts.cancelled or (match.awarded and match.started_at is None):
        return None
    if match.winner is None:
        return void(NO_RESULT, _ends(match), "the match ended without a winner")
    return decide(match.winner == specifiers.team, _ends(match), f"match won by {match.winner}")


def _of_match_score(condition: Condition, forecast: Forecast, specifiers: Specifiers) -> OfMatchScore:
    return OfMatchScore(partial(condition, specifiers))


def _about_score(
    id: int,
    key: str,
    family: str,
    lines: Lines,
    condition: Condition,
    *,
    price: Price,
    shared: Callable[[Specifiers], Specifiers] = unchanged,
    ladder: Ladder | None = None,
) -> Rule:
    return Rule(
        id=id,
        key=key,
        family=family,
        opens=partial(_on_series, lines),
        price=price,
        settle=partial(_settle, condition),
        shared=shared,
        about_format="series",
        ladder=ladder,
        proposition=partial(_of_match_score, condition),
    )


_TOTAL = _about_score(
    3,
    "total_maps_over",
    "total_maps",
    _no_lines,
    exceeds,
    price=partial(over_price, total),
    ladder=Ladder(size=2, lines=partial(count_lines, total), place=with_threshold),
)

RULES = (
    Rule(
        id=1,
        key="match_winner",
        family="match_winner",
        opens=partial(_on_match, _team_lines),
        price=winner_price,
        settle=_winner_settle,
        proposition=partial(_of_match_score, wins),
    ),
    _about_score(
        2,
        "match_map_handicap",
        "match_map_handicap",
        _team_lines,
        covers,
        shared=handicap_pair,
        price=handicap_price,
        ladder=Ladder(size=4, lines=handicap_lines, place=with_handicap),
    ),
    _TOTAL,
    opposite(_TOTAL, 4, "total_maps_under"),
    _about_score(
        5,
        "correct_map_score",
        "correct_map_score",
        _score_lines,
        _is_score,
        price=_score_price,
        shared=_one_book,
    ),
)
