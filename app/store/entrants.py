"""Reference data: teams, players, tournaments, categories. One table per kind, of one form: number, name,
parent, value.

Most of it is imported from files. An entrant that a match names before any file does gets a number above
`MAX_FILE_NUMBER`, so that it never collides with numbers in files and every match has entrants.
"""

from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec
from piccolo.columns.combination import Where, WhereRaw
from piccolo.query import Delete, Exists, Select
from piccolo.query.functions import Coalesce, Max
from piccolo.querystring import QueryString

from app.domain.entrants import (
    MAX_FILE_NUMBER,
    Category,
    Competitor,
    Player,
    SoccerCompetitor,
    SoccerTournament,
    Tournament,
)
from app.store import notifications
from app.store.prepared import prepared, reading_number, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import any_of
from app.store.statements import reads, server
from app.store.tables import reference as tables
from app.store.transaction import Row, Tx

Entrant = Category | Tournament | Competitor | Player | SoccerCompetitor | SoccerTournament
E = TypeVar("E", bound=Entrant)
Rows = (
    tables.Category
    | tables.Tournament
    | tables.Team
    | tables.Player
    | tables.SoccerCompetitor
    | tables.SoccerTournament
)
#: The filters of `listing`; each has an index.
FILTERS: dict[str, Callable[[type[Rows], Any], Where | QueryString]] = {
    "parents": lambda rows, wanted: any_of(rows.parent, wanted),
    "tier": lambda rows, wanted: QueryString("{}->>'tier' = {}", rows.body, wanted),
    "is_lan": lambda rows, wanted: QueryString(
        f"({{}}->>'is_lan')::boolean = {{}} AND ({{}} OR {{}} <= {MAX_FILE_NUMBER})",
        *(rows.body, wanted, wanted, rows.id),
    ),
    "starts_from": lambda rows, wanted: QueryString("({}->>'starts_at')::bigint >= {}", rows.body, wanted),
    "region": lambda rows, wanted: QueryString("lower({}->>'region') = lower({})", rows.body, wanted),
    "active": lambda rows, wanted: QueryString("({}->>'active')::boolean = {}", rows.body, wanted),
}
#: The columns of `match` that refer to a table.
_IN_MATCHES = {"team": ("home_id", "away_id"), "tournament": ("tournament_id",)}
_MAX_INT = 2**31 - 1


class EntrantTable(msgspec.Struct, Generic[E], frozen=True):
    """The table of one type. `parent` names the field that refers to another table."""

    name: str
    rows: type[Rows]
    type: type[E]
    parent: str = ""


CATEGORIES = EntrantTable("category", tables.Category, Category)
TOURNAMENTS = EntrantTable("tournament", tables.Tournament, Tournament, "category_id")
TEAMS = EntrantTable("team", tables.Team, Competitor)
PLAYERS = EntrantTable("player", tables.Player, Player, "team_id")
SOCCER_COMPETITORS = EntrantTable("soccer_competitor", tables.SoccerCompetitor, SoccerCompetitor)
SOCCER_TOURNAMENTS = EntrantTable("soccer_tournament", tables.SoccerTournament, SoccerTournament)


def folded(name: str) -> str:
    """The form in which names are compared: case-folded, single spaces."""
    return " ".join(name.casefold().split())


def _mapping(table: EntrantTable[Any]) -> RowMapping[Any]:
    parent = attrgetter(table.parent) if table.parent else lambda _: None
    found = {"folded": lambda one: folded(one.name), "parent": parent, "body": msgspec.json.Encoder().encode}
    return RowMapping(table.rows, table.type, derived=found)


_ALL = (CATEGORIES, TOURNAMENTS, TEAMS, PLAYERS, SOCCER_COMPETITORS, SOCCER_TOURNAMENTS)
_MAPPINGS = {table.name: _mapping(table) for table in _ALL}


async def lock(tx: Tx, table: EntrantTable[E]) -> None:
    """Lock the table against inserts by others until the transaction ends; reading is not blocked."""
    await tx.execute(server.lock_table(table.name))


async def highest(tx: Tx, table: EntrantTable[E]) -> int:
    """The highest number in use of those that files assign, 0 for none."""
    return await _highest(tx, rows=table.rows, own=False)


async def next_own(tx: Tx, table: EntrantTable[E]) -> int:
    """The next number above `MAX_FILE_NUMBER`; the table should be locked."""
    return await _highest(tx, rows=table.rows, own=True) + 1


async def put(tx: Tx, table: EntrantTable[E], values: Iterable[E]) -> None:
    """Insert these values, replacing those with their numbers."""
    if saved := _MAPPINGS[table.name].save(values):
        await tx.write(saved)
        await notifications.notify_shown(tx)


async def get(tx: Tx, table: EntrantTable[E], number: int) -> E | None:
    if number > _MAX_INT:
        return None
    body = await tx.one_value(_get(number, rows=table.rows))
    return msgspec.json.decode(body, type=table.type) if body is not None else None


async def by_ids(tx: Tx, table: EntrantTable[E], numbers: Collection[int]) -> list[E]:
    """Those of these numbers that exist, by number."""
    rows = await tx.run(_by_ids(list(numbers), rows=table.rows))
    return _decoded(table, rows)


