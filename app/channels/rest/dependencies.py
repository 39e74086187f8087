"""What the REST handlers share: what they depend on, what routes about matches require, the query parameters
of several routes, and what path parameters name.

A cursor is the number of the last row shown: the next page begins after it, whatever was inserted in between.

A path parameter names a team, a player or a tournament by a number, or by a URN that ends in one: `Invalid`
for anything else, `NotFound` for those that do not exist or that this key may not see.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from msgspec import UNSET

from app.domain import catalogue
from app.domain.analytics import TimeFilter
from app.domain.entrants import Category, Competitor, Player, Tournament
from app.domain.ids import entrant_number, is_entrant_reference
from app.domain.market import MarketKey, key_of_name
from app.domain.match import Match
from app.domain.tenant import Grant
from app.files.directory import FileDirectory
from app.http.health import Health
from app.http.representation import Format
from app.kit.clock import Clock
from app.kit.errors import Field, Invalid, NotFound
from app.ledger.reading import PublicKeys
from app.store import entrants, match_entrants, matches, tenants
from app.store.connections import Store
from app.store.transaction import Tx
from app.wire.fields import Group, Groups, groups
from app.wire.views.meta import Many, many
from app.wire.xml import sport_events
from app.wire.xml.sport_events import SportEvent

T = TypeVar("T")
V = TypeVar("V")
NEXT_CURSOR = "The `next_cursor` of the page before, unchanged."
Cursor = Annotated[str | None, QueryParameter(pattern=r"^[0-9]{1,10}$", description=NEXT_CURSOR)]
#: The same of a list of ledger entries, whose numbers are larger.
EntryCursor = Annotated[str | None, QueryParameter(pattern=r"^[0-9]{1,19}$", description=NEXT_CURSOR)]
_CREATED = r"^[0-9]{1,18}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
#: Of a list in the order of creation: Unix ms and id; `created_after` reads it.
CreatedCursor = Annotated[str | None, QueryParameter(pattern=_CREATED, description=NEXT_CURSOR)]
NodeId = Annotated[str | None, QueryParameter(description="Digits; ends every routing key.")]
Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Rows at most.")]
_MARKETS = (
    "A market type by its id, or one market by its `market_offer_id`: 13, or 13:map=1|round=3|team=home."
)
#: Which markets of a match are wanted; `wanted_markets` reads it.
WantedMarkets = Annotated[
    str | None,
    QueryParameter(pattern=r"^[1-9][0-9]{0,8}(:[!-~]*)?$", max_length=200, description=_MARKETS),
]
Window = Annotated[TimeFilter, QueryParameter(description="How far back to look; a month has 30 days.")]


class RestDependencies(msgspec.Struct, frozen=True):
    """The store, the clock, the health checks, the `product` id that the feed publishes, the prefix of
    soccer's URNs, the delay of bets that prices assume, the liquidity of matches by the tier of their
    tournament (`other`: without one), where daily files are (None: there are none), and the ledger's public
    keys."""

    store: Store
    clock: Clock
    health: Health
    product: int
    soccer_prefix: str
    bet_delay_seconds: int
    liquidity_by_tier: Mapping[str, float]
    files: FileDirectory | None
    ledger_keys: PublicKeys


Rest = NamedDependency[RestDependencies]  #: as handlers have them


def options(*scopes: str) -> dict[str, Any]:
    """`opt` of a route that requires one of these scopes."""
    return {"sport": "cs2", "scopes": scopes}


def _cached_per(grant: Grant, form: Format) -> Hashable:
    """What of a grant a response depends on. Bookings are part of XML and of the internal fields. What is
    offered is read with the grant, never with the response: what is cached is then right for its key."""
    field_groups = groups(grant.scopes)
    booked = form is Format.XML or Group.INTERNALS in field_groups
    tenant = grant.tenant
    own = (tenant.id if booked else None, tenant.probabilities, tenant.types_off, tenant.offer.now.key)
    return field_groups, grant.finished_only, *own


#: Routes whose responses are cached.
CACHED: dict[str, Any] = {"cached_per": _cached_per}
#: Cached routes that have an `.xml` sibling too.
CACHED_WITH_SIBLING = CACHED | {"sibling": True}


def wanted_markets(name: str | None) -> MarketKey | int | None:
    """The market or the market type that a query names; None: all. Raises `NotFound` for a type that does not
    exist."""
    if name is None:
        return None
    if ":" in name:
        return key_of_name(name)
    type_id = int(name)
    if type_id not in catalogue.load().by_id:
        raise NotFound(f"There is no market type {name}; /cs2/v1/markets/descriptions lists them.")
    return type_id


def after_cursor(cursor: str | None) -> int:
    """The number after which the page begins."""
    return min(int(cursor), 2**31 - 1) if cursor else 0


def created_after(cursor: str | None) -> tuple[int, UUID] | None:
    """When the last row shown was created (Unix ms), and its id."""
    if cursor is None:
        return None
    at, _, last = cursor.partition(".")
    return int(at), UUID(last)


def _number(row: Any) -> str:
    return str(row.id)


def page(
    found: Sequence[T], limit: int, view: Callable[[T], V], cursor_of: Callable[[T], str] = _number
) -> Many[V]:
    """The page of the first `limit` rows of `found`, which has one more if another page follows: that begins
    after the cursor of the last row, by default its number."""
    rows = found[:limit]
    following = cursor_of(rows[-1]) if len(found) > limit else UNSET
    return many(map(view, rows), limit, next_cursor=following)


def unix_millis(moment: datetime) -> int:
    """A time of a query, which is in UTC unless it has an offset."""
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


async def find_team(tx: Tx, grant: Grant, ref: str, *, parameter: str = "team_id") -> Competitor:
    """The team with its squad."""
    number = parse_reference("team", ref, "competitor", "team", parameter=parameter)
    return found_or_404(
        await match_entrants.competitor(tx, number, finished_only=grant.finished_only), "team", ref
    )


async def find_player(tx: Tx, grant: Grant, ref: str) -> Player:
    number = parse_reference("player", ref, "player")
    return found_or_404(
        await match_entrants.player(tx, number, finished_only=grant.finished_only), "player", ref
    )


async def find_tournament(tx: Tx, grant: Grant, ref: str) -> Tournament:
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


async def find_category(tx: Tx, found: Tournament) -> Category | None:
    number = found.category_id
    return None if number is None else await entrants.get(tx, entrants.CATEGORIES, number)


async def visible_match(tx: Tx, grant: Grant, ref: str) -> Match:
    """The match that `ref` names (UUID or ``od:match:<n>``), if this key may see it; else `NotFound`."""
    return await matches.by_ref(tx, ref, finished_only=grant.finished_only)


async def visible_sport_events(
    tx: Tx, grant: Grant, found: Sequence[Match], field_groups: Groups
) -> list[SportEvent]:
    """The matches as XML shows them to a key that opens these field groups."""
    entrants = await match_entrants.of_matches(tx, found)
    booked = await tenants.booked(tx, grant.tenant.id, [match.id for match in found])
    return [
        sport_events.event(
            match, who.tournament, who.home, who.away, field_groups=field_groups, booked=match.id in booked
        )
        for match, who in zip(found, entrants, strict=True)
    ]
