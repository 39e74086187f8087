"""How many rounds a map has: set by operators, reported by the log, checked against the sides.

Sides change after half of the rounds of regulation time. Where they do not, or change elsewhere, the map is
played in another format than the match has, and what depends on the format waits until an operator sets it.
"""

from msgspec.structs import replace

from app.domain.changes import FormatChanged, MatchChanges
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.facts import FormatSet
from app.domain.match import FormatStatus, MapPlay, Match
from app.domain.sides import update_map

FORMAT = "format"  #: the kind of the doubt that a contradiction raises


def format_of(match: Match) -> FormatChanged:
    """The present format, for the change that replaces it."""
    return FormatChanged(
        best_of=match.best_of, max_rounds=match.max_rounds, overtime_rounds=match.overtime_rounds
    )


def format_set(match: Match, fact: FormatSet, changes: MatchChanges) -> Match:
    """Apply the log's number of rounds, unless an operator set another one or it would end the map."""
    rounds = fact.max_rounds or match.max_rounds
    overtime = fact.overtime_rounds or match.overtime_rounds
    status = match.format_status
    if (rounds, overtime) == (match.max_rounds, match.overtime_rounds):
        return (
            match
            if status.sides_round
            else _resolve_format(match, replace(status, set_by=status.set_by or "log"))
        )
    if status.set_by == "operator" or _ends_map(match, rounds, overtime):
        ours = f"{match.max_rounds}+{match.overtime_rounds}"
        return _raise_format_doubt(
            match, f"the server plays {rounds}+{overtime} rounds, the match has {ours}"
        )
    changes.append(format_of(match))
    match = replace(match, max_rounds=rounds, overtime_rounds=overtime)
    return _resolve_format(apply_format(match), FormatStatus("log"))


def _ends_map(match: Match, rounds: int, overtime: int) -> bool:
    play = match.map
    if play is None:
        return False
    return replace(play, max_rounds=rounds, overtime_rounds=overtime).decided and not play.decided


def confirm_format(match: Match) -> Match:
    """Mark the format as set by an operator: it is no longer in doubt."""
    number = match.map.number if match.map else 0
    return _resolve_format(apply_format(match), FormatStatus("operator", confirmed_map=number))


def apply_format(match: Match) -> Match:
    """Apply the match's format to every map that has not ended or whose format was in doubt."""
    for play in match.maps:
        if play.status != "finished" or play.number in match.format_status.doubted_maps:
            new = replace(play, max_rounds=match.max_rounds, overtime_rounds=match.overtime_rounds)
            match = update_map(match, new)
    return match


def check_format(match: Match) -> Match:
    """Check the format against the sides of the current round; a map played in doubt is marked open."""
    play = match.map
    if play is None:
        return match
    if any(doubt.kind == FORMAT for doubt in match.doubts):
        match = _mark_open(match, play.number)
    status = match.format_status
    wrong = _sides_contradict(match, play)
    if wrong is None or status.confirmed_map == play.number:
        return match
    number = play.rounds_won + 1
    if wrong and not status.doubted_maps:
        return _raise_format_doubt(match, wrong, sides_round=number)
    if not wrong and status.sides_round == number:
        return _resolve_format(match, replace(status, sides_round=0, doubted_maps=()))
    return match


def _sides_contradict(match: Match, play: MapPlay) -> str | None:
    """How the sides of the current round contradict the format; "" if they do not, None if unknown."""
    current = match.current
    if current is None or current.number < 2 or current.phase == "over" or match.restarting:
        return None
    last = play.last_counted
    known = last is not None and last.number == play.rounds_won == current.number - 1
    if last is None or not known or play.home_side is None or last.number >= play.max_rounds:
        return None
    changed, half = play.home_side != last.home_side, last.number * 2 == play.max_rounds
    if changed == half:
        return ""
    verb = "changed" if changed else "did not change"
    return f"sides {verb} after round {last.number}: this is no map of {play.max_rounds} rounds"


def _raise_format_doubt(match: Match, reason: str, *, sides_round: int = 0) -> Match:
    match = raise_doubt(match, FORMAT, reason)
    match = replace(match, format_status=replace(match.format_status, sides_round=sides_round))
    return _mark_open(match, match.map.number) if match.map else match


def _mark_open(match: Match, number: int) -> Match:
    status = match.format_status
    if number in status.doubted_maps:
        return match
    return replace(match, format_status=replace(status, doubted_maps=(*status.doubted_maps, number)))


def _resolve_format(match: Match, status: FormatStatus) -> Match:
    status = replace(status, doubted_maps=(), sides_round=0)
    match = clear_doubt(match, FORMAT)
    return match if status == match.format_status else replace(match, format_status=status)