async def by_number(tx: Tx, table: EntrantTable[E], numbers: Iterable[int | None]) -> dict[int | None, E]:
    """`by_ids` as a dictionary by number; None among the numbers is ignored."""
    wanted = {number for number in numbers if number is not None}
    return {one.id: one for one in await by_ids(tx, table, wanted)} if wanted else {}


async def named(tx: Tx, table: EntrantTable[E], names: Collection[str]) -> list[E]:
    """All entrants with one of these names, ignoring case, by number. Those that a match named first are
    omitted once a file has imported one of the same name."""
    rows = await tx.fetch(reads.entrants_named(table.name), list(map(folded, names)))
    return _decoded(table, rows)


@reading_rows(lambda row: msgspec.json.decode(row["body"], type=Player))
def of_accounts(accounts: Collection[int], /) -> Select[Any]:
    """The players with these Steam accounts, by number."""
    rows = tables.Player
    return rows.select(rows.body).where(_has_account(accounts)).order_by(rows.id)


@writing
def delete_own_players(accounts: Collection[int], /) -> Delete:
    """Delete those players with these Steam accounts whom a match named first: files have them now."""
    rows = tables.Player
    return rows.delete().where(WhereRaw("{}", _has_account(accounts)), rows.id > MAX_FILE_NUMBER)


def _has_account(accounts: Collection[int]) -> QueryString:
    return QueryString("({}->>'account')::bigint = ANY({})", tables.Player.body, accounts)


async def listing(
    tx: Tx, table: EntrantTable[E], *, after: int, limit: int, finished_only: bool = False, **wanted: Any
) -> list[E]:
    """At most `limit` values with numbers above `after`, by number, that match the filters `wanted` (see
    `FILTERS`; None: any). `finished_only` omits those that only unfinished matches have named."""
    filters = {name: value for name, value in wanted.items() if value is not None}
    rows = await tx.run(
        _page(
            *(after, *filters.values()),
            table=table,
            filters=tuple(filters),
            finished_only=finished_only,
            limit=limit,
        )
    )
    return _decoded(table, rows)


async def is_public(tx: Tx, table: EntrantTable[E], number: int) -> bool:
    """Whether clients that see finished matches only may see this number: a file has imported it, or a
    finished match has it."""
    visible: bool = await tx.one_value(_is_public(number, table=table))
    return visible


def public_condition(table: EntrantTable[Any], row: str) -> str:
    """The condition of `is_public`, on a row of that name. It is a scalar subquery per row: with EXISTS, the
    planner would first read all finished matches."""
    played = [
        f"(SELECT true FROM match WHERE {column} = {row}.id AND status = 'finished' LIMIT 1)"
        for column in _IN_MATCHES.get(table.name, ())
    ]
    if table.type is Player:  # whose maps are counted when their match has finished
        account = f"({row}.body->>'account')::bigint"
        played.append(f"(SELECT true FROM player_map WHERE account = {account} LIMIT 1)")
    if not played:
        return "true"
    return f"({' OR '.join([f'{row}.id <= {MAX_FILE_NUMBER}', *played])})"


async def children(tx: Tx, table: EntrantTable[E], parent: int, *, finished_only: bool = False) -> list[E]:
    """The children of `parent`: a team's players, a category's tournaments; `finished_only` is that of
    `listing`."""
    rows = await tx.run(_children(parent, table=table, finished_only=finished_only))
    return _decoded(table, rows)


def _decoded(table: EntrantTable[E], rows: Iterable[Row]) -> list[E]:
    return [msgspec.json.decode(row["body"], type=table.type) for row in rows]


@reading_number
def _highest(*, rows: type[Rows], own: bool) -> Select[Any]:
    here = rows.id > MAX_FILE_NUMBER if own else rows.id <= MAX_FILE_NUMBER
    return rows.select(Coalesce(Max(rows.id), MAX_FILE_NUMBER if own else 0)).where(here)


@prepared
def _get(number: int, *, rows: type[Rows]) -> Select[Any]:
    return rows.select(rows.body).where(rows.id == number)


@prepared
def _by_ids(numbers: Collection[int], *, rows: type[Rows]) -> Select[Any]:
    return rows.select(rows.body).where(any_of(rows.id, numbers)).order_by(rows.id)


@prepared
def _page(
    after: int,
    *wanted: object,
    table: EntrantTable[Any],
    filters: tuple[str, ...],
    finished_only: bool,
    limit: int,
) -> Select[Any]:
    rows = table.rows
    query = rows.select(rows.body).where(rows.id > after)
    for name, value in zip(filters, wanted, strict=True):
        query = query.where(FILTERS[name](rows, value))
    if finished_only:
        query = query.where(QueryString(public_condition(table, table.name)))
    return query.order_by(rows.id).limit(limit)


@prepared
def _is_public(number: int, *, table: EntrantTable[Any]) -> Exists[Any]:
    public = QueryString(public_condition(table, table.name))
    return table.rows.exists().where(table.rows.id == number, public)


@prepared
def _children(parent: int, *, table: EntrantTable[Any], finished_only: bool) -> Select[Any]:
    rows = table.rows
    query = rows.select(rows.body).where(QueryString("{} = {}::bigint", rows.parent, parent))
    if finished_only:
        query = query.where(QueryString(public_condition(table, table.name)))
    return query.order_by(rows.id)
