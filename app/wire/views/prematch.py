"""A match before it begins, as JSON: everything that a preview shows, in one response."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from app.domain.analytics import PlayerTally, TeamLine
from app.domain.entrants import Competitor, Player, TeamLogos
from app.domain.ids import player_urn
from app.domain.match import Match
from app.wire.views.entrants import TeamView, team_view
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meetings import MeetingsView, meetings_view
from app.wire.views.players import RosterView, roster_view
from app.wire.views.scalars import TeamName, iso_time, team_name
from app.wire.views.statistics import (
    ALL,
    ChosenMapView,
    FirstKillsView,
    MapAnalyticsView,
    team_map_view,
    team_rows,
)
from app.wire.views.teams import veto_rates


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
    team_a_map_stats: tuple[ChosenMapView, ...]
    team_b_map_stats: tuple[ChosenMapView, ...]
    team_a_roster_stats: tuple[RosterView, ...]
    team_b_roster_stats: tuple[RosterView, ...]
    head_to_head: MeetingsView
    team_a_form: tuple[FormView, ...]
    team_b_form: tuple[FormView, ...]


class SquadPlayer(msgspec.Struct, frozen=True):
    """A player of a squad, and what they did on each of their maps."""

    player: Player
    tallies: Sequence[tuple[str, PlayerTally]]


class Contender(msgspec.Struct, frozen=True):
    """One team, what it did on its maps, its squad, the matches that it played, and its last ones, newest
    first."""

    team: Competitor
    lines: Sequence[tuple[str, TeamLine]]
    squad: Sequence[SquadPlayer]
    played: Sequence[Match]
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
        team_a_roster_stats=_roster(home),
        team_b_roster_stats=_roster(away),
        head_to_head=meetings_view(home.team.id, met),
        team_a_form=_form(home),
        team_b_form=_form(away),
    )


def picked(match: Match) -> tuple[str, ...]:
    """The maps that are to be played, as far as they are known, in order."""
    return tuple(dict.fromkeys(play.name for play in match.maps if play.name))


def _rows(side: Contender, maps: tuple[str, ...]) -> tuple[ChosenMapView, ...]:
    """The row `all`, then one for each of the maps, played or not."""
    rows = {row.map_name: row for row in team_rows(side.lines)}
    nothing = TeamLine()
    rates = veto_rates(side.team.id, side.played)
    chosen = {one.map_name: (one.pick_pct, one.ban_pct) for one in rates.maps}
    never = (0.0, 0.0) if rates.sample_matches else (None, None)
    found: list[ChosenMapView] = []
    for name in (ALL, *maps):
        row = rows.get(name) or team_map_view(name, nothing)
        pick_pct, ban_pct = (None, None) if name == ALL else chosen.get(name, never)
        found.append(
            ChosenMapView(
                **msgspec.structs.asdict(row),
                veto_matches=rates.sample_matches,
                pick_pct=pick_pct,
                ban_pct=ban_pct,
                first_kill_leaders=_first_kill_leaders(side.squad, name),
            )
        )
    return tuple(found)


def _first_kill_leaders(squad: Sequence[SquadPlayer], map_name: str) -> tuple[FirstKillsView, ...]:
    """Who has the most first kills on a map; all of those who have as many, nobody where there was none."""
    counts = [
        sum(tally.first_kills for name, tally in one.tallies if map_name in (ALL, name)) for one in squad
    ]
    most = max(counts, default=0)
    leaders = [one.player for one, count in zip(squad, counts, strict=True) if count == most > 0]
    return tuple(
        FirstKillsView(id=player_urn(one.number), external_id=one.number, name=one.name, first_kills=most)
        for one in leaders
    )


def _roster(side: Contender) -> tuple[RosterView, ...]:
    return tuple(roster_view(one.player, [tally for _, tally in one.tallies]) for one in side.squad)


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
