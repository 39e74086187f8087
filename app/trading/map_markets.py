"""Market types of one map. Most are a truth about its final score: priced and settled by the same line."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Literal

from app.domain.match import MapPlay, Round
from app.trading.forecast import Outlook
from app.trading.map_scores import Score, chance_of, reachable
from app.trading.match_facts import Evidence
from app.trading.match_phase import focus_map
from app.trading.rules import NO_RESULT, Rule, Verdict, decide, void, without_team
from app.trading.specifiers import Spec

TEAMS = ("home", "away")
_HANDICAPS = (-4.5, -2.5, 2.5, 4.5)

Truth = Callable[[Spec, int, int], bool]  #: of the final score (home, away)
Lines = Callable[[MapPlay], Iterable[Spec]]


def on_focus(lines: Lines, evidence: Evidence) -> Iterable[Spec]:
    number = focus_map(evidence)
    return lines(evidence.play(number)) if number else ()


def team_lines(play: MapPlay) -> Iterable[Spec]:
    return (Spec(map=play.number, team=team) for team in TEAMS)


def single_line(play: MapPlay) -> Iterable[Spec]:
    return (Spec(map=play.number),)


def _total_lines(play: MapPlay) -> Iterable[Spec]:
    """Around the usual length; in overtime, whether another one follows."""
    below = (5.5, 3.5, 2.5, 1.5)
    lines = [play.max_rounds - step for step in below]
    beyond = play.rounds_won - play.max_rounds
    if beyond >= 0 and play.overtime_rounds:
        lines = [play.max_rounds + (beyond // play.overtime_rounds + 1) * play.overtime_rounds + 0.5]
    return (Spec(map=play.number, threshold=line) for line in lines)


def _handicap_lines(play: MapPlay) -> Iterable[Spec]:
    return (Spec(map=play.number, team=team, handicap=line) for team in TEAMS for line in _HANDICAPS)


def _team_lines(play: MapPlay) -> Iterable[Spec]:
    line = play.max_rounds // 2 - 1.5
    return (Spec(map=play.number, team=team, threshold=line) for team in TEAMS)


def own(spec: Spec, home: int, away: int) -> Score:
    """(the team's, the other's) of a score."""
    return (home, away) if spec.team == "home" else (away, home)


def wins(spec: Spec, home: int, away: int) -> bool:
    mine, theirs = own(spec, home, away)
    return mine > theirs


def covers(spec: Spec, home: int, away: int) -> bool:
    mine, theirs = own(spec, home, away)
    return mine + spec.handicap > theirs


def exceeds(spec: Spec, home: int, away: int) -> bool:
    return home + away > spec.threshold


def _team_exceeds(spec: Spec, home: int, away: int) -> bool:
    return own(spec, home, away)[0] > spec.threshold


def _odd(spec: Spec, home: int, away: int) -> bool:
    return (home + away) % 2 == 1


def negated(truth: Truth) -> Truth:
    return lambda spec, home, away: not truth(spec, home, away)


def handicap_pair(spec: Spec) -> Spec:
    """One side's line and the other's opposite line make one book."""
    return Spec(map=spec.map, handicap=spec.handicap if spec.team == "home" else -spec.handicap)


def _final_price(truth: Truth, outlook: Outlook, spec: Spec) -> float:
    return chance_of(outlook.map_finals(spec.map), partial(truth, spec))


def _final_settle(truth: Truth, evidence: Evidence, spec: Spec) -> Verdict | None:
    """By the final score; before the map's end as soon as every score still possible agrees, and so
    too when the map was cut short: what was decided by then stands. Rounds that the server plays on
    after the map was decided say nothing until its end does."""
    play = evidence.plays.get(spec.map)
    if play is None:
        return None
    if play.end_id is not None and not play.awarded:
        return decide(truth(spec, play.home_score, play.away_score), (play.end_id,), _ended(play))
    confirmed = evidence.confirmed[spec.map]
    if not confirmed:
        return None
    home, away = confirmed[-1].home_score, confirmed[-1].away_score
    answer = _agreed(truth, spec, home, away, play.max_rounds, play.overtime_rounds)
    return None if answer is None else decide(answer, ids(confirmed), f"decided at {home}:{away}")


@lru_cache(maxsize=16_384)
def _agreed(
    truth: Truth, spec: Spec, home: int, away: int, max_rounds: int, overtime_rounds: int
) -> bool | None:
    """What every final score still possible says; None while they differ."""
    answers = {truth(spec, *score) for score in reachable(home, away, max_rounds, overtime_rounds)}
    return answers.pop() if len(answers) == 1 else None


def _winner_settle(evidence: Evidence, spec: Spec) -> Verdict | None:
    """Only the map's end decides its winner; one awarded after it began goes by the award."""
    play = evidence.plays.get(spec.map)
    if play is None or play.end_id is None:
        return None
    if play.awarded and play.started_at is None:
        return None
    if play.winner is None:
        return void(NO_RESULT, (play.end_id,), "the map ended without a winner")
    return decide(play.winner == spec.team, (play.end_id,), _ended(play))


