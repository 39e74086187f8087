"""A match before it begins, as JSON: everything that a preview shows, in one response."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from app.domain.analytics import TeamLine
from app.domain.entrants import Competitor
from app.domain.match import Match
from app.domain.match_entrants import TeamLogos
from app.wire.views.entrants import TeamView, team_view
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meetings import MeetingsView, meetings_view
from app.wire.views.players import RosterView
from app.wire.views.scalars import TeamName, iso_time, team_name
from app.wire.views.statistics import ALL, MapAnalyticsView, TeamMapView, team_map_view, team_rows


class VetoView(msgspec.Struct, frozen=True):
    """One step of choosing maps; the decider is nobody's choice."""

    action: Literal["ban", "pick", "decider"]
    map_name: str
    team: TeamName | None


class FormView(msgspec.Struct, frozen=True, kw_only=True):
    """One of a team's last matches, as that team sees it."""

    match_id: str
    opponent: str
    result: Literal["won", "lost", "draw"]
    maps_won: int
    maps_lost: int
    finished_at: str | None


class PrematchView(msgspec.Struct, frozen=True, kw_only=True):
    """A match and what was known before it: only matches that had finished when it began are counted.

    `picked_maps` are those to be played; until they are picked, the statistics cover the whole pool. The row
    `all` of a team covers every map that it played. `form` is newest first.
    """

    match: MatchView
    team_a: TeamView
    team_b: TeamView
    veto: tuple[VetoView, ...]
    picked_maps: tuple[str, ...]
    global_map_stats: tuple[MapAnalyticsView, ...]
    team_a_map_stats: tuple[TeamMapView, ...]
    team_b_map_stats: tuple[TeamMapView, ...]
    team_a_roster_stats: tuple[RosterView, ...]
    team_b_roster_stats: tuple[RosterView, ...]
    head_to_head: MeetingsView
    team_a_form: tuple[FormView, ...]
    team_b_form: tuple[FormView, ...]


class Contender(msgspec.Struct, frozen=True):
    """One team, what it did on its maps, its roster, and its last matches, newest first."""

    team: Competitor
    lines: Sequence[tuple[str, TeamLine]]
    roster: tuple[RosterView, ...]
    recent: Sequence[Match]


def prematch_view(
    match: Match,
    sides: tuple[Contender, Contender],
    maps: tuple[str, ...],
    global_stats: Iterable[MapAnalyticsView],
    met: Iterable[Match],
) -> PrematchView:
    """`maps` are those whose statistics are shown."""
    home, away = sides
    return PrematchView(
        match=basic_view(match, TeamLogos(home.team.icon_url, away.team.icon_url)),
        team_a=team_view(home.team),
        team_b=team_view(away.team),
        veto=tuple(VetoView(step.action, step.map, team_name(step.by)) for step in match.info.vetoes),
        picked_maps=picked(match),
        global_map_stats=tuple(global_stats),
        team_a_map_stats=_rows(home, maps),
        team_b_map_stats=_rows(away, maps),
        team_a_roster_stats=home.roster,
        team_b_roster_stats=away.roster,
        head_to_head=meetings_view(home.team.id, met),
        team_a_form=_form(home),
        team_b_form=_form(away),
    )


def picked(match: Match) -> tuple[str, ...]:
    """The maps that are to be played, as far as they are known, in order."""
    return tuple(dict.fromkeys(play.name for play in match.maps if play.name))


def _rows(side: Contender, maps: tuple[str, ...]) -> tuple[TeamMapView, ...]:
    """The row `all`, then one for each of the maps, played or not."""
    rows = {row.map_name: row for row in team_rows(side.lines)}
    nothing = TeamLine()
    return tuple(rows.get(name) or team_map_view(name, nothing) for name in (ALL, *maps))


def _form(side: Contender) -> tuple[FormView, ...]:
    return tuple(_played(match, at_home=match.home_id == side.team.id) for match in side.recent)


def _played(match: Match, *, at_home: bool) -> FormView:
    ours, theirs = match.score_home, match.score_away
    won = None if match.winner is None else (match.winner == "home") == at_home
    return FormView(
        match_id=str(match.id),
        opponent=match.away if at_home else match.home,
        result="draw" if won is None else "won" if won else "lost",
        maps_won=ours if at_home else theirs,
        maps_lost=theirs if at_home else ours,
        finished_at=iso_time(match.finished_at),
    )
