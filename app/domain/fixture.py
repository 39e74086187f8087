"""What an operator sets before and during play: teams, sides, format and maps; and which changes of a match
the feed publishes as `fixture_change`.

A change that the match's state forbids raises `Conflict`, which names that state. Setting the same value
again changes nothing.
"""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from app.domain import formats
from app.domain.changes import DetailsChanged, MatchAndChanges, MatchChanges
from app.domain.doubts import clear_doubt, reset_uncounted_rounds
from app.domain.lifecycle import require, require_not_over
from app.domain.match import MapPlay, Match, Side, Status, Team
from app.domain.match_info import MatchInfo, Veto
from app.domain.restarts import apply_to_play
from app.domain.rounds import count_result
from app.domain.series import end_map_at_pending_score, series_over
from app.domain.sides import apply_team_lines, set_home_side
from app.domain.strength import require_strengths
from app.domain.timeline import report_teams
from app.kit.errors import Conflict

KICK_OFF = 1
CANCELLATION = 3


class FixtureChange(msgspec.Struct, frozen=True):
    """The change log's row of such a change: `change_type` is KICK_OFF or CANCELLATION."""

    change_type: int


_SIDES_UNKNOWN = ("teams", "sides")  #: the kinds of doubts that named sides clear


def set_teams(
    match: Match,
    home: str,
    away: str,
    *,
    home_strength: float = 0.0,
    away_strength: float = 0.0,
    home_id: int | None = None,
    away_id: int | None = None,
    allow_unrated: bool = False,
) -> MatchAndChanges:
    """Replace the teams; only before play, because later settlements and messages name the old ones."""
    require(match, "given other teams", Status.DISCOVERED, Status.UPCOMING)
    match = replace(
        match,
        home=home,
        away=away,
        home_strength=home_strength,
        away_strength=away_strength,
        home_id=home_id,
        away_id=away_id,
        home_strength_sd=0.0,
        away_strength_sd=0.0,
        follows_ratings=(),
    )
    return require_strengths(match, allow_unrated=allow_unrated), (DetailsChanged(),)


def rename_team(match: Match, team: Team, name: str) -> MatchAndChanges:
    """Rename a team; log lines with the new name are matched from now on."""
    other = match.away if team == "home" else match.home
    if name == other:
        raise Conflict(f"match {match.number} has {other!r} on the other side")
    match = replace(match, home=name) if team == "home" else replace(match, away=name)
    if match.over:
        return match, (DetailsChanged(),)
    changes: MatchChanges = []
    after = apply_team_lines(match)
    report_teams(match, after, changes)
    return after, (*changes, DetailsChanged())


def set_format(
    match: Match,
    *,
    best_of: int | None = None,
    max_rounds: int | None = None,
    overtime_rounds: int | None = None,
) -> MatchAndChanges:
    """Change how long the series or its maps are; what is None stays. The result must still be open,
    unless a map was played in doubt about its number of rounds."""
    in_doubt = match.status is Status.FINISHED and match.format_status.doubted_maps and best_of is None
    if not in_doubt:
        require_not_over(match, "given another format")
    before = match
    match = replace(
        match,
        best_of=best_of or match.best_of,
        max_rounds=max_rounds or match.max_rounds,
        overtime_rounds=match.overtime_rounds if overtime_rounds is None else overtime_rounds,
    )
    if match.status is Status.LIVE and series_over(match):
        score = f"{match.score_home}:{match.score_away}"
        raise Conflict(f"match {match.number} stands {score}, which would decide a best of {match.best_of}")
    if max_rounds is not None or overtime_rounds is not None:
        match = formats.confirm_format(match)
    if not before.format_status.doubted_maps:
        _require_undecided(before, match)
    changed = formats.format_of(before) != formats.format_of(match)
    return match, (formats.format_of(before), DetailsChanged()) if changed else (DetailsChanged(),)


def _require_undecided(before: Match, after: Match) -> None:
    """Raise `Conflict` when another format decides the map that is being played."""
    old, new = before.map, after.map
    if old is not None and new is not None and new.decided and not old.decided:
        score = f"{new.home_score}:{new.away_score}"
        raise Conflict(f"map {new.number} stands {score}, decided in a format of {new.max_rounds}")


def set_info(match: Match, info: MatchInfo) -> MatchAndChanges:
    """Set streams, demo and source; possible in every state. Vetoes stay as they are."""
    return replace(match, info=replace(info, vetoes=match.info.vetoes)), (DetailsChanged(),)


def set_maps(match: Match, vetoes: Sequence[Veto]) -> MatchAndChanges:
    """Set the veto: its picks and the decider are the maps to come, in this order."""
    require_not_over(match, "given maps")
    chosen = [step for step in vetoes if step.action != "ban"]
    if len(chosen) > match.best_of:
        raise Conflict(f"match {match.number} is a best of {match.best_of}, not of {len(chosen)} maps")
    played = [play for play in match.maps if play.status != "upcoming"]
    for play, step in zip(played, chosen, strict=False):
        if play.name and play.name != step.map:
            raise Conflict(f"map {play.number} of match {match.number} is {play.name}, not {step.map}")
    known = {play.number: play for play in played}
    maps = tuple(
        replace(known.get(number, MapPlay(number=number)), name=step.map, picked_by=step.by)
        for number, step in enumerate(chosen, start=1)
    )
    maps += tuple(play for play in played if play.number > len(chosen))
    match = replace(match, maps=maps, info=replace(match.info, vetoes=tuple(vetoes)))
    after = formats.apply_format(match)
    _require_undecided(match, after)
    return after, (DetailsChanged(),)


def set_sides(match: Match, ct: Team, at: int) -> MatchAndChanges:
    """`ct` plays CT now; where no map is in play, at the start of the next one. A round whose result waits
    for the sides is counted, and a map whose end waits for them ends, at `at` (Unix ms). Raises `Conflict`
    when the match is over."""
    if match.over:
        raise Conflict(f"The match is {match.status}: no sides are played any more.")
    side: Side = "CT" if ct == "home" else "T"
    if any(doubt.kind in _SIDES_UNKNOWN for doubt in match.doubts):
        match = reset_uncounted_rounds(clear_doubt(match, *_SIDES_UNKNOWN))
    if match.map is None:
        return replace(match, named_side=side), (DetailsChanged(),)
    changes: MatchChanges = []
    match = apply_to_play(match, partial(_set_sides, at=at), side, changes)
    return match, (*changes, DetailsChanged())


def _set_sides(match: Match, side: Side, changes: MatchChanges, *, at: int) -> Match:
    return end_map_at_pending_score(count_result(set_home_side(match, side), changes), at, changes)
