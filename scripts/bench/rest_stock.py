"""A database full of matches, loaded by COPY: most of them over, one in a hundred live, some to come."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid5

import asyncpg
import msgspec

from app.domain.match import Match, Status
from scripts.bench.rest_matches import offers, played, timeline

EVENTS, ROUNDS = 25, 4
_SPACE = UUID("6a1c2f0e-0c1b-4b7e-9d2f-5d1f3a9b7c11")
_BEGAN, _HOUR = 1_700_000_000_000, 3_600_000
_MATCH = [
    *("id", "number", "status", "home", "away", "event", "scheduled_at", "started_at", "finished_at"),
    *("best_of", "score_home", "score_away", "map_name", "last_stamp", "last_seq", "state"),
]
_MARKET = [
    *("match_id", "type_id", "specifiers", "status", "odds", "probability", "group", "priced_at"),
]
_encode = msgspec.json.Encoder().encode
Lines = Iterator[tuple[object, ...]]


def match_id(number: int) -> UUID:
    return uuid5(_SPACE, str(number))


def status(number: int) -> Status:
    if number % 100 == 0:
        return Status.LIVE
    return Status.UPCOMING if number % 100 <= 4 else Status.FINISHED


def begins(number: int) -> int:
    return _BEGAN + number * _HOUR


def _match(number: int) -> Match:
    at = begins(number)
    state, begun = status(number), status(number) is not Status.UPCOMING
    return Match(
        id=match_id(number),
        number=number,
        home=f"Team {number % 997}",
        away=f"Team {number % 991 + 1000}",
        event=f"Cup {number % 50}",
        best_of=3,
        status=state,
        scheduled_at=at,
        started_at=at if begun else None,
        finished_at=at + 2 * _HOUR if state is Status.FINISHED else None,
        score_home=2 if state is Status.FINISHED else 0,
    )


def _matches(numbers: range) -> Lines:
    for number in numbers:
        one = _match(number)
        times = (one.scheduled_at, one.started_at, one.finished_at)
        named = (one.id, one.number, one.status.value, one.home, one.away, one.event)
        yield (*named, *times, 3, one.score_home, 0, "", number + 1, 0, _encode(one).decode())


def _rounds(numbers: range) -> Lines:
    rounds = map(played, range(1, ROUNDS + 1))
    return _facts(numbers, [(one.id, one.number, _encode(one).decode()) for one in rounds])


def _events(numbers: range) -> Lines:
    events = [event for number in range(1, ROUNDS + 1) for event in timeline(number)][:EVENTS]
    return _facts(numbers, [(one.id, one.round, _encode(one).decode()) for one in events])


def _facts(numbers: range, bodies: Sequence[tuple[int, int, str]]) -> Lines:
    for number in numbers:
        for fact, place, body in bodies:
            yield (match_id(number), fact, 1, place, "f", body)


def _markets(numbers: range) -> Lines:
    rows = [
        (one.type_id, one.specifiers, int(one.status), one.odds, one.probability, "", 1) for one in offers()
    ]
    for number in numbers:
        if status(number) is Status.LIVE:
            for row in rows:
                yield (match_id(number), *row)


async def load(database_url: str, numbers: range) -> None:
    """Add the matches of these numbers and what hangs on them; then look after the tables as a running
    database does by itself."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("ALTER TABLE match DISABLE TRIGGER USER")
        hanging = ["match_id", "id", "map"]
        await _copy(connection, "match", _MATCH, _matches(numbers))
        await _copy(connection, "round", [*hanging, "number", "void", "body"], _rounds(numbers))
        await _copy(connection, "timeline_event", [*hanging, "round", "void", "body"], _events(numbers))
        await _copy(connection, "market", _MARKET, _markets(numbers))
        await connection.execute("ALTER TABLE match ENABLE TRIGGER USER")
        await connection.execute("DELETE FROM match_count")
        await connection.execute(
            "INSERT INTO match_count SELECT status, 0, count(*) FROM match WHERE in_lists GROUP BY status"
        )
        for table in ("match", "round", "timeline_event", "market"):
            await connection.execute(f"VACUUM ANALYZE {table}")
    finally:
        await connection.close()


async def _copy(connection: Any, table: str, columns: list[str], lines: Lines) -> None:
    await connection.copy_to_table(table, source=_text(lines), columns=columns, format="text")


async def _text(lines: Lines) -> AsyncIterator[bytes]:
    part: list[str] = []
    for line in lines:
        part.append("\t".join("\\N" if value is None else str(value) for value in line))
        if len(part) == 1000:
            yield ("\n".join(part) + "\n").encode()
            part.clear()
    if part:
        yield ("\n".join(part) + "\n").encode()
