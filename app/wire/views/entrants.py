"""Teams, players and tournaments as JSON: `id` is the URN, `external_id` the number that ends it.

Unknown values are null. Soccer's URNs begin with the prefix of the data's provider.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import asdict

from app.domain.entrants import Category, Competitor, Player, SoccerCompetitor, SoccerTournament, Tournament
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


class SoccerCompetitorView(msgspec.Struct, frozen=True, kw_only=True):
    """A club or a national team; `icon_path` is its crest or flag."""

    id: str
    external_id: int
    name: str
    country: str | None
    country_code: str | None
    abbreviation: str | None
    is_national: bool
    gender: str | None
    icon_path: str | None


class CountryView(msgspec.Struct, frozen=True):
    """The category of a tournament."""

    name: str
    country_code: str | None


class SeasonView(msgspec.Struct, frozen=True):
    """The latest season, from the first day to the last."""

    name: str
    starts_on: str | None
    ends_on: str | None


class SoccerTournamentView(msgspec.Struct, frozen=True, kw_only=True):
    """A competition, and the `parent` that it is part of. `risk_tier` 1 weighs the most, 0 is not rated."""

    id: str
    external_id: int
    name: str
    parent: str | None
    gender: str | None
    category: CountryView | None
    season: SeasonView | None
    risk_tier: int
    icon_path: str | None


class SoccerTournamentDetailView(SoccerTournamentView, frozen=True, kw_only=True):
    """A competition and its participants."""

    competitors: tuple[NamedView, ...]


def soccer_competitor_view(found: SoccerCompetitor, prefix: str) -> SoccerCompetitorView:
    return SoccerCompetitorView(
        id=_urn(prefix, "competitor", found.id),
        external_id=found.id,
        name=found.name,
        country=found.country or None,
        country_code=found.country_code or None,
        abbreviation=found.abbreviation or None,
        is_national=found.is_national,
        gender=found.gender or None,
        icon_path=found.icon_path or None,
    )


def soccer_tournament_view(found: SoccerTournament, prefix: str) -> SoccerTournamentView:
    category, season = found.category, found.season
    return SoccerTournamentView(
        id=_urn(prefix, "competition", found.id),
        external_id=found.id,
        name=found.name,
        parent=found.parent or None,
        gender=found.gender or None,
        category=CountryView(category.name, category.code or None) if category else None,
        season=SeasonView(season.name, season.starts_on or None, season.ends_on or None) if season else None,
        risk_tier=found.risk_tier,
        icon_path=found.icon_path or None,
    )


def soccer_tournament_detail_view(
    found: SoccerTournament, competitors: Iterable[SoccerCompetitor], prefix: str
) -> SoccerTournamentDetailView:
    named = tuple(NamedView(_urn(prefix, "competitor", one.id), one.id, one.name) for one in competitors)
    return SoccerTournamentDetailView(**asdict(soccer_tournament_view(found, prefix)), competitors=named)


def _urn(prefix: str, kind: str, number: int) -> str:
    return f"{prefix}:{kind}:{number}"
