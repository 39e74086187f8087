"""Two teams that meet, as JSON: what they played against each other, from the point of view of one of them;
and a match before it begins, with everything that a preview shows, in one response."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from app.domain.analytics import PlayerTally, TeamLine, TimeFilter, total
from app.domain.entrants import Competitor, Player, TeamLogos
from app.domain.ids import player_urn
from app.domain.match import Match, Team, other_team
from app.wire.text import TeamName, iso_time, team_name
from app.wire.views.entrants import NamedView, TeamView, named_team, team_view
from app.wire.views.match import MatchView, basic_view
from app.wire.views.profiles import RosterView, roster_view, veto_rates
from app.wire.views.statistics import (
    ALL,
    ChosenMapView,
    FirstKillsView,
    MapAnalyticsView,
    share,
    team_map_view,
    team_rows,
)


class MeetingsView(msgspec.Struct, frozen=True, kw_only=True):
    """Finished matches and their maps; a draw is a match without a winner."""

    total_matches: int
    team_wins: int
    opponent_wins: int
    draws: int
    team_map_wins: int
    opponent_map_wins: int


class AggregatedView(msgspec.Struct, frozen=True, kw_only=True):
    """What the rounds of their maps add up to; team_a is the team of the address, team_b its opponent."""

    total_maps: int
    total_rounds: int
    rounds_per_map: float | None
    team_a_ct_rounds_won: int
    team_a_t_rounds_won: int
    team_b_ct_rounds_won: int
    team_b_t_rounds_won: int
    pistol_rounds_total: int
    team_a_pistol_wins: int
    team_b_pistol_wins: int
    team_a_first_kills: int
    team_a_first_kill_win_pct: float | None
    team_b_first_kills: int
    team_b_first_kill_win_pct: float | None
    race_to_6_team_a_win_pct: float | None
    race_to_9_team_a_win_pct: float | None
    race_to_12_team_a_win_pct: float | None
    team_a_headshots: int
    team_a_headshot_pct: float | None
    team_b_headshots: int
    team_b_headshot_pct: float | None


class HeadToHeadView(msgspec.Struct, frozen=True, kw_only=True):
    """Two teams against each other, as the first sees it. `aggregated` is null without rounds that count;
    `matches` are the newest."""

    team: NamedView
    opponent: NamedView
    time_filter: TimeFilter
    summary: MeetingsView
    aggregated: AggregatedView | None
    matches: tuple[MatchView, ...]


def head_to_head_view(
    team: Competitor,
    opponent: Competitor,
    window: TimeFilter,
    met: Sequence[Match],
    lines: tuple[Sequence[TeamLine], Sequence[TeamLine]],
    *,
    shown: int,
) -> HeadToHeadView:
    """`met` are the finished matches of the two, newest first, `lines` the maps of each in them."""
    return HeadToHeadView(
        team=named_team(team),
        opponent=named_team(opponent),
        time_filter=window,
        summary=meetings_view(team.id, met),
        aggregated=_aggregated(total(TeamLine, lines[0]), total(TeamLine, lines[1])),
        matches=tuple(basic_view(match, _logos(match, team, opponent)) for match in met[:shown]),
    )


def meetings_view(team_id: int, met: Iterable[Match]) -> MeetingsView:
    """The matches as the team of that number sees them."""
    results = [_result(match, "home" if match.home_id == team_id else "away") for match in met]
    return MeetingsView(
        total_matches=len(results),
        team_wins=sum(won is True for won, _, _ in results),
        opponent_wins=sum(won is False for won, _, _ in results),
        draws=sum(won is None for won, _, _ in results),
        team_map_wins=sum(ours for _, ours, _ in results),
        opponent_map_wins=sum(theirs for _, _, theirs in results),
    )


def _logos(match: Match, team: Competitor, opponent: Competitor) -> TeamLogos:
    ours, theirs = team.icon_url, opponent.icon_url
    return TeamLogos(ours, theirs) if match.home_id == team.id else TeamLogos(theirs, ours)


def _result(match: Match, team: Team) -> tuple[bool | None, int, int]:
    """Whether the team won, and both teams' maps, its own first."""
    scores: dict[Team, int] = {"home": match.score_home, "away": match.score_away}
    won = None if match.winner is None else match.winner == team
    return won, scores[team], scores[other_team(team)]


def _aggregated(ours: TeamLine, theirs: TeamLine) -> AggregatedView | None:
    rounds = ours.rounds_ct + ours.rounds_t
    if not rounds:
        return None
    return AggregatedView(
        total_maps=ours.maps,
        total_rounds=rounds,
        rounds_per_map=share(rounds, ours.maps),
        team_a_ct_rounds_won=ours.won_ct,
        team_a_t_rounds_won=ours.won_t,
        team_b_ct_rounds_won=theirs.won_ct,
        team_b_t_rounds_won=theirs.won_t,
        pistol_rounds_total=ours.pistols,
        team_a_pistol_wins=ours.pistols_won,
        team_b_pistol_wins=theirs.pistols_won,
        team_a_first_kills=ours.first_kills,
        team_a_first_kill_win_pct=share(ours.first_kills_won, ours.first_kills),
        team_b_first_kills=theirs.first_kills,
        team_b_first_kill_win_pct=share(theirs.first_kills_won, theirs.first_kills),
        race_to_6_team_a_win_pct=share(ours.race_to_6, ours.race_to_6 + theirs.race_to_6),
        race_to_9_team_a_win_pct=share(ours.race_to_9, ours.race_to_9 + theirs.race_to_9),
        race_to_12_team_a_win_pct=share(ours.race_to_12, ours.race_to_12 + theirs.race_to_12),
        team_a_headshots=ours.headshots,
        team_a_headshot_pct=share(ours.headshots, ours.kills),
        team_b_headshots=theirs.headshots,
        team_b_headshot_pct=share(theirs.headshots, theirs.kills),
    )


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
