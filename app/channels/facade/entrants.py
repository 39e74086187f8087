"""Tournaments, teams and players. Proper names are the same in every language."""

from typing import Any

from litestar.params import FromPath

from app.channels.facade.dependencies import (
    Facade,
    FacadeDependencies,
    cached,
    not_found,
    parse_locale,
    parse_number,
)
from app.domain import scopes
from app.domain.entrants import Tournament
from app.domain.ids import CATEGORY, SPORT
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import MATCH_LISTS, NOTHING, RenderedResponse
from app.store import entrants as stored_entrants
from app.store import match_entrants
from app.wire.xml import entrants

#: The category, and the sport above it, which routing keys carry; both have the same tournaments.
_SPORTS = (int(CATEGORY), int(SPORT))
_EVERY = 1_000_000


def _cached_per(grant: Grant) -> bool:
    return grant.finished_only


_LIST = cached(scopes.TOURNAMENTS_LIST, per=_cached_per)
_TOURNAMENT = cached(scopes.TOURNAMENTS_READ, per=_cached_per)
_TEAM = cached(scopes.TEAMS_READ, per=_cached_per)
_PLAYER = cached(scopes.PLAYERS_READ, per=_cached_per)


@get("/v1/sports/{locale:str}/tournaments", opt=_LIST)
async def get_facade_tournaments(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str]
) -> RenderedResponse[Any]:
    """Every known tournament, without its participants."""
    parse_locale(locale)
    found = await _tournaments(facade, request.auth)
    return facade.respond(entrants.tournaments(found, facade.dialect), MATCH_LISTS)


@get("/v1/sports/{locale:str}/sports/{sport_id:str}/tournaments", opt=_LIST)
async def get_facade_sport_tournaments(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], sport_id: FromPath[str]
) -> RenderedResponse[Any]:
    """The tournaments of one sport, for clients that request them sport by sport."""
    parse_locale(locale)
    if parse_number(sport_id, "sport") not in _SPORTS:
        return not_found("sport_tournaments")
    found = await _tournaments(facade, request.auth)
    return facade.respond(entrants.sport_tournaments(found, facade.dialect, sport_id), MATCH_LISTS)


async def _tournaments(facade: FacadeDependencies, grant: Grant) -> list[Tournament]:
    async with facade.store.autocommit() as tx:
        return await stored_entrants.listing(
            tx, stored_entrants.TOURNAMENTS, after=0, limit=_EVERY, finished_only=grant.finished_only
        )


@get("/v1/sports/{locale:str}/tournaments/{tournament_id:str}/info", opt=_TOURNAMENT)
async def get_facade_tournament(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], tournament_id: FromPath[str]
) -> RenderedResponse[Any]:
    """One tournament and its participating teams."""
    parse_locale(locale)
    number, finished_only = parse_number(tournament_id, "tournament"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await match_entrants.tournament(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return not_found("tournament_info")
    return facade.respond(entrants.tournament_info(found, facade.dialect, tournament_id), MATCH_LISTS)


@get("/v1/sports/{locale:str}/competitors/{competitor_id:str}/profile", opt=_TEAM)
async def get_facade_competitor(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], competitor_id: FromPath[str]
) -> RenderedResponse[Any]:
    """One team and its squad."""
    parse_locale(locale)
    number, finished_only = parse_number(competitor_id, "competitor"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await match_entrants.competitor(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return not_found("competitor_profile")
    return facade.respond(
        entrants.competitor_profile(found, facade.dialect, competitor_id),
        MATCH_LISTS if found.players else None,
    )


@get("/v1/sports/{locale:str}/players/{player_id:str}/profile", opt=_PLAYER)
async def get_facade_player(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], player_id: FromPath[str]
) -> RenderedResponse[Any]:
    """One player."""
    parse_locale(locale)
    number, finished_only = parse_number(player_id, "player"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await match_entrants.player(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return not_found("player_profile")
    return facade.respond(entrants.player_profile(found, facade.dialect, player_id), NOTHING)
