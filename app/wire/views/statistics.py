"""Statistics of teams, players and maps over finished maps, as JSON.

Rates are from 0 to 1 and rounded to four places; a rate is null when what it is a share of has not happened.
Ratios are null when they would divide by zero. Only rounds that count are counted, and finished maps.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from app.domain.analytics import PlayerTally, TeamLine, total
from app.kit.grouping import grouped

ALL = "all"  #: the row over every map
S = TypeVar("S", TeamLine, PlayerTally)


class TeamMapView(msgspec.Struct, frozen=True, kw_only=True):
    """A team on one map, or on `all`. `pistol_win_pct` is of the first rounds of halves,
    `first_kill_pct` how often the team made a round's first kill, and `first_kill_win_pct` how often it then
    won the round."""

    map_name: str
    maps_played: int
    wins: int
    losses: int
    win_rate: float | None
    rounds_played: int
    ct_rounds: int
    ct_round_win_pct: float | None
    t_rounds: int
    t_round_win_pct: float | None
    pistol_rounds: int
    pistol_win_pct: float | None
    first_kill_rounds: int
    first_kill_pct: float | None
    first_kill_win_pct: float | None
    kills: int
    deaths: int
    kd_ratio: float | None


class FirstKillsView(msgspec.Struct, frozen=True, kw_only=True):
    """How often a player made the first kill of a round."""

    id: str
    external_id: int
    name: str
    first_kills: int


class ChosenMapView(TeamMapView, frozen=True, kw_only=True):
    """A team on one map, or on `all`, with how often it picked and banned the map, of `veto_matches` matches
    with a known veto (null for `all`), and which players of its squad made the most first kills on it, for
    whatever team."""

    veto_matches: int
    pick_pct: float | None
    ban_pct: float | None
    first_kill_leaders: tuple[FirstKillsView, ...]


class PlayerMapView(msgspec.Struct, frozen=True, kw_only=True):
    """A player on one map, or on `all`. Kills of team mates are not kills."""

    map_name: str
    maps_played: int
    rounds_played: int
    kills: int
    deaths: int
    assists: int
    headshots: int
    headshot_pct: float | None
    first_kills: int
    first_deaths: int
    kd_ratio: float | None
    kills_per_round: float | None
    deaths_per_round: float | None


class MapAnalyticsView(msgspec.Struct, frozen=True, kw_only=True):
    """A map, over all teams. `pistol_ct_win_pct`: CT's share of the first rounds of halves;
    `round_2_conversion_pct`: how often the winner of the pistol round won the next;
    `first_kill_conversion_pct`: how often the team with the first kill won the round. `updated_at`: when the
    newest of these maps ended."""

    map_name: str
    name: str
    in_pool: bool
    maps_played: int
    rounds_played: int
    rounds_per_map: float | None
    ct_round_win_pct: float | None
    t_round_win_pct: float | None
    pistol_ct_win_pct: float | None
    round_2_conversion_pct: float | None
    first_kill_conversion_pct: float | None
    overtime_pct: float | None
    updated_at: str | None


def share(part: int, whole: int) -> float | None:
    """How much of `whole` `part` is; None when there is nothing of it."""
    return round(part / whole, 4) if whole else None


def by_map(kind: type[S], counts: Iterable[tuple[str, S]]) -> list[tuple[str, S]]:
    """Sums by map, `all` first, then the maps that there are by name."""
    lines = grouped(counts)
    sums = {name: total(kind, lines[name]) for name in sorted(lines)}
    everything: dict[str, S] = {ALL: total(kind, sums.values())}
    return list((everything | sums).items())


def team_rows(counts: Iterable[tuple[str, TeamLine]]) -> tuple[TeamMapView, ...]:
    return tuple(team_map_view(name, line) for name, line in by_map(TeamLine, counts))


def player_rows(counts: Iterable[tuple[str, PlayerTally]]) -> tuple[PlayerMapView, ...]:
    return tuple(player_map_view(name, tally) for name, tally in by_map(PlayerTally, counts))


def team_map_view(name: str, line: TeamLine) -> TeamMapView:
    return TeamMapView(
        map_name=name,
        maps_played=line.maps,
        wins=line.wins,
        losses=line.losses,
        win_rate=share(line.wins, line.maps),
        rounds_played=line.rounds_ct + line.rounds_t,
        ct_rounds=line.rounds_ct,
        ct_round_win_pct=share(line.won_ct, line.rounds_ct),
        t_rounds=line.rounds_t,
        t_round_win_pct=share(line.won_t, line.rounds_t),
        pistol_rounds=line.pistols,
        pistol_win_pct=share(line.pistols_won, line.pistols),
        first_kill_rounds=line.first_kill_rounds,
        first_kill_pct=share(line.first_kills, line.first_kill_rounds),
        first_kill_win_pct=share(line.first_kills_won, line.first_kills),
        kills=line.kills,
        deaths=line.deaths,
        kd_ratio=share(line.kills, line.deaths),
    )


def player_map_view(name: str, tally: PlayerTally) -> PlayerMapView:
    return PlayerMapView(
        map_name=name,
        maps_played=tally.maps,
        rounds_played=tally.rounds,
        kills=tally.kills,
        deaths=tally.deaths,
        assists=tally.assists,
        headshots=tally.headshots,
        headshot_pct=share(tally.headshots, tally.kills),
        first_kills=tally.first_kills,
        first_deaths=tally.first_deaths,
        kd_ratio=share(tally.kills, tally.deaths),
        kills_per_round=share(tally.kills, tally.rounds),
        deaths_per_round=share(tally.deaths, tally.rounds),
    )


def map_view(
    code: str, name: str, in_pool: bool, lines: Sequence[TeamLine], updated_at: str | None
) -> MapAnalyticsView:
    """A map of which there are two `lines` for each time it was played."""
    line = total(TeamLine, lines)
    maps, rounds = line.maps // 2, line.rounds_ct
    return MapAnalyticsView(
        map_name=code,
        name=name,
        in_pool=in_pool,
        maps_played=maps,
        rounds_played=rounds,
        rounds_per_map=share(rounds, maps),
        ct_round_win_pct=share(line.won_ct, rounds),
        t_round_win_pct=share(line.won_t, line.rounds_t),
        pistol_ct_win_pct=share(line.pistols_won_ct, line.pistols_ct),
        round_2_conversion_pct=share(line.second_rounds_won, line.second_rounds),
        first_kill_conversion_pct=share(line.first_kills_won, line.first_kills),
        overtime_pct=share(line.overtimes // 2, maps),
        updated_at=updated_at,
    )


class PoolView(msgspec.Struct, frozen=True):
    """The maps that are played at present, by their codes."""

    game: str
    maps: tuple[str, ...]
    count: int
