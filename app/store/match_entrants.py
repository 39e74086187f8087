"""The entrants of matches, with their details.

`finished_only` hides unfinished matches: their stand-ins, teams that a tournament has only through one of
them, and entrants that only such a match has named.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from msgspec.structs import replace
from piccolo.query import Select
from piccolo.query.functions import Coalesce, Max, Min
from piccolo.querystring import QueryString

from app.domain.entrants import (
    Competitor,
    MatchEntrants,
    Player,
    TeamLogos,
    Tournament,
    account_of,
    entrants_of,
    match_of_competitor,
    match_of_tournament,
    with_dates,
)
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.store import entrants, matches
from app.store.listings import UNKNOWN_START
from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.statements import reads
from app.store.tables.match import Match as MatchTable
from app.store.tables.reference import Team as TeamTable
from app.store.transaction import Tx


async def of_matches(tx: Tx, found: Sequence[Match]) -> list[MatchEntrants]:
    """The entrants of each of these matches, in two queries."""
    teams = {team for match in found for team in (match.home_id, match.away_id)}
    tournaments = await entrants.by_number(tx, entrants.TOURNAMENTS, {match.tournament_id for match in found})
    known = await entrants.by_number(tx, entrants.TEAMS, teams)
    return [
        entrants_of(
            match, tournaments.get(match.tournament_id), known.get(match.home_id), known.get(match.away_id)
        )
        for match in found
    ]


async def logos_of(tx: Tx, found: Collection[Match]) -> dict[UUID, TeamLogos]:
    """The logos of the teams of each of these matches, in one query at most."""
    teams = {team for match in found for team in (match.home_id, match.away_id) if team is not None}
    rows = await tx.run(_logos(list(teams))) if teams else []
    known = {row["id"]: row["icon_url"] for row in rows}
    return {
        match.id: TeamLogos(known.get(match.home_id, ""), known.get(match.away_id, "")) for match in found
    }


async def tournament(tx: Tx, number: int, *, finished_only: bool) -> Tournament | None:
    """The tournament of that number with its participants: the teams that it names, and those of its matches.
    Missing dates are those of its matches."""
    of_match = match_of_tournament(number)
    if of_match is not None:
        return await _stand_in_tournament(tx, of_match, finished_only)
    found = await entrants.get(tx, entrants.TOURNAMENTS, number)
    if found is None or (finished_only and not await entrants.is_public(tx, entrants.TOURNAMENTS, number)):
        return None
    statuses = [Status.FINISHED] if finished_only else list(Status)
    playing = {row["id"] for row in await tx.fetch(reads.PARTICIPANTS, number, statuses)}
    teams = await entrants.by_ids(tx, entrants.TEAMS, playing | set(found.team_ids))
    found = replace(found, competitors=tuple(teams) or found.competitors)
    if None not in (found.starts_at, found.ends_at):
        return found
    played = [status for status in statuses if status is not Status.CANCELLED]
    [dates] = await tx.run(_dates(number, played))
    return with_dates(found, dates["first"], dates["last"])


async def competitor(tx: Tx, number: int, *, finished_only: bool) -> Competitor | None:
    """The team of that number with its squad."""
    place = match_of_competitor(number)
    if place is not None:
        entered = await _stand_in_entrants(tx, place[0], finished_only)
        return getattr(entered, place[1]) if entered else None
    found = await entrants.get(tx, entrants.TEAMS, number)
    if found is None or (finished_only and not await entrants.is_public(tx, entrants.TEAMS, number)):
        return None
    squad = await entrants.children(tx, entrants.PLAYERS, number, finished_only=finished_only)
    return replace(found, players=tuple(squad) or found.players)


async def player(tx: Tx, number: int, *, finished_only: bool) -> Player | None:
    """The player of that number: the one by which clients know them, or that in reference data."""
    account = account_of(number)
    if account is None:
        found = await entrants.get(tx, entrants.PLAYERS, number)
    else:
        found = next(iter(await entrants.of_accounts(tx, [account])), None)
    if found is None or (finished_only and not await entrants.is_public(tx, entrants.PLAYERS, found.id)):
        return None
    return found


async def _stand_in_tournament(tx: Tx, number: int, finished_only: bool) -> Tournament | None:
    """The tournament of one match, with that match's own dates."""
    match = await matches.find(tx, match_urn(number), finished_only=finished_only)
    if match is None:
        return None
    entered = entrants_of(match)
    begins = match.scheduled_at if match.started_at is None else match.started_at
    only = with_dates(entered.tournament, begins, match.finished_at or begins)
    return replace(only, competitors=(entered.home, entered.away))


async def _stand_in_entrants(tx: Tx, number: int, finished_only: bool) -> MatchEntrants | None:
    match = await matches.find(tx, match_urn(number), finished_only=finished_only)
    return entrants_of(match) if match else None


@prepared
def _logos(teams: Collection[int]) -> Select[Any]:
    icon_url = QueryString("{}->>'icon_url'", TeamTable.body, alias="icon_url")
    given = QueryString("{}->>'icon_url' <> ''", TeamTable.body)
    return TeamTable.select(TeamTable.id, icon_url).where(any_of(TeamTable.id, teams), given)


@prepared
def _dates(tournament: int, statuses: Sequence[Status]) -> Select[Any]:
    """When the first match begins or began, and when the last one ended, or begins where it has not."""
    last = Max(Coalesce(MatchTable.finished_at, MatchTable.sort_time), alias="last")
    query = MatchTable.select(Min(MatchTable.sort_time, alias="first"), last)
    known = MatchTable.sort_time < UNKNOWN_START
    return query.where(MatchTable.tournament_id == tournament, any_of(MatchTable.status, statuses), known)
