"""The preview of a match, under /cs2/v1/matches/{id}/prematch."""

from litestar.params import FromPath

from app.channels.rest.dependencies import Rest, Window, options, visible_match
from app.channels.rest.maps import in_pool, map_views
from app.domain import catalogue, scopes
from app.domain.analytics import window_start
from app.domain.catalogue import MapInfo
from app.domain.entrants import Competitor
from app.domain.match import Match
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.store import entrants, listings, match_entrants, statistics
from app.store.transaction import Tx
from app.wire.views.meetings import Contender, PrematchView, SquadPlayer, picked, prematch_view
from app.wire.views.meta import Single

_OPT = options(scopes.DETAIL)
_MAPS = 5000  #: the newest maps of a team that are counted
_MATCHES = 1000  #: the newest matches of a team whose vetoes are counted
_OF_PLAYER = 500  #: a player's newest maps
_RECENT = 5
_MEETINGS = 100
Span = tuple[int, int]  #: from, until: the period (ms) in which the counted matches finished


@get("/cs2/v1/matches/{match_id:str}/prematch", opt=_OPT)
async def get_match_prematch(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str], time_filter: Window = "3months"
) -> Single[PrematchView]:
    """Both teams, their maps, rosters and form, the veto and the maps, as they stood before the match."""
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        until = match.started_at or match.finished_at or rest.clock()
        span = window_start(time_filter, until), until
        (named,) = await match_entrants.of_matches(tx, [match])
        sides = await _contender(tx, named.home, span), await _contender(tx, named.away, span)
        maps = _maps(match, until)
        views = await map_views(tx, maps, until, since=span[0], until=until)
        met = await listings.head_to_head(tx, named.home.id, named.away.id, until=until, limit=_MEETINGS)
    return Single(prematch_view(match, sides, tuple(one.code for one in maps), views, met))


def _maps(match: Match, now: int) -> tuple[MapInfo, ...]:
    """The picked maps; before the veto, the whole pool."""
    chosen = picked(match)
    known = {one.code: one for one in catalogue.load().maps}
    return tuple(known.get(code) or MapInfo(code, code, 0.5, ()) for code in chosen) or in_pool(now)


async def _contender(tx: Tx, team: Competitor, span: Span) -> Contender:
    since, until = span
    lines = await statistics.of_team(tx, team.id, since=since, until=until, limit=_MAPS)
    recent = await listings.of_team(tx, team.id, until=until, limit=_RECENT)
    played = await listings.of_team(tx, team.id, since=since, until=until, limit=_MATCHES)
    counts = [(line.map_name, line.line) for line in lines]
    return Contender(team, counts, await _squad(tx, team.id, span), played, recent)


async def _squad(tx: Tx, team: int, span: Span) -> list[SquadPlayer]:
    squad = await entrants.children(tx, entrants.PLAYERS, team, finished_only=True)
    since, until = span
    accounts = [player.account for player in squad]
    tallies = await statistics.of_players(tx, accounts, since=since, until=until, limit=_OF_PLAYER)
    return [
        SquadPlayer(player, [(one.map_name, one.tally) for one in tallies if one.account == player.account])
        for player in squad
    ]
