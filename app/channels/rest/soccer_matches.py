"""Soccer's fixtures, results and standings, under /soccer/v1, for every key that may use the sport; keys that
see finished matches only see those whose result stands.

A cursor holds the place where a page ended, ``2026-03-14.42``: the day of the last match ("" for none), and
its number.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Annotated, Any

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import NEXT_CURSOR, Limit, Rest, found_or_404, page, parse_reference
from app.domain.ids import entrant_number, is_entrant_reference
from app.domain.soccer import COUNTED, SoccerMatch, SoccerStatus, standings
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field, NotFound
from app.store import entrants, soccer_matches
from app.store.entrants import SOCCER_COMPETITORS, SOCCER_TOURNAMENTS
from app.store.soccer_matches import DayPlace
from app.store.transaction import Tx
from app.wire.views.meta import Many, Single
from app.wire.views.soccer import (
    SoccerMatchView,
    SoccerNames,
    StandingsView,
    soccer_match_view,
    standings_view,
)

_READ: dict[str, Any] = {"sport": "soccer"}
#: Filters by a tournament or a team, with the kinds of URN that name one.
_KINDS = {"tournament": ("competition", "tournament"), "team": ("competitor",)}
_NOBODY = 0  #: the number of no entrant: of a URN of another kind


def _wrong(query: Mapping[str, str]) -> Iterator[Field]:
    for name in ("from", "to"):
        if (day := query.get(name)) is not None and not _is_day(day):
            yield Field(("query", name), "A day looks like 2026-03-14.", "date", day)
    for name in _KINDS:
        if (ref := query.get(name)) is not None and not is_entrant_reference(ref):
            how = f"A {name} is named by its number, or by a URN that ends in it."
            yield Field(("query", name), how, "entrant_id", ref)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@get("/soccer/v1/matches", opt=_READ | {"query_rule": _wrong})
async def list_soccer_matches(
    request: AuthenticatedRequest,
    rest: Rest,
    tournament: Annotated[
        str | None, QueryParameter(description="Those of this tournament: its number or its URN.")
    ] = None,
    season: Annotated[
        str | None, QueryParameter(max_length=200, description="Those of seasons with this name: 2025/26.")
    ] = None,
    team: Annotated[
        str | None, QueryParameter(description="Those of this team, at home or away: its number or its URN.")
    ] = None,
    status: Annotated[SoccerStatus | None, QueryParameter(description="Matches in this state only.")] = None,
    first_day: Annotated[
        str | None, QueryParameter(name="from", description="Those on this day or later, as in 2026-03-14.")
    ] = None,
    last_day: Annotated[
        str | None, QueryParameter(name="to", description="Those on this day or earlier, as in 2026-03-14.")
    ] = None,
    cursor: Annotated[
        str | None,
        QueryParameter(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?\.[0-9]{1,10}$", description=NEXT_CURSOR),
    ] = None,
    limit: Limit = 50,
) -> Many[SoccerMatchView]:
    """Matches by day, those without a known day first. There are no prices of soccer. `next_cursor` leads to
    the next page and is absent on the last."""
    statuses = COUNTED if request.auth.finished_only else None
    if status is not None:
        statuses = tuple(one for one in (status,) if statuses is None or one in statuses)
    async with rest.store.snapshot() as tx:
        found = await soccer_matches.listing(
            tx,
            after=_place(cursor),
            limit=limit + 1,
            tournament=_number("tournament", tournament),
            season=season,
            team=_number("team", team),
            statuses=statuses,
            first_day=first_day,
            last_day=last_day,
        )
        names = await _names(tx, rest.soccer_prefix, found[:limit])
    return page(
        found,
        limit,
        lambda match: soccer_match_view(match, names),
        lambda match: f"{match.day}.{match.id}",
    )


@get("/soccer/v1/matches/{soccer_match_id:str}", opt=_READ)
async def get_soccer_match(
    request: AuthenticatedRequest, rest: Rest, soccer_match_id: FromPath[str]
) -> Single[SoccerMatchView]:
    """A match: when it is played, and its scores at half time and at the end. There are no prices of
    soccer."""
    number = parse_reference("match", soccer_match_id, "match", parameter="soccer_match_id")
    async with rest.store.snapshot() as tx:
        match = await soccer_matches.get(tx, number, finished_only=request.auth.finished_only)
        found = found_or_404(match, "match", soccer_match_id)
        names = await _names(tx, rest.soccer_prefix, [found])
    return Single(soccer_match_view(found, names))


@get("/soccer/v1/tournaments/{tournament_id:str}/standings", opt=_READ)
async def get_soccer_standings(
    rest: Rest,
    tournament_id: FromPath[str],
    season: Annotated[
        str | None,
        QueryParameter(max_length=200, description="The season's name, as in 2025/26; else the latest."),
    ] = None,
) -> Single[StandingsView]:
    """The table of a tournament's season: the sum of its results. Teams are in order of points, goal
    difference and goals; those that are equal in all three share a rank."""
    number = parse_reference("tournament", tournament_id, *_KINDS["tournament"])
    async with rest.store.snapshot() as tx:
        tournament = await entrants.get(tx, SOCCER_TOURNAMENTS, number)
        found = found_or_404(tournament, "tournament", tournament_id)
        known = await soccer_matches.seasons(tx, number)
        if season is not None and season not in known:
            raise NotFound(f"There is no season {season!r} here; there are: {', '.join(known) or 'none'}.")
        wanted = season if season is not None else next(iter(known), None)
        matches = [] if wanted is None else await soccer_matches.of_season(tx, number, wanted)
        rows = standings(matches)
        teams = await entrants.by_number(tx, SOCCER_COMPETITORS, [row.team_id for row in rows])
    names = SoccerNames(rest.soccer_prefix, {number: found}, teams)
    return Single(standings_view(number, known, wanted, rows, names))


def _place(cursor: str | None) -> DayPlace:
    if cursor is None:
        return DayPlace()
    day, _, number = cursor.partition(".")
    return DayPlace(day, min(int(number), 2**31 - 1))


def _number(filter_name: str, ref: str | None) -> int | None:
    """The number that a filter names; None without the filter."""
    if ref is None:
        return None
    number = entrant_number(ref, *_KINDS[filter_name]) or _NOBODY
    return number if number < 2**31 else _NOBODY


async def _names(tx: Tx, prefix: str, matches: Sequence[SoccerMatch]) -> SoccerNames:
    tournaments = [match.tournament_id for match in matches]
    teams = [team for match in matches for team in (match.home_id, match.away_id)]
    return SoccerNames(
        prefix,
        await entrants.by_number(tx, SOCCER_TOURNAMENTS, tournaments),
        await entrants.by_number(tx, SOCCER_COMPETITORS, teams),
    )
