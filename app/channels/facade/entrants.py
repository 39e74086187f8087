"""Tournaments, teams and players. Proper names are the same in every language."""

from typing import Any

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.facade import asked
from app.channels.facade.facade import Facade, missing
from app.domain import scopes
from app.domain.entrants import Tournament
from app.domain.ids import CATEGORY, SPORT
from app.domain.lineup import lasting
from app.domain.tenant import Grant
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.kept import LISTS, NOTHING
from app.store import entrants as shelves
from app.store import lineups
from app.wire.envelopes import entrants

#: The category, and the sport above it, which routing keys carry: their tournaments are the same.
_SPORTS = (int(CATEGORY), int(SPORT))
_EVERY = 1_000_000


def _seen(grant: Grant) -> bool:
    return grant.finished_only


_LIST = asked.kept(seen=_seen)
_TOURNAMENT = asked.kept(scopes.TOURNAMENTS_READ, seen=_seen)
_TEAM = asked.kept(scopes.TEAMS_READ, seen=_seen)
_PLAYER = asked.kept(scopes.PLAYERS_READ, seen=_seen)


@get("/v1/sports/{locale:str}/tournaments", opt=_LIST)
async def tournaments(request: Caller, facade: NamedDependency[Facade], locale: FromPath[str]) -> Answer[Any]:
    """Every tournament that is known, without those who take part. Any key may read this list."""
    asked.locale(locale)
    return facade.answer(entrants.tournaments(await _tournaments(facade, request.auth)), LISTS)


@get("/v1/sports/{locale:str}/sports/{sport_id:str}/tournaments", opt=_LIST)
async def sport_tournaments(
    request: Caller, facade: NamedDependency[Facade], locale: FromPath[str], sport_id: FromPath[str]
) -> Answer[Any]:
    """The tournaments of one sport, for clients that ask sport by sport."""
    asked.locale(locale)
    if asked.number(sport_id, "sport") not in _SPORTS:
        return missing("sport_tournaments")
    return facade.answer(entrants.sport_tournaments(await _tournaments(facade, request.auth)), LISTS)


async def _tournaments(facade: Facade, grant: Grant) -> list[Tournament]:
    async with facade.store.reading() as tx:
        return await shelves.listing(
            tx, shelves.TOURNAMENTS, after=0, limit=_EVERY, finished_only=grant.finished_only
        )


@get("/v1/sports/{locale:str}/tournaments/{tournament_id:str}/info", opt=_TOURNAMENT)
async def tournament_info(
    request: Caller, facade: NamedDependency[Facade], locale: FromPath[str], tournament_id: FromPath[str]
) -> Answer[Any]:
    """One tournament and the teams that take part."""
    asked.locale(locale)
    number, finished_only = asked.number(tournament_id, "tournament"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await lineups.tournament(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return missing("tournament_info")
    return facade.answer(entrants.tournament_info(found), LISTS)


@get("/v1/sports/{locale:str}/competitors/{competitor_id:str}/profile", opt=_TEAM)
async def competitor_profile(
    request: Caller, facade: NamedDependency[Facade], locale: FromPath[str], competitor_id: FromPath[str]
) -> Answer[Any]:
    """One team and its squad."""
    asked.locale(locale)
    number, finished_only = asked.number(competitor_id, "competitor"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await lineups.competitor(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return missing("competitor_profile")
    return facade.answer(entrants.competitor_profile(found), LISTS if lasting(found.players) else None)


@get("/v1/sports/{locale:str}/players/{player_id:str}/profile", opt=_PLAYER)
async def player_profile(
    request: Caller, facade: NamedDependency[Facade], locale: FromPath[str], player_id: FromPath[str]
) -> Answer[Any]:
    """One player."""
    asked.locale(locale)
    number, finished_only = asked.number(player_id, "player"), request.auth.finished_only
    async with facade.store.snapshot() as tx:
        found = await lineups.player(tx, number, finished_only=finished_only) if number else None
    if found is None:
        return missing("player_profile")
    return facade.answer(entrants.player_profile(found), NOTHING if lasting([found]) else None)


HANDLERS = (tournaments, sport_tournaments, tournament_info, competitor_profile, player_profile)
