"""Market types of a part of a map: races to a number of rounds, the first half, pistol rounds.

They are decided by rounds alone, whatever becomes of the map.
"""

from collections.abc import Iterable
from functools import partial

from app.domain.match import MapPlay
from app.trading.forecast import Outlook
from app.trading.map_markets import TEAMS, Lines, Truth, ids, on_focus, single_line, team_lines, wins
from app.trading.map_scores import chance_of, mixture, reaches_first, scores_after
from app.trading.match_facts import Evidence
from app.trading.match_phase import focus_map, round_in_hand
from app.trading.rules import NO_RESULT, Rule, Verdict, decide, void
from app.trading.specifiers import Spec


def _race_lines(play: MapPlay) -> Iterable[Spec]:
    half = play.max_rounds // 2
    targets = sorted({half // 3, half * 7 // 12, half * 5 // 6})
    return (
        Spec(map=play.number, team=team, target=target)
        for target in targets
        for team in TEAMS
        if target > max(play.home_score, play.away_score)
    )


def _race_price(outlook: Outlook, spec: Spec) -> float:
    ahead = outlook.branches(spec.map)
    home = sum(weight * reaches_first(given, state, spec.target) for weight, given, state in ahead)
    return home if spec.team == "home" else 1 - home


def _race_settle(evidence: Evidence, spec: Spec) -> Verdict | None:
    """By whoever is there first; unseen rounds may hide who that was."""
    counted = evidence.counted(spec.map)
    for index, played in enumerate(counted):
        there = [played.home_score >= spec.target, played.away_score >= spec.target]
        rests_on = ids(counted[: index + 1])
        if all(there):
            return void(NO_RESULT, rests_on, "which team got there first is not known")
        if any(there):
            return decide(there[spec.team == "away"], rests_on, f"{spec.target} reached")
    return None


def _half_length(evidence: Evidence, spec: Spec) -> int:
    return evidence.play(spec.map).max_rounds // 2


def _in_first_half(lines: Lines, evidence: Evidence) -> Iterable[Spec]:
    number = focus_map(evidence)
    play = evidence.play(number) if number else None
    return lines(play) if play and play.rounds_won < play.max_rounds // 2 else ()


def _half_price(truth: Truth, outlook: Outlook, spec: Spec) -> float:
    length, branches = _half_length(outlook.evidence, spec), outlook.branches(spec.map)
    ahead = ((weight, scores_after(given, state, length)) for weight, given, state in branches)
    return chance_of(mixture(ahead), partial(truth, spec))


def _half_settle(truth: Truth, evidence: Evidence, spec: Spec) -> Verdict | None:
    """At the half's end, or as soon as every score it can still end with agrees."""
    length = _half_length(evidence, spec)
    counted = evidence.counted(spec.map)
    first_half = [played for played in counted if played.number <= length]
    for index, played in enumerate(first_half, start=1):
        home, away, left = played.home_score, played.away_score, length - played.number
        answers = {truth(spec, home + more, away + left - more) for more in range(left + 1)}
        if len(answers) == 1:
            return decide(answers.pop(), ids(first_half[:index]), f"first half at {home}:{away}")
    if counted and counted[-1].number > length:
        return void(NO_RESULT, ids(counted), "how the first half ended is not known")
    return None


def _level_line(play: MapPlay) -> Iterable[Spec]:
    """A half of an odd number of rounds cannot end level."""
    return () if play.max_rounds // 2 % 2 else single_line(play)


def _level(spec: Spec, home: int, away: int) -> bool:
    return home == away


def _pistol_number(evidence: Evidence, spec: Spec, half: int) -> int:
    return 1 + (half - 1) * _half_length(evidence, spec)


def _pistol_offers(evidence: Evidence) -> Iterable[Spec]:
    """Pistol rounds that nobody has begun to play."""
    number, current = focus_map(evidence), round_in_hand(evidence)
    if number is None:
        return
    play = evidence.play(number)
    begun = play.rounds_won + int(current is not None and current.phase == "live")
    for half in (1, 2):
        if begun < 1 + (half - 1) * (play.max_rounds // 2):
            yield from (Spec(map=number, team=team, half=half) for team in TEAMS)


def _pistol_home(outlook: Outlook, spec: Spec, half: int) -> float:
    number = _pistol_number(outlook.evidence, spec, half)
    played = outlook.evidence.rounds.get((spec.map, number))
    if played:
        return float(played.winner == "home")
    current = outlook.playing
    if current and (current.map, current.number) == (spec.map, number):
        return outlook.round_win(spec.map, number)
    return outlook.terms(spec.map).home_wins(number - 1, 0)


def _pistol_price(outlook: Outlook, spec: Spec) -> float:
    home = _pistol_home(outlook, spec, spec.half)
    return home if spec.team == "home" else 1 - home


def _pistol_settle(evidence: Evidence, spec: Spec) -> Verdict | None:
    place = spec.map, _pistol_number(evidence, spec, spec.half)
    played = evidence.rounds.get(place)
    if evidence.unseen(place):
        return void(NO_RESULT, (), "how this round ended is not known")
    return decide(played.winner == spec.team, (played.id,), f"round {played.number}") if played else None


def _both_pistols_price(outlook: Outlook, spec: Spec) -> float:
    first, second = (_pistol_home(outlook, spec, half) for half in (1, 2))
    return first * second if spec.team == "home" else (1 - first) * (1 - second)


def _both_pistols_offers(evidence: Evidence) -> Iterable[Spec]:
    return (Spec(map=spec.map, team=spec.team) for spec in _pistol_offers(evidence) if spec.half == 2)


def _both_pistols_settle(evidence: Evidence, spec: Spec) -> Verdict | None:
    found = [evidence.rounds.get((spec.map, _pistol_number(evidence, spec, half))) for half in (1, 2)]
    played = [pistol for pistol in found if pistol]
    lost = next((pistol for pistol in played if pistol.winner != spec.team), None)
    if lost:
        return decide(False, (lost.id,), f"pistol round {lost.number} lost")
    if len(played) == 2:
        return decide(True, ids(played), "both pistol rounds won")
    unseen = sum(evidence.unseen((spec.map, _pistol_number(evidence, spec, half))) for half in (1, 2))
    # An unknown one voids nothing while the other can still be lost.
    if unseen and len(played) + unseen == 2:
        return void(NO_RESULT, ids(played), "how a pistol round ended is not known")
    return None


RULES = (
    Rule(
        id=11,
        key="race_to_rounds",
        family="race_to_rounds",
        opens=partial(on_focus, _race_lines),
        price=_race_price,
        settle=_race_settle,
    ),
    Rule(
        id=12,
        key="pistol_winner",
        family="pistol_winner",
        opens=_pistol_offers,
        price=_pistol_price,
        settle=_pistol_settle,
        by_format=True,
    ),
    Rule(
        id=22,
        key="half_winner",
        family="half",
        opens=partial(_in_first_half, team_lines),
        price=partial(_half_price, wins),
        settle=partial(_half_settle, wins),
        by_format=True,
    ),
    Rule(
        id=23,
        key="half_level",
        family="half",
        opens=partial(_in_first_half, _level_line),
        price=partial(_half_price, _level),
        settle=partial(_half_settle, _level),
        by_format=True,
        about_format="map",
    ),
    Rule(
        id=24,
        key="both_pistols",
        family="both_pistols",
        lone=True,
        opens=_both_pistols_offers,
        price=_both_pistols_price,
        settle=_both_pistols_settle,
        by_format=True,
    ),
)
