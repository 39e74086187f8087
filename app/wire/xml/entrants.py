"""Tournaments, teams and players as the facade shows them."""

from collections.abc import Sequence
from datetime import date

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.ids import competitor_urn, player_urn, tournament_urn
from app.domain.sports import CS2
from app.kit.clock import to_datetime
from app.wire import sanitize
from app.wire.generated import facade
from app.wire.xml.dialect import SPORT_ID

UNDERAGE_UNKNOWN = -1
SPORT = facade.Sport(id=SPORT_ID, name=CS2.name, abbreviation=CS2.slug.upper())
_CATEGORY = facade.Category(id=SPORT_ID, name=CS2.name)


def tournaments(found: Sequence[Tournament]) -> bytes:
    """The list of tournaments, without their participants."""
    return facade.write_tournaments(
        facade.Tournaments(tournament=tuple([tournament_element(item) for item in found]))
    )


def sport_tournaments(found: Sequence[Tournament]) -> bytes:
    """The same list under the root for one sport."""
    listed = facade.TournamentList(tournament=tuple([tournament_element(item) for item in found]))
    return facade.write_sport_tournaments(facade.SportTournaments(sport=SPORT, tournaments=listed))


def tournament_info(found: Tournament) -> bytes:
    """One tournament. Its participants are listed inside it and beside it: clients look in either place."""
    competitors = _competitors(found.competitors)
    return facade.write_tournament_info(
        facade.TournamentInfo(tournament=tournament_element(found, competitors), competitors=competitors)
    )


def competitor_profile(found: Competitor) -> bytes:
    """One team and its squad. Where no player is known there is no wrapper either: clients take an empty one
    for a squad that is still to be loaded, and request the profile again with each message."""
    squad = tuple([_player(player) for player in found.players])
    return facade.write_competitor_profile(
        facade.CompetitorProfile(
            competitor=competitor_element(found, sport=SPORT),
            players=facade.Players(player=squad) if squad else None,
        )
    )


def player_profile(found: Player) -> bytes:
    """One player."""
    return facade.write_player_profile(facade.PlayerProfile(player=_player(found)))


def tournament_element(found: Tournament, competitors: facade.Competitors | None = None) -> facade.Tournament:
    """A tournament as every resource nests it."""
    return facade.Tournament(
        id=tournament_urn(found.id),
        name=found.name,
        abbreviation=found.short_name,
        risk_tier=sanitize.non_negative(found.risk_tier),
        scheduled=sanitize.timestamp(found.starts_at),
        scheduled_end=sanitize.timestamp(found.ends_at),
        icon_path=sanitize.web_url(found.icon_url),
        tournament_length=_length(found),
        sport=SPORT,
        category=_CATEGORY,
        competitors=competitors,
    )


def competitor_element(
    found: Competitor, *, qualifier: facade.Qualifier | None = None, sport: facade.Sport | None = None
) -> facade.Competitor:
    """A team as every resource nests it; `qualifier` within a match only."""
    return facade.Competitor(
        id=competitor_urn(found.id),
        name=found.name,
        abbreviation=found.short_name,
        qualifier=qualifier,
        underage=UNDERAGE_UNKNOWN,
        country=found.country or None,
        country_code=found.country_code or None,
        icon_path=sanitize.web_url(found.icon_url),
        sport=sport,
    )


def _competitors(found: Sequence[Competitor]) -> facade.Competitors:
    return facade.Competitors(competitor=tuple([competitor_element(item) for item in found]))


def _player(found: Player) -> facade.Player:
    return facade.Player(
        id=player_urn(found.id),
        name=found.name,
        full_name=found.display_name,
        sport=SPORT_ID,
        underage=UNDERAGE_UNKNOWN,
        country_code=found.country_code or None,
        icon_path=sanitize.web_url(found.icon_url),
    )


def _length(found: Tournament) -> facade.TournamentLength | None:
    first, last = sanitize.timestamp(found.starts_at), sanitize.timestamp(found.ends_at)
    if first is None or last is None:
        return None
    return facade.TournamentLength(start_date=_day(first), end_date=_day(last))


def _day(ms: int) -> date:
    return to_datetime(ms).date()
