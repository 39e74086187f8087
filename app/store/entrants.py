"""Reference data: teams, players, tournaments, categories. One table per kind, of one form: number, name,
parent, value.

Most of it is imported from files. An entrant that a match names before any file does gets a number above
`MAX_FILE_NUMBER`, so that it never collides with numbers in files and every match has entrants.
"""

from collections.abc import Collection, Iterable
from typing import Any, Generic, TypeVar

import msgspec

from app.domain.entrants import MAX_FILE_NUMBER, Category, Competitor, Player, Tournament
from app.domain.soccer import SoccerCompetitor, SoccerTournament
from app.store import cache_invalidation
from app.store.transaction import Tx

Entrant = Category | Tournament | Competitor | Player | SoccerCompetitor | SoccerTournament
E = TypeVar("E", bound=Entrant)
_encode = msgspec.json.Encoder().encode
#: The filters of `listing`; each has an index.
FILTERS = {
    "parents": "parent = ANY({}::int[])",
    "tier": "body->>'tier' = {}",
    "is_lan": f"(body->>'is_lan')::boolean = {{0}} AND ({{0}} OR id <= {MAX_FILE_NUMBER})",
    "starts_from": "(body->>'starts_at')::bigint >= {}",
    "region": "lower(body->>'region') = lower({})",
    "active": "(body->>'active')::boolean = {}",
}
#: The columns of `match` that refer to a table; players are created when their match has finished.
_IN_MATCHES = {"team": ("home_id", "away_id"), "tournament": ("tournament_id",)}
_MAX_INT = 2**31 - 1


class EntrantTable(msgspec.Struct, Generic[E], frozen=True):
    """The table of one type. `parent` names the field that refers to another table."""

    name: str
    type: type[E]
    parent: str = ""


CATEGORIES = EntrantTable("category", Category)
TOURNAMENTS = EntrantTable("tournament", Tournament, "category_id")
TEAMS = EntrantTable("team", Competitor)
PLAYERS = EntrantTable("player", Player, "team_id")
SOCCER_COMPETITORS = EntrantTable("soccer_competitor", SoccerCompetitor)
SOCCER_TOURNAMENTS = EntrantTable("soccer_tournament", SoccerTournament)


def folded(name: str) -> str:
    """The form in which names are compared: case-folded, single spaces."""
    return " ".join(name.casefold().split())


