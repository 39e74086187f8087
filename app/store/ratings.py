"""Teams' ratings, and the events that they follow from, in order of time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct
from piccolo.query import Delete, Select, Update
from piccolo.query.functions import Coalesce, Max
from piccolo.querystring import QueryString

from app.domain.strength import DayForm, RatingEvent, TeamRating
from app.store.prepared import prepared, reading, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import any_of, columns_of, holds
from app.store.statements import reads, server, writes
from app.store.tables.reference import RatingEvent as EventTable
from app.store.tables.reference import Team
from app.store.tables.reference import TeamRating as TeamRatingTable
from app.store.transaction import Row, Tx

_LOCK = 7232654  #: the advisory lock for computing ratings
_encode = msgspec.json.Encoder().encode
_event = msgspec.json.Decoder(RatingEvent).decode
_rating = msgspec.json.Decoder(TeamRating).decode
_form = msgspec.json.Decoder(DayForm).decode
_TEAM = TeamRatingTable.team_id.join_on(Team.id)
_RATINGS = RowMapping(TeamRatingTable, TeamRating, ("team_id",))
_NAME = QueryString("{}->>'name'", _TEAM.body, alias="name")
_RATED = (TeamRatingTable.team_id, TeamRatingTable.version, *_RATINGS.columns, _NAME)


class StoredRating(Struct, frozen=True):
    """A team's rating with the team's name; `version` is larger each time that it is computed."""

    team_id: int
    name: str
    rating: TeamRating
    version: int


def _stored(row: Row) -> StoredRating:
    return StoredRating(row["team_id"], row["name"] or "", _RATINGS.read(row), row["version"])


async def lock(tx: Tx) -> None:
    """Let no other transaction compute ratings until this one ends."""
    await tx.execute(server.LOCK, _LOCK)


@reading(lambda rows: {one.reference: one for one in (_event(row["body"]) for row in rows)})
def events(references: Collection[str], /) -> Select[Any]:
    """Those of these events that are known, by reference."""
    return EventTable.select(EventTable.body).where(any_of(EventTable.reference, references))


async def put_events(tx: Tx, new: Iterable[RatingEvent]) -> None:
    """Insert these events, replacing those with their references; their outcome is not known yet."""
    rows = [(one.reference, one.at, one.series, *_teams(one), _encode(one)) for one in new]
    if rows:
        await tx.execute(writes.SAVE_RATING_EVENTS, *columns_of(rows))


def _teams(one: RatingEvent) -> tuple[int, int | None]:
    first, *second = one.teams
    return first, second[0] if second else None


@writing
def delete_events(references: Collection[str], /) -> Delete:
    return EventTable.delete().where(any_of(EventTable.reference, references))


@reading_rows(lambda row: _event(row["body"]))
def events_since(at: int, /) -> Select[Any]:
    """The events at this moment and later, in order."""
    query = EventTable.select(EventTable.body).where(EventTable.at >= at)
    return query.order_by(EventTable.at, EventTable.reference)


async def ratings_before(tx: Tx, teams: Collection[int], at: int) -> dict[int, TeamRating]:
    """What these teams were rated after their last event before this moment."""
    rows = await tx.fetch(reads.RATINGS_BEFORE, list(teams), at)
    return {row["team"]: _rating(row["rating"]) for row in rows}


@reading(lambda rows: {row["series"]: _form(row["form"]) for row in rows})
def forms_before(series: Collection[str], at: int, /) -> Select[Any]:
    """The form of these matches after their last map before this moment."""
    form = QueryString("{}->'form'", EventTable.outcome, alias="form")
    named = EventTable.series != QueryString("''")  # a literal, for the partial index
    query = EventTable.select(EventTable.series, form).distinct(on=[EventTable.series])
    query = query.where(any_of(EventTable.series, series), named, EventTable.at < at)
    newest_first = (EventTable.at, EventTable.reference)
    return query.order_by(EventTable.series).order_by(*newest_first, ascending=False)


async def save_outcomes(tx: Tx, outcomes: Sequence[tuple[str, Struct]]) -> None:
    """Store what events made of ratings, by reference."""
    await tx.execute(
        writes.SAVE_OUTCOMES,
        [reference for reference, _ in outcomes],
        [_encode(outcome) for _, outcome in outcomes],
    )


async def save(tx: Tx, ratings: Mapping[int, TeamRating | None]) -> None:
    """Replace the ratings of these teams; None: the team has no event any more."""
    stale = [team for team, one in ratings.items() if one is None]
    await tx.change(_withdraw(stale))
    rows = [
        (team, one.points, one.spread, one.at, one.maps, one.anchored)
        for team, one in ratings.items()
        if one is not None
    ]
    if rows:
        await tx.execute(writes.SAVE_RATINGS, *columns_of(rows))


async def of_teams(tx: Tx, teams: Iterable[int | None]) -> dict[int, StoredRating]:
    """The ratings of those of these teams that have one."""
    rows = await tx.run(_of_teams([team for team in teams if team is not None]))
    return {row["team_id"]: _stored(row) for row in rows}


@reading_rows(_stored)
def listing(*, limit: int) -> Select[Any]:
    """The `limit` teams with the most points, strongest first."""
    query = TeamRatingTable.select(*_RATED).where(holds(TeamRatingTable.stands))
    query = query.order_by(TeamRatingTable.points, ascending=False).order_by(TeamRatingTable.team_id)
    return query.limit(limit)


async def version(tx: Tx, teams: Iterable[int | None]) -> int:
    """The largest version of these teams' ratings, withdrawn ones included; 0 for none."""
    found: int = await tx.one_value(_version([team for team in teams if team is not None]))
    return found


async def matches_to_refresh(tx: Tx, limit: int) -> list[UUID]:
    """Matches before play whose teams' ratings were computed after the match was rated by them."""
    rows = await tx.fetch(reads.MATCHES_TO_REFRESH, limit)
    return [row["id"] for row in rows]


@prepared
def _withdraw(teams: Collection[int]) -> Update[Any]:
    version = QueryString("nextval('rating_version')")
    return TeamRatingTable.update({TeamRatingTable.stands: False, TeamRatingTable.version: version}).where(
        any_of(TeamRatingTable.team_id, teams)
    )


@prepared
def _of_teams(teams: Collection[int]) -> Select[Any]:
    query = TeamRatingTable.select(*_RATED)
    return query.where(any_of(TeamRatingTable.team_id, teams), holds(TeamRatingTable.stands))


@prepared
def _version(teams: Collection[int]) -> Select[Any]:
    newest = Coalesce(Max(TeamRatingTable.version), 0)
    return TeamRatingTable.select(newest).where(any_of(TeamRatingTable.team_id, teams))
