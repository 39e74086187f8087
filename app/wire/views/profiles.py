"""One team or one player as JSON: their finished maps, and the statistics that take longer to compute."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import asdict

from app.domain.analytics import PlayerTally, TeamLine, TimeFilter, total
from app.domain.entrants import Competitor, Player
from app.domain.ids import player_urn
from app.domain.match import Match
from app.wire.views.entrants import NamedView, PlayerView, TeamView, named_team, player_view, team_view
from app.wire.views.statistics import (
    ALL,
    PlayerMapView,
    TeamMapView,
    player_map_view,
    player_rows,
    share,
    team_rows,
)

Venue = Literal["lan", "online", "unknown"]
Action = Literal["ban", "pick", "decider"]
RACED = 30  #: maps that race rates look at


class TeamDetailView(TeamView, frozen=True, kw_only=True):
    """A team, its squad, and its maps within `time_filter`; the row `all` comes first."""

    players: tuple[NamedView, ...]
    time_filter: TimeFilter
    map_stats: tuple[TeamMapView, ...]


class RaceView(msgspec.Struct, frozen=True, kw_only=True):
    """How often the team was first to win so many rounds; of its newest `sample_maps` maps."""

    race_to_6_win_pct: float | None
    race_to_9_win_pct: float | None
    race_to_12_win_pct: float | None
    sample_maps: int


class HeadshotView(msgspec.Struct, frozen=True, kw_only=True):
    """The share of kills that were headshots."""

    headshot_pct: float | None
    sample_kills: int


class ConversionView(msgspec.Struct, frozen=True, kw_only=True):
    """How the team used an advantage: the rounds in which it planted the bomb as T, and the rounds after
    pistol rounds that it won."""

    post_plant_win_pct_as_t: float | None
    sample_plants: int
    r2_conversion_after_pistol_win: float | None
    sample_second_rounds: int
    sample_rounds: int


class EconomyView(msgspec.Struct, frozen=True, kw_only=True):
    """How often the team won after saving (it carried less than $5,000 into the round), after a forced buy,
    and after a full one ($20,000 or more); pistol rounds are left out, and rounds without
    the equipment of all five players."""

    eco_win_pct: float | None
    eco_rounds: int
    force_buy_win_pct: float | None
    force_buy_rounds: int
    full_buy_win_pct: float | None
    full_buy_rounds: int
    full_buy_vs_opponent_full_buy_win_pct: float | None
    full_buy_vs_opponent_full_buy_rounds: int
    sample_rounds: int


class OvertimeView(msgspec.Struct, frozen=True, kw_only=True):
    ot_maps_played: int
    ot_maps_won: int
    ot_win_pct: float | None


class VenueView(msgspec.Struct, frozen=True, kw_only=True):
    matches: int
    wins: int
    win_rate: float | None


class SplitView(msgspec.Struct, frozen=True, kw_only=True):
    """Matches by where they were played; `unknown` without data on the tournament."""

    lan: VenueView
    online: VenueView
    unknown: VenueView


class MapVetoView(msgspec.Struct, frozen=True, kw_only=True):
    """How often the team picked and banned a map."""

    map_name: str
    picks: int
    pick_pct: float | None
    bans: int
    ban_pct: float | None


class VetoRatesView(msgspec.Struct, frozen=True, kw_only=True):
    """The team's picks and bans by map, in the matches with a known veto."""

    sample_matches: int
    maps: tuple[MapVetoView, ...]


