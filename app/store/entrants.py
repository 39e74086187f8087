"""Reference data: who plays, and in what. One table a kind, all of one form: number, name, parent, value.

Files bring most of it. What a match names before any file does gets a number above `MAX_FILE_NUMBER`, so that
files may use numbers of their own and every match has its entrants.
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
#: What `listing` can ask for; each has an index.
FILTERS = {
    "parents": "parent = ANY({}::int[])",
    "tier": "body->>'tier' = {}",
    "is_lan": f"(body->>'is_lan')::boolean = {{0}} AND ({{0}} OR id <= {MAX_FILE_NUMBER})",
    "starts_from": "(body->>'starts_at')::bigint >= {}",
    "region": "lower(body->>'region') = lower({})",
    "active": "(body->>'active')::boolean = {}",
}
#: Where matches name what lies on a table; players are not known before their match is finished.
_IN_MATCHES = {"team": ("home_id", "away_id"), "tournament": ("tournament_id",)}
_LARGEST = 2**31 - 1


class EntrantTable(msgspec.Struct, Generic[E], frozen=True):
    """Where values of one type lie. `parent` names the field by which they hang on another table."""

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
    """The form in which names are compared: small letters, single spaces."""
    return " ".join(name.casefold().split())


async def lock(tx: Tx, table: EntrantTable[E]) -> None:
    """Keep others from adding to the table until the transaction ends; reading goes on."""
    await tx.execute(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


async def highest(tx: Tx, table: EntrantTable[E]) -> int:
    """The highest number in use of those that files bring, 0 for none."""
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
    """Add these values, or take them in the place of those with their numbers."""
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
    if number > _LARGEST:
        return None
    body = await tx.value(f"SELECT body FROM {table.name} WHERE id = $1", number)
    return msgspec.json.decode(body, type=table.type) if body is not None else None


async def some(tx: Tx, table: EntrantTable[E], numbers: Collection[int]) -> list[E]:
    """Those of these numbers that there are, by number."""
    rows = await tx.fetch(
        f"SELECT body FROM {table.name} WHERE id = ANY($1::int[]) ORDER BY id", list(numbers)
    )
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


async def by_number(tx: Tx, table: EntrantTable[E], numbers: Iterable[int | None]) -> dict[int | None, E]:
    """`some`, by number; who has none (None) is nobody."""
    wanted = {number for number in numbers if number is not None}
    return {one.id: one for one in await some(tx, table, wanted)} if wanted else {}


async def named(tx: Tx, table: EntrantTable[E], names: Collection[str]) -> list[E]:
    """Everybody with one of these names, in whatever letters, by number. Whoever a match named first is
    left out once a file has brought somebody of that name."""
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
    """At most `limit` values with numbers above `after`, by number, that are as `wanted` says (see `WANTED`;
    None: whatever). `finished_only` leaves out whom only matches that are not finished have named."""
    asked = {name: value for name, value in wanted.items() if value is not None}
    conditions = [FILTERS[name].format(f"${place}") for place, name in enumerate(asked, start=3)]
    if finished_only:
        conditions.append(public_only(table))
    rows = await tx.fetch(
        f"SELECT body FROM {table.name} AS one WHERE {' AND '.join(['id > $1', *conditions])} "
        "ORDER BY id LIMIT $2",
        after,
        limit,
        *asked.values(),
    )
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


async def public(tx: Tx, table: EntrantTable[E], number: int) -> bool:
    """Whether those may know of that number who see finished matches only: a file brought it, or a finished
    match has it."""
    known: bool = await tx.value(
        f"SELECT EXISTS (SELECT FROM {table.name} AS one WHERE id = $1 AND {public_only(table)})", number
    )
    return known


def public_only(table: EntrantTable[E]) -> str:
    """The condition of `public`, on a row called `one`. It is asked of each row by itself: as EXISTS, the
    planner would first read all finished matches."""
    played = (
        f"(SELECT true FROM match WHERE {column} = one.id AND status = 'finished' LIMIT 1)"
        for column in _IN_MATCHES.get(table.name, ())
    )
    return (
        f"({' OR '.join([f'one.id <= {MAX_FILE_NUMBER}', *played])})" if table.name in _IN_MATCHES else "true"
    )


async def under(tx: Tx, table: EntrantTable[E], parent: int) -> list[E]:
    """What hangs on `parent`: a team's players, a category's tournaments."""
    rows = await tx.fetch(f"SELECT body FROM {table.name} WHERE parent = $1::bigint ORDER BY id", parent)
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


def _parent(table: EntrantTable[E], value: E) -> int | None:
    parent: int | None = getattr(value, table.parent) if table.parent else None
    return parent
