"""Two teams against each other as JSON, from the point of view of one of them."""

from collections.abc import Iterable, Sequence

import msgspec

from app.domain.analytics import TeamLine, TimeFilter, total
from app.domain.entrants import Competitor, TeamLogos
from app.domain.match import Match, Team, other_team
from app.wire.views.entrants import NamedView, named_team
from app.wire.views.match import MatchView, basic_view
from app.wire.views.statistics import share


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
