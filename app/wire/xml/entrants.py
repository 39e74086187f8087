"""Tournaments, teams and players as the facade shows them."""

from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.ids import CATEGORY, CS2, competitor_urn, player_urn, tournament_urn
from app.kit.clock import to_datetime
from app.wire.generated import facade
from app.wire.text import non_negative, valid_time, web_url
from app.wire.xml.dialect import SPECIFICATION, Dialect

UNDERAGE_UNKNOWN = -1
_CATEGORY = facade.Category(id=CATEGORY, name=CS2.name)


def sport_element(dialect: Dialect = SPECIFICATION) -> facade.Sport:
    """The sport as every resource nests it."""
    return facade.Sport(id=dialect.sport_id, name=CS2.name, abbreviation=CS2.slug.upper())


def tournaments(found: Sequence[Tournament], dialect: Dialect = SPECIFICATION) -> bytes:
    """The list of tournaments, without their participants."""
    return facade.write_tournaments(
        facade.Tournaments(tournament=tuple([tournament_element(item, dialect) for item in found]))
    )


def sport_tournaments(
    found: Sequence[Tournament], dialect: Dialect = SPECIFICATION, requested: str = ""
) -> bytes:
    """The same list under the root for one sport. `requested`, here and below, is the id in the path."""
    sport = replace(sport_element(dialect), id=dialect.id_of(requested, dialect.sport_id))
    listed = facade.TournamentList(tournament=tuple([tournament_element(item, dialect) for item in found]))
    return facade.write_sport_tournaments(facade.SportTournaments(sport=sport, tournaments=listed))


def tournament_info(found: Tournament, dialect: Dialect = SPECIFICATION, requested: str = "") -> bytes:
    """One tournament. Its participants are listed inside it and beside it: clients look in either place."""
    listed = tuple([competitor_element(item) for item in found.competitors])
    competitors = facade.Competitors(competitor=listed)
    element = replace(tournament_element(found, dialect), competitors=competitors)
    element = replace(element, id=dialect.id_of(requested, element.id))
    return facade.write_tournament_info(facade.TournamentInfo(tournament=element, competitors=competitors))


def competitor_profile(found: Competitor, dialect: Dialect = SPECIFICATION, requested: str = "") -> bytes:
    """One team and its squad. Where no player is known there is no wrapper either: clients take an empty one
    for a squad that is still to be loaded, and request the profile again with each message."""
    squad = tuple([_player(player, dialect) for player in found.players])
    element = competitor_element(found, sport=sport_element(dialect))
    return facade.write_competitor_profile(
        facade.CompetitorProfile(
            competitor=replace(element, id=dialect.id_of(requested, element.id)),
            players=facade.Players(player=squad) if squad else None,
        )
    )


def player_profile(found: Player, dialect: Dialect = SPECIFICATION, requested: str = "") -> bytes:
    """One player."""
    element = _player(found, dialect)
    return facade.write_player_profile(
        facade.PlayerProfile(player=replace(element, id=dialect.id_of(requested, element.id)))
    )


def tournament_element(found: Tournament, dialect: Dialect = SPECIFICATION) -> facade.Tournament:
    """A tournament as every resource nests it."""
    return facade.Tournament(
        id=tournament_urn(found.id),
        name=found.name,
        abbreviation=found.short_name,
        risk_tier=non_negative(found.risk_tier),
        scheduled=valid_time(found.starts_at),
        scheduled_end=valid_time(found.ends_at),
        icon_path=web_url(found.icon_url),
        tournament_length=_length(found),
        sport=sport_element(dialect),
        category=_CATEGORY,
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
        icon_path=web_url(found.icon_url),
        sport=sport,
    )


def _player(found: Player, dialect: Dialect) -> facade.Player:
    return facade.Player(
        id=player_urn(found.number),
        name=found.name,
        full_name=found.display_name,
        sport=dialect.sport_id,
        underage=UNDERAGE_UNKNOWN,
        country_code=found.country_code or None,
        icon_path=web_url(found.icon_url),
    )


def _length(found: Tournament) -> facade.TournamentLength | None:
    first, last = valid_time(found.starts_at), valid_time(found.ends_at)
    if first is None or last is None:
        return None
    return facade.TournamentLength(start_date=_day(first), end_date=_day(last))


def _day(ms: int) -> date:
    return to_datetime(ms).date()
