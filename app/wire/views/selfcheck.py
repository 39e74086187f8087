"""A client's digest of its book, and what differs from ours, as JSON."""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from app.domain.market import market_name
from app.domain.selfcheck import QuoteDifference, Quotes
from app.kit.errors import Field

MATCHES, MARKETS = 5_000, 50_000  #: a digest holds so many at most
LISTED = 1_000  #: differences shown at most; `count` is the number of all

Odds = Annotated[float, Meta(gt=0, le=1_000_000)]


class ClientMarket(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """``[13, "map=1|round=3|team=home", 1, 1.85]``: type, specifiers, status as in the feed (1 active,
    -1 suspended), odds. The odds of a suspended market are not looked at and may be left out."""

    id: Annotated[int, Meta(ge=1, le=2_147_483_647)]
    specifiers: Annotated[str, Meta(max_length=200)]
    status: Literal[1, -1]
    odds: Odds | None = None


_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAMES = {"pattern": f"^(od:match:[1-9][0-9]{{0,17}}|{_UUID})$"}


class ClientMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The markets of one match (`od:match:<n>` or its UUID) that the client has open; `seq` is the highest
    `x-seq` that it has applied to them, if it wants to know whether a difference may be under way."""

    match: Annotated[str, Meta(min_length=1, max_length=60, extra_json_schema=_NAMES)]
    markets: tuple[ClientMarket, ...]
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


class Digest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A client's book. It is the whole book, and what it leaves out counts as missing, unless `complete`
    is false: then only the matches named are compared."""

    matches: Annotated[tuple[ClientMatch, ...], Meta(max_length=MATCHES)]
    complete: bool = True


class QuoteView(msgspec.Struct, frozen=True):
    """`odds` where there are any."""

    status: int
    odds: float | UnsetType = UNSET


class DifferenceView(msgspec.Struct, frozen=True):
    """`missing`: open in the service only; `extra`: open at the client only; `stale`: one of both has it
    suspended; `wrong_price`: both have it active, at other odds. `behind`: changes of this match have been
    published since the `seq` that the client sent, so the next messages may resolve it."""

    kind: str
    match: str
    id: int
    specifiers: str
    yours: QuoteView | UnsetType = UNSET
    ours: QuoteView | UnsetType = UNSET
    behind: bool | UnsetType = UNSET


class SelfCheckView(msgspec.Struct, frozen=True):
    """So many `matches` and `markets` of the service were compared. `count` is the number of all differences,
    0 when both books are equal; `kinds` is the number of each kind; no more than 1,000 are listed."""

    matches: int
    markets: int
    count: int
    kinds: dict[str, int]
    differences: tuple[DifferenceView, ...]


def quotes(sent: ClientMatch) -> Quotes:
    """The markets of a match; of two with one name the later counts."""
    return {
        market_name(each.id, each.specifiers): each.status * round((each.odds or 0) * 1000)
        for each in sent.markets
    }


def problems(digest: Digest) -> Iterator[Field]:
    """What the types cannot check: too many markets, active ones without odds, a match or market twice."""
    total = sum(len(sent.markets) for sent in digest.matches)
    if total > MARKETS:
        what = f"A digest holds {MARKETS} markets at most, this one {total}: split it, with complete false."
        yield Field(("body", "matches"), what, "too_many")
        return
    seen: set[str] = set()
    for place, sent in enumerate(digest.matches):
        if sent.match in seen:
            yield Field(
                ("body", "matches", place, "match"), "This match is named twice.", "twice", sent.match
            )
        seen.add(sent.match)
        yield from _market_problems(place, sent)


def _market_problems(place: int, sent: ClientMatch) -> Iterator[Field]:
    for number, market in enumerate(sent.markets):
        if market.status == 1 and market.odds is None:
            where = ("body", "matches", place, "markets", number)
            yield Field(where, "An active market has odds.", "missing", market.specifiers)
    if len({(each.id, each.specifiers) for each in sent.markets}) < len(sent.markets):
        yield Field(("body", "matches", place, "markets"), "A market is named twice.", "twice", sent.match)


def difference_view(match: str, found: QuoteDifference, behind: bool | UnsetType) -> DifferenceView:
    type_id, _, specifiers = found.market.partition(":")
    return DifferenceView(
        kind=found.kind,
        match=match,
        id=int(type_id),
        specifiers=specifiers,
        yours=_quote(found.yours),
        ours=_quote(found.ours),
        behind=behind,
    )


def _quote(quote: int | None) -> QuoteView | UnsetType:
    if quote is None:
        return UNSET
    return QuoteView(1 if quote > 0 else -1, abs(quote) / 1000 if quote else UNSET)