class ExtrasView(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics that are computed at each call, within `time_filter`."""

    id: str
    external_id: int
    name: str
    time_filter: TimeFilter
    race_to_rates: RaceView
    headshots: HeadshotView
    conversions: ConversionView
    economy_profile: EconomyView
    overtime_stats: OvertimeView
    lan_online_split: SplitView
    veto_rates: VetoRatesView


def team_detail_view(
    team: Competitor, window: TimeFilter, squad: Iterable[NamedView], counts: Iterable[tuple[str, TeamLine]]
) -> TeamDetailView:
    return TeamDetailView(
        **asdict(team_view(team)), players=tuple(squad), time_filter=window, map_stats=team_rows(counts)
    )


def extras_view(
    team: Competitor,
    window: TimeFilter,
    lines: Sequence[TeamLine],
    venues: Mapping[Venue, tuple[int, int]],
    played: Iterable[Match],
) -> ExtrasView:
    """`lines` newest first; `venues`: matches of `played` that were played and won, by venue."""
    named, line, raced = named_team(team), total(TeamLine, lines), total(TeamLine, lines[:RACED])
    return ExtrasView(
        id=named.id,
        external_id=named.external_id,
        name=named.name,
        time_filter=window,
        race_to_rates=RaceView(
            race_to_6_win_pct=share(raced.race_to_6, raced.maps),
            race_to_9_win_pct=share(raced.race_to_9, raced.maps),
            race_to_12_win_pct=share(raced.race_to_12, raced.maps),
            sample_maps=raced.maps,
        ),
        headshots=HeadshotView(headshot_pct=share(line.headshots, line.kills), sample_kills=line.kills),
        conversions=ConversionView(
            post_plant_win_pct_as_t=share(line.plants_won, line.plants),
            sample_plants=line.plants,
            r2_conversion_after_pistol_win=share(line.second_rounds_won, line.second_rounds),
            sample_second_rounds=line.second_rounds,
            sample_rounds=line.rounds_ct + line.rounds_t,
        ),
        economy_profile=_economy(line),
        overtime_stats=OvertimeView(
            ot_maps_played=line.overtimes,
            ot_maps_won=line.overtimes_won,
            ot_win_pct=share(line.overtimes_won, line.overtimes),
        ),
        lan_online_split=SplitView(
            lan=_venue(venues.get("lan")),
            online=_venue(venues.get("online")),
            unknown=_venue(venues.get("unknown")),
        ),
        veto_rates=veto_rates(team.id, played),
    )


def _economy(line: TeamLine) -> EconomyView:
    return EconomyView(
        eco_win_pct=share(line.ecos_won, line.ecos),
        eco_rounds=line.ecos,
        force_buy_win_pct=share(line.forces_won, line.forces),
        force_buy_rounds=line.forces,
        full_buy_win_pct=share(line.fulls_won, line.fulls),
        full_buy_rounds=line.fulls,
        full_buy_vs_opponent_full_buy_win_pct=share(line.even_fulls_won, line.even_fulls),
        full_buy_vs_opponent_full_buy_rounds=line.even_fulls,
        sample_rounds=line.ecos + line.forces + line.fulls,
    )


def veto_rates(team_id: int, played: Iterable[Match]) -> VetoRatesView:
    with_veto = [match for match in played if match.info.vetoes]
    counts = Counter(
        (step.map, step.action)
        for match in with_veto
        for step in match.info.vetoes
        if step.by == ("home" if match.home_id == team_id else "away")
    )
    maps = tuple(_vetoes(name, counts, len(with_veto)) for name in sorted({name for name, _ in counts}))
    return VetoRatesView(sample_matches=len(with_veto), maps=maps)


def _vetoes(name: str, counts: Counter[tuple[str, Action]], matches: int) -> MapVetoView:
    picks, bans = counts[name, "pick"], counts[name, "ban"]
    return MapVetoView(
        map_name=name, picks=picks, pick_pct=share(picks, matches), bans=bans, ban_pct=share(bans, matches)
    )


def _venue(counted: tuple[int, int] | None) -> VenueView:
    matches, wins = counted or (0, 0)
    return VenueView(matches=matches, wins=wins, win_rate=share(wins, matches))


class PlayerDetailView(PlayerView, frozen=True, kw_only=True):
    """A player, and their maps within `time_filter` for whatever team; the row `all` comes first."""

    time_filter: TimeFilter
    map_stats: tuple[PlayerMapView, ...]


class RosterView(msgspec.Struct, frozen=True, kw_only=True):
    """A player of a squad, and all of their maps together."""

    id: str
    external_id: int
    name: str
    stats: PlayerMapView


def player_detail_view(
    player: Player, team: Competitor | None, window: TimeFilter, counts: Iterable[tuple[str, PlayerTally]]
) -> PlayerDetailView:
    shown = player_view(player, team)
    return PlayerDetailView(**asdict(shown), time_filter=window, map_stats=player_rows(counts))


def roster_view(player: Player, tallies: Iterable[PlayerTally]) -> RosterView:
    stats = player_map_view(ALL, total(PlayerTally, tallies))
    return RosterView(id=player_urn(player.number), external_id=player.number, name=player.name, stats=stats)
