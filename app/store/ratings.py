"""Teams' ratings, and the events that they follow from, in order of time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import msgspec
from msgspec import Struct

from app.domain.team_rating import DayForm, RatingEvent, TeamRating
from app.store.transaction import Row, Tx

_LOCK = 7232654  #: the advisory lock for computing ratings
_encode = msgspec.json.Encoder().encode
_event = msgspec.json.Decoder(RatingEvent).decode
_rating = msgspec.json.Decoder(TeamRating).decode
_form = msgspec.json.Decoder(DayForm).decode
_COLUMNS = "points, spread, at, maps, anchored"
_RATED = f"""
SELECT team_id, {_COLUMNS}, version, team.body->>'name' AS name
FROM team_rating LEFT JOIN team ON team.id = team_rating.team_id
"""


class StoredRating(Struct, frozen=True):
    """A team's rating with the team's name; `version` is larger each time that it is computed."""

    team_id: int
    name: str
    rating: TeamRating
    version: int


async def lock(tx: Tx) -> None:
    """Let no other transaction compute ratings until this one ends."""
    await tx.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)


async def events(tx: Tx, references: Collection[str]) -> dict[str, RatingEvent]:
    """Those of these events that are known, by reference."""
    rows = await tx.fetch("SELECT body FROM rating_event WHERE reference = ANY($1::text[])", list(references))
    return {one.reference: one for one in (_event(row["body"]) for row in rows)}


async def put_events(tx: Tx, new: Iterable[RatingEvent]) -> None:
    """Insert these events, replacing those with their references; their outcome is not known yet."""
    rows = [(one.reference, one.at, one.series, *_teams(one), _encode(one)) for one in new]
    if rows:
        await tx.execute(
            """
            INSERT INTO rating_event (reference, at, series, team_a, team_b, body)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::int[], $6::json[])
            ON CONFLICT (reference) DO UPDATE
            SET at = excluded.at, series = excluded.series, team_a = excluded.team_a,
                team_b = excluded.team_b, body = excluded.body, outcome = NULL
            """,
            *(list(column) for column in zip(*rows, strict=True)),
        )


def _teams(one: RatingEvent) -> tuple[int, int | None]:
    first, *second = one.teams
    return first, second[0] if second else None


async def delete_events(tx: Tx, references: Collection[str]) -> None:
    await tx.execute("DELETE FROM rating_event WHERE reference = ANY($1::text[])", list(references))


async def events_since(tx: Tx, at: int) -> list[RatingEvent]:
    """The events at this moment and later, in order."""
    rows = await tx.fetch("SELECT body FROM rating_event WHERE at >= $1 ORDER BY at, reference", at)
    return [_event(row["body"]) for row in rows]


async def ratings_before(tx: Tx, teams: Collection[int], at: int) -> dict[int, TeamRating]:
    """What these teams were rated after their last event before this moment."""
    rows = await tx.fetch(
        """
        SELECT wanted.team, newest.rating FROM unnest($1::int[]) AS wanted (team), LATERAL (
            SELECT rating FROM (
                (SELECT at, reference, outcome->'a' AS rating FROM rating_event
                 WHERE team_a = wanted.team AND at < $2 ORDER BY at DESC, reference DESC LIMIT 1)
                UNION ALL
                (SELECT at, reference, outcome->'b' FROM rating_event
                 WHERE team_b = wanted.team AND at < $2 ORDER BY at DESC, reference DESC LIMIT 1)
            ) AS both_places ORDER BY at DESC, reference DESC LIMIT 1
        ) AS newest
        """,
        list(teams),
        at,
    )
    return {row["team"]: _rating(row["rating"]) for row in rows}


async def forms_before(tx: Tx, series: Collection[str], at: int) -> dict[str, DayForm]:
    """The form of these matches after their last map before this moment."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT ON (series) series, outcome->'form' AS form FROM rating_event
        WHERE series = ANY($1::text[]) AND series <> '' AND at < $2 ORDER BY series, at DESC, reference DESC
        """,
        list(series),
        at,
    )
    return {row["series"]: _form(row["form"]) for row in rows}


async def save_outcomes(tx: Tx, outcomes: Sequence[tuple[str, Struct]]) -> None:
    """Store what events made of ratings, by reference."""
    await tx.execute(
        """
        UPDATE rating_event SET outcome = found.outcome
        FROM unnest($1::text[], $2::json[]) AS found (reference, outcome)
        WHERE rating_event.reference = found.reference
        """,
        [reference for reference, _ in outcomes],
        [_encode(outcome) for _, outcome in outcomes],
    )


async def save(tx: Tx, ratings: Mapping[int, TeamRating | None]) -> None:
    """Replace the ratings of these teams; None: the team has no event any more."""
    stale = [team for team, one in ratings.items() if one is None]
    await tx.execute(
        "UPDATE team_rating SET stands = false, version = nextval('rating_version') WHERE team_id = ANY($1)",
        stale,
    )
    rows = [
        (team, one.points, one.spread, one.at, one.maps, one.anchored)
        for team, one in ratings.items()
        if one is not None
    ]
    if rows:
        await tx.execute(
            f"""
            INSERT INTO team_rating (team_id, {_COLUMNS}, stands, version)
            SELECT *, true, nextval('rating_version')
            FROM unnest($1::int[], $2::float8[], $3::float8[], $4::bigint[], $5::int[], $6::boolean[])
            ON CONFLICT (team_id) DO UPDATE
            SET points = excluded.points, spread = excluded.spread, at = excluded.at, maps = excluded.maps,
                anchored = excluded.anchored, stands = true, version = excluded.version
            """,
            *(list(column) for column in zip(*rows, strict=True)),
        )


async def of_teams(tx: Tx, teams: Iterable[int | None]) -> dict[int, StoredRating]:
    """The ratings of those of these teams that have one."""
    rows = await tx.fetch(
        f"{_RATED} WHERE team_id = ANY($1::int[]) AND stands", [team for team in teams if team is not None]
    )
    return {row["team_id"]: _stored(row) for row in rows}


async def listing(tx: Tx, limit: int) -> list[StoredRating]:
    """The `limit` teams with the most points, strongest first."""
    rows = await tx.fetch(f"{_RATED} WHERE stands ORDER BY points DESC, team_id LIMIT $1", limit)
    return [_stored(row) for row in rows]


async def version(tx: Tx, teams: Iterable[int | None]) -> int:
    """The largest version of these teams' ratings, also of those that stand no more; 0 for none."""
    found: int = await tx.value(
        "SELECT coalesce(max(version), 0) FROM team_rating WHERE team_id = ANY($1::int[])",
        [team for team in teams if team is not None],
    )
    return found


async def matches_to_refresh(tx: Tx, limit: int) -> list[UUID]:
    """Matches before play whose teams' ratings were computed after the match was rated by them."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT match.id FROM match
        JOIN team_rating ON team_rating.team_id IN (match.home_id, match.away_id)
        WHERE match.status IN ('discovered', 'upcoming')
            AND team_rating.version > coalesce((match.later->>'ratings_version')::bigint, 0)
        LIMIT $1
        """,
        limit,
    )
    return [row["id"] for row in rows]


def _stored(row: Row) -> StoredRating:
    rating = TeamRating(row["points"], row["spread"], row["at"], row["maps"], row["anchored"])
    return StoredRating(row["team_id"], row["name"] or "", rating, row["version"])
