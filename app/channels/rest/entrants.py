"""Teams, players and tournaments by path parameter: a number, or a URN that ends in one. Raises `Invalid` for
anything else, `NotFound` for those that do not exist or that this key may not see."""

from typing import TypeVar

from app.domain.entrants import Category, Competitor, Player, Tournament
from app.domain.ids import entrant_number, is_entrant_reference
from app.domain.tenant import Grant
from app.kit.errors import Field, Invalid, NotFound
from app.store import entrants, match_entrants
from app.store.transaction import Tx

T = TypeVar("T")


async def team(tx: Tx, grant: Grant, ref: str, *, parameter: str = "team_id") -> Competitor:
    """The team with its squad."""
    number = parse_reference("team", ref, "competitor", "team", parameter=parameter)
    return found_or_404(
        await match_entrants.competitor(tx, number, finished_only=grant.finished_only), "team", ref
    )


async def player(tx: Tx, grant: Grant, ref: str) -> Player:
    number = parse_reference("player", ref, "player")
    return found_or_404(
        await match_entrants.player(tx, number, finished_only=grant.finished_only), "player", ref
    )


async def tournament(tx: Tx, grant: Grant, ref: str) -> Tournament:
    """The tournament with its participants."""
    number = parse_reference("tournament", ref, "tournament")
    return found_or_404(
        await match_entrants.tournament(tx, number, finished_only=grant.finished_only), "tournament", ref
    )


def parse_reference(what: str, ref: str, *kinds: str, parameter: str | None = None) -> int:
    """The number in a reference to a `what` (team, player, …), whose URN is of one of these kinds. The path
    parameter that has it is `what` with `_id`, unless it is named."""
    if not is_entrant_reference(ref):
        how = f"A {what} is named by its number, or by a URN that ends in it."
        raise Invalid(Field(("path", parameter or f"{what}_id"), how, "entrant_id", ref))
    return found_or_404(entrant_number(ref, *kinds), what, ref)


def found_or_404(found: T | None, what: str, ref: str) -> T:
    if found is None:
        raise NotFound(f"There is no {what} {ref!r}.")
    return found


async def category(tx: Tx, found: Tournament) -> Category | None:
    number = found.category_id
    return None if number is None else await entrants.get(tx, entrants.CATEGORIES, number)
