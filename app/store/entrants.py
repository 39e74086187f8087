"""Reference data: who plays, and in what. One table a kind, all of one form: number, name, parent, value."""

from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

import msgspec

from app.domain.entrants import Category, Competitor, Player, Tournament
from app.domain.soccer import SoccerCompetitor, SoccerTournament
from app.store.transaction import Tx

Entrant = Category | Tournament | Competitor | Player | SoccerCompetitor | SoccerTournament
E = TypeVar("E", bound=Entrant)
_encode = msgspec.json.Encoder().encode


class Shelf(msgspec.Struct, Generic[E], frozen=True):
    """Where values of one type lie. `parent` names the field by which they hang on another shelf."""

    table: str
    type: type[E]
    parent: str = ""


CATEGORIES = Shelf("category", Category)
TOURNAMENTS = Shelf("tournament", Tournament, "category_id")
TEAMS = Shelf("team", Competitor)
PLAYERS = Shelf("player", Player, "team_id")
SOCCER_COMPETITORS = Shelf("soccer_competitor", SoccerCompetitor)
SOCCER_TOURNAMENTS = Shelf("soccer_tournament", SoccerTournament)


def folded(name: str) -> str:
    """The form in which names are compared: small letters, single spaces."""
    return " ".join(name.casefold().split())


async def lock(tx: Tx, shelf: Shelf[E]) -> None:
    """Keep others from adding to the shelf until the transaction ends; reading goes on."""
    await tx.execute(f"LOCK TABLE {shelf.table} IN SHARE ROW EXCLUSIVE MODE")


async def highest(tx: Tx, shelf: Shelf[E]) -> int:
    """The highest number in use, 0 for none."""
    number: int = await tx.value(f"SELECT coalesce(max(id), 0) FROM {shelf.table}")
    return number


async def put(tx: Tx, shelf: Shelf[E], values: Iterable[E]) -> None:
    """Add these values, or take them in the place of those with their numbers."""
    rows = [(one.id, folded(one.name), _parent(shelf, one), _encode(one)) for one in values]
    if rows:
        await tx.execute(
            f"""
            INSERT INTO {shelf.table} (id, folded, parent, body)
            SELECT * FROM unnest($1::int[], $2::text[], $3::int[], $4::json[])
            ON CONFLICT (id) DO UPDATE
            SET folded = excluded.folded, parent = excluded.parent, body = excluded.body
            """,
            *(list(column) for column in zip(*rows, strict=True)),
        )


async def get(tx: Tx, shelf: Shelf[E], number: int) -> E | None:
    body = await tx.value(f"SELECT body FROM {shelf.table} WHERE id = $1", number)
    return msgspec.json.decode(body, type=shelf.type) if body is not None else None


async def some(tx: Tx, shelf: Shelf[E], numbers: Collection[int]) -> list[E]:
    """Those of these numbers that there are, by number."""
    rows = await tx.fetch(
        f"SELECT body FROM {shelf.table} WHERE id = ANY($1::int[]) ORDER BY id", list(numbers)
    )
    return [msgspec.json.decode(row["body"], type=shelf.type) for row in rows]


async def named(tx: Tx, shelf: Shelf[E], names: Collection[str]) -> list[E]:
    """Everybody with one of these names, in whatever letters, by number."""
    rows = await tx.fetch(
        f"SELECT body FROM {shelf.table} WHERE folded = ANY($1::text[]) ORDER BY id", list(map(folded, names))
    )
    return [msgspec.json.decode(row["body"], type=shelf.type) for row in rows]


async def page(tx: Tx, shelf: Shelf[E], *, after: int, limit: int) -> list[E]:
    """At most `limit` values with numbers above `after`, by number."""
    rows = await tx.fetch(f"SELECT body FROM {shelf.table} WHERE id > $1 ORDER BY id LIMIT $2", after, limit)
    return [msgspec.json.decode(row["body"], type=shelf.type) for row in rows]


async def under(tx: Tx, shelf: Shelf[E], parent: int) -> list[E]:
    """What hangs on `parent`: a team's players, a category's tournaments."""
    rows = await tx.fetch(f"SELECT body FROM {shelf.table} WHERE parent = $1 ORDER BY id", parent)
    return [msgspec.json.decode(row["body"], type=shelf.type) for row in rows]


def _parent(shelf: Shelf[E], value: E) -> int | None:
    parent: int | None = getattr(value, shelf.parent) if shelf.parent else None
    return parent
