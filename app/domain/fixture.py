"""What an operator may say about who plays, in which format and on which maps.

An impossible move raises Conflict, which says the present state. Saying the same again changes nothing.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain import formats
from app.domain.changes import MatchChanged
from app.domain.lifecycle import Moved, require, require_open
from app.domain.match import MapPlay, Match, Slot, Status
from app.domain.match_info import MatchInfo, Veto
from app.domain.rating import require_ratings
from app.domain.series import series_over
from app.domain.sides import name_side
from app.kit.errors import Conflict


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
) -> Moved:
    """Other teams play; only before play, for what is settled and said afterwards names the old ones."""
    require(match, "given other teams", Status.DISCOVERED, Status.UPCOMING)
    match = replace(
        match,
        home=home,
        away=away,
        home_strength=home_strength,
        away_strength=away_strength,
        home_id=home_id,
        away_id=away_id,
    )
    return require_ratings(match, allow_unrated=allow_unrated), (MatchChanged(),)


def rename_team(match: Match, slot: Slot, name: str) -> Moved:
    """The same team under another name; lines of the log that carry it are understood from now on."""
    other = match.away if slot == "home" else match.home
    if name == other:
        raise Conflict(f"match {match.number} has {other!r} on the other side")
    match = replace(match, home=name) if slot == "home" else replace(match, away=name)
    if not match.over:
        match = name_side(match, "CT", match.team_ct)
        match = name_side(match, "T", match.team_t)
    return match, (MatchChanged(),)


def set_format(
    match: Match,
    *,
    best_of: int | None = None,
    max_rounds: int | None = None,
    overtime_rounds: int | None = None,
) -> Moved:
    """Change how long the series or its maps are; what is None stays. The result must still be open,
    unless a map was played in doubt about its number of rounds."""
    in_doubt = match.status is Status.FINISHED and match.format_status.open_maps and best_of is None
    if not in_doubt:
        require_open(match, "given another format")
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
        match = formats.set_by_operator(match)
    if not before.format_status.open_maps:
        _require_undecided(before, match)
    changed = formats.format_of(before) != formats.format_of(match)
    return match, (formats.format_of(before), MatchChanged()) if changed else (MatchChanged(),)


def _require_undecided(before: Match, after: Match) -> None:
    """Raise `Conflict` when another format decides the map that is being played."""
    old, new = before.map, after.map
    if old is not None and new is not None and new.decided and not old.decided:
        score = f"{new.home_score}:{new.away_score}"
        raise Conflict(f"map {new.number} stands {score}, decided in a format of {new.max_rounds}")


def describe(match: Match, about: MatchInfo) -> Moved:
    """Streams, the demo, the source; possible in every state. Vetoes are left as they are."""
    return replace(match, about=replace(about, vetoes=match.about.vetoes)), (MatchChanged(),)


def set_maps(match: Match, vetoes: Sequence[Veto]) -> Moved:
    """How the maps were chosen: picks and the decider are the maps to come, in this order."""
    require_open(match, "given maps")
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
    match = replace(match, maps=maps, about=replace(match.about, vetoes=tuple(vetoes)))
    after = formats.in_new_format(match)
    _require_undecided(match, after)
    return after, (MatchChanged(),)
