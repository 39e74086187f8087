"""Whom an address names: a number, or a URN that ends in it. Raises `Invalid` for what is neither, `NotFound`
for those whom nobody knows, or whom this key may not see."""

from typing import TypeVar

from app.domain.entrants import Category, Competitor, Player, Tournament
from app.domain.ids import entrant_number, is_entrant_reference
from app.domain.tenant import Grant
from app.kit.errors import Field, Invalid, NotFound
from app.store import entrants, lineups
from app.store.transaction import Tx

T = TypeVar("T")


async def team(tx: Tx, grant: Grant, ref: str) -> Competitor:
    """The team with its squad."""
    number = numbered("team", ref, "competitor", "team")
    return known(await lineups.competitor(tx, number, finished_only=grant.finished_only), "team", ref)


async def player(tx: Tx, grant: Grant, ref: str) -> Player:
    number = numbered("player", ref, "player")
    return known(await lineups.player(tx, number, finished_only=grant.finished_only), "player", ref)


async def tournament(tx: Tx, grant: Grant, ref: str) -> Tournament:
    """The tournament with those who take part."""
    number = numbered("tournament", ref, "tournament")
    return known(await lineups.tournament(tx, number, finished_only=grant.finished_only), "tournament", ref)


def numbered(what: str, ref: str, *kinds: str) -> int:
    """The number in the reference of a `what`, whose URN is of one of these kinds."""
    if not is_entrant_reference(ref):
        how = f"A {what} is named by its number, or by a URN that ends in it."
        raise Invalid(Field(("path", f"{what}_id"), how, "entrant_id", ref))
    return known(entrant_number(ref, *kinds), what, ref)


def known(found: T | None, what: str, ref: str) -> T:
    if found is None:
        raise NotFound(f"There is no {what} {ref!r}.")
    return found


async def category(tx: Tx, found: Tournament) -> Category | None:
    number = found.category_id
    return None if number is None else await entrants.get(tx, entrants.CATEGORIES, number)