def _goes_beyond(evidence: Evidence, spec: Spec) -> Spec:
    return Spec(map=spec.map, threshold=evidence.play(spec.map).max_rounds + 0.5)


def _overtime_price(outlook: Outlook, spec: Spec) -> float:
    return _final_price(exceeds, outlook, _goes_beyond(outlook.evidence, spec))


def _overtime_settle(evidence: Evidence, spec: Spec) -> Verdict | None:
    return _final_settle(exceeds, evidence, _goes_beyond(evidence, spec))


def _ended(play: MapPlay) -> str:
    return f"map ended {play.home_score}:{play.away_score}"


def ids(rounds: Iterable[Round]) -> tuple[int, ...]:
    return tuple(played.id for played in rounds)


def keep(spec: Spec) -> Spec:
    """A complement that shares every specifier."""
    return spec


def _final(
    id: int,
    key: str,
    family: str,
    lines: Lines,
    truth: Truth,
    *,
    complement: Callable[[Spec], Spec] | None = None,
    lone: bool = False,
    about_format: Literal["", "map"] = "map",
) -> Rule:
    """A type that says something about the map's final score."""
    return Rule(
        id=id,
        key=key,
        family=family,
        opens=partial(on_focus, lines),
        price=partial(_final_price, truth),
        settle=partial(_final_settle, truth),
        complement=complement or without_team,
        lone=lone,
        by_format=True,
        about_format=about_format,
    )


RULES = (
    Rule(
        id=6,
        key="map_winner",
        family="map_winner",
        opens=partial(on_focus, team_lines),
        price=partial(_final_price, wins),
        settle=_winner_settle,
    ),
    _final(7, "map_round_handicap", "map_round_handicap", _handicap_lines, covers, complement=handicap_pair),
    _final(8, "map_total_rounds_over", "map_total_rounds", _total_lines, exceeds),
    _final(9, "map_total_rounds_under", "map_total_rounds", _total_lines, negated(exceeds)),
    Rule(
        id=10,
        key="map_overtime",
        family="map_overtime",
        lone=True,
        opens=partial(on_focus, single_line),
        price=_overtime_price,
        settle=_overtime_settle,
        by_format=True,
        about_format="map",
    ),
    _final(25, "team_rounds_over", "team_rounds", _team_lines, _team_exceeds, complement=keep),
    _final(26, "team_rounds_under", "team_rounds", _team_lines, negated(_team_exceeds), complement=keep),
    _final(27, "map_rounds_odd", "map_rounds_parity", single_line, _odd, about_format=""),
    _final(28, "map_rounds_even", "map_rounds_parity", single_line, negated(_odd), about_format=""),
)
