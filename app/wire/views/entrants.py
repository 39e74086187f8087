"""Teams, players and tournaments as JSON: `id` is the URN, `external_id` the number that ends it.

Unknown values are null.
"""

import msgspec
from msgspec.structs import asdict

from app.domain.entrants import Category, Competitor, Player, Tournament
from app.domain.ids import competitor_urn, player_urn, tournament_urn
from app.wire.text import iso_time, valid_time


class NamedView(msgspec.Struct, frozen=True):
    """Another resource, by its id and its name."""

    id: str
    external_id: int
    name: str


class TeamView(msgspec.Struct, frozen=True, kw_only=True):
    """A team. Rankings are places, 1 the best; `weeks_in_top30` as the world ranking's publisher counts, when
    it was imported last; `country_code` as the source spells it."""

    id: str
    external_id: int
    name: str
    abbreviation: str | None
    country: str | None
    country_code: str | None
    region: str | None
    world_ranking: int | None
    valve_ranking: int | None
    weeks_in_top30: int | None
    is_active: bool
    logo_url: str | None


class PlayerView(msgspec.Struct, frozen=True, kw_only=True):
    """A player, by the name used in the game; `team` is the present one."""

    id: str
    external_id: int
    name: str
    full_name: str | None
    country_code: str | None
    team: NamedView | None
    photo_url: str | None


class TournamentView(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament. `tier` is a letter, S the highest; `region` what tournaments are sorted under."""

    id: str
    external_id: int
    name: str
    tier: str | None
    is_lan: bool | None
    region: str | None
    prize_pool_usd: int | None
    format: str | None
    starts_at: str | None
    ends_at: str | None
    logo_url: str | None


class TournamentDetailView(TournamentView, frozen=True, kw_only=True):
    """A tournament and its known participants."""

    teams: tuple[TeamView, ...]


def team_view(team: Competitor) -> TeamView:
    return TeamView(
        id=competitor_urn(team.id),
        external_id=team.id,
        name=team.name,
        abbreviation=team.abbreviation or None,
        country=team.country or None,
        country_code=team.country_code or None,
        region=team.region or None,
        world_ranking=team.world_ranking,
        valve_ranking=team.valve_ranking,
        weeks_in_top30=team.weeks_in_top30,
        is_active=team.active,
        logo_url=team.icon_url or None,
    )


def named_team(team: Competitor) -> NamedView:
    return NamedView(competitor_urn(team.id), team.id, team.name)


def named_player(player: Player) -> NamedView:
    return NamedView(player_urn(player.number), player.number, player.name)


def player_view(player: Player, team: Competitor | None) -> PlayerView:
    return PlayerView(
        id=player_urn(player.number),
        external_id=player.number,
        name=player.name,
        full_name=player.full_name or None,
        country_code=player.country_code or None,
        team=named_team(team) if team else None,
        photo_url=player.icon_url or None,
    )


def tournament_view(tournament: Tournament, category: Category | None) -> TournamentView:
    return TournamentView(
        id=tournament_urn(tournament.id),
        external_id=tournament.id,
        name=tournament.name,
        tier=tournament.tier or None,
        is_lan=tournament.on_lan,
        region=category.name if category else None,
        prize_pool_usd=tournament.prize_pool_usd,
        format=tournament.format or None,
        starts_at=iso_time(valid_time(tournament.starts_at)),
        ends_at=iso_time(valid_time(tournament.ends_at)),
        logo_url=tournament.icon_url or None,
    )


def tournament_detail_view(tournament: Tournament, category: Category | None) -> TournamentDetailView:
    teams = tuple(map(team_view, tournament.competitors))
    return TournamentDetailView(**asdict(tournament_view(tournament, category)), teams=teams)