async def lock(tx: Tx, table: EntrantTable[E]) -> None:
    """Lock the table against inserts by others until the transaction ends; reading is not blocked."""
    await tx.execute(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


async def highest(tx: Tx, table: EntrantTable[E]) -> int:
    """The highest number in use of those that files assign, 0 for none."""
    number: int = await tx.value(
        f"SELECT coalesce(max(id), 0) FROM {table.name} WHERE id <= {MAX_FILE_NUMBER}"
    )
    return number


async def next_own(tx: Tx, table: EntrantTable[E]) -> int:
    """The next number above `MAX_FILE_NUMBER`; the table should be locked."""
    number: int = await tx.value(
        f"SELECT coalesce(max(id), {MAX_FILE_NUMBER}) + 1 FROM {table.name} WHERE id > {MAX_FILE_NUMBER}"
    )
    return number


async def put(tx: Tx, table: EntrantTable[E], values: Iterable[E]) -> None:
    """Insert these values, replacing those with their numbers."""
    rows = [(one.id, folded(one.name), _parent(table, one), _encode(one)) for one in values]
    if rows:
        await tx.execute(
            f"""
            INSERT INTO {table.name} (id, folded, parent, body)
            SELECT * FROM unnest($1::int[], $2::text[], $3::int[], $4::json[])
            ON CONFLICT (id) DO UPDATE
            SET folded = excluded.folded, parent = excluded.parent, body = excluded.body
            """,
            *(list(column) for column in zip(*rows, strict=True)),
        )
        await cache_invalidation.notify_all(tx)


async def get(tx: Tx, table: EntrantTable[E], number: int) -> E | None:
    if number > _MAX_INT:
        return None
    body = await tx.value(f"SELECT body FROM {table.name} WHERE id = $1", number)
    return msgspec.json.decode(body, type=table.type) if body is not None else None


async def by_ids(tx: Tx, table: EntrantTable[E], numbers: Collection[int]) -> list[E]:
    """Those of these numbers that exist, by number."""
    rows = await tx.fetch(
        f"SELECT body FROM {table.name} WHERE id = ANY($1::int[]) ORDER BY id", list(numbers)
    )
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


async def by_number(tx: Tx, table: EntrantTable[E], numbers: Iterable[int | None]) -> dict[int | None, E]:
    """`by_ids` as a dictionary by number; None among the numbers is ignored."""
    wanted = {number for number in numbers if number is not None}
    return {one.id: one for one in await by_ids(tx, table, wanted)} if wanted else {}


async def named(tx: Tx, table: EntrantTable[E], names: Collection[str]) -> list[E]:
    """All entrants with one of these names, ignoring case, by number. Those that a match named first are
    omitted once a file has imported one of the same name."""
    rows = await tx.fetch(
        f"""
        SELECT body FROM {table.name} AS one
        WHERE folded = ANY($1::text[]) AND (id <= {MAX_FILE_NUMBER} OR NOT EXISTS (
            SELECT FROM {table.name} AS other
            WHERE other.folded = one.folded AND other.id <= {MAX_FILE_NUMBER}
        ))
        ORDER BY id
        """,
        list(map(folded, names)),
    )
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


async def of_accounts(tx: Tx, accounts: Collection[int]) -> list[Player]:
    """The players with these Steam accounts, by number."""
    rows = await tx.fetch(
        "SELECT body FROM player WHERE (body->>'account')::bigint = ANY($1::bigint[]) ORDER BY id",
        list(accounts),
    )
    return [msgspec.json.decode(row["body"], type=Player) for row in rows]


async def listing(
    tx: Tx, table: EntrantTable[E], *, after: int, limit: int, finished_only: bool = False, **wanted: Any
) -> list[E]:
    """At most `limit` values with numbers above `after`, by number, that match the filters `wanted` (see
    `FILTERS`; None: any). `finished_only` omits those that only unfinished matches have named."""
    filters = {name: value for name, value in wanted.items() if value is not None}
    conditions = [FILTERS[name].format(f"${place}") for place, name in enumerate(filters, start=3)]
    if finished_only:
        conditions.append(public_condition(table))
    rows = await tx.fetch(
        f"SELECT body FROM {table.name} AS one WHERE {' AND '.join(['id > $1', *conditions])} "
        "ORDER BY id LIMIT $2",
        after,
        limit,
        *filters.values(),
    )
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


async def is_public(tx: Tx, table: EntrantTable[E], number: int) -> bool:
    """Whether clients that see finished matches only may see this number: a file has imported it, or a
    finished match has it."""
    visible: bool = await tx.value(
        f"SELECT EXISTS (SELECT FROM {table.name} AS one WHERE id = $1 AND {public_condition(table)})", number
    )
    return visible


def public_condition(table: EntrantTable[E]) -> str:
    """The condition of `is_public`, on a row called `one`. It is a scalar subquery per row: with EXISTS, the
    planner would first read all finished matches."""
    played = (
        f"(SELECT true FROM match WHERE {column} = one.id AND status = 'finished' LIMIT 1)"
        for column in _IN_MATCHES.get(table.name, ())
    )
    return (
        f"({' OR '.join([f'one.id <= {MAX_FILE_NUMBER}', *played])})" if table.name in _IN_MATCHES else "true"
    )


async def children(tx: Tx, table: EntrantTable[E], parent: int) -> list[E]:
    """The children of `parent`: a team's players, a category's tournaments."""
    rows = await tx.fetch(f"SELECT body FROM {table.name} WHERE parent = $1::bigint ORDER BY id", parent)
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


def _parent(table: EntrantTable[E], value: E) -> int | None:
    parent: int | None = getattr(value, table.parent) if table.parent else None
    return parent
