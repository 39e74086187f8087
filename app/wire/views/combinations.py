"""Combinations as JSON: how they are requested and shown."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from app.domain.combination import (
    MAX_LEGS,
    MIN_LEGS,
    Combination,
    CombinationLeg,
    CombinationSettlement,
    CombinationStatus,
    CombinedMatch,
    Price,
)
from app.domain.ids import match_urn
from app.domain.market import NAME_PATTERN, market_name
from app.kit.clock import iso_millis
from app.kit.errors import Field
from app.wire.text import iso_time_millis

_UUID = "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"


class WantedLegBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leg: the market `market_offer_id` (as lists of markets have it) of the match `match_id` (its UUID) or
    `match_urn` (`od:match:<n>`), of which one is needed."""

    market_offer_id: Annotated[str, Meta(max_length=200, pattern=NAME_PATTERN)]
    match_id: Annotated[str, Meta(pattern=_UUID)] | UnsetType = UNSET
    match_urn: Annotated[str, Meta(pattern=r"^od:match:[1-9][0-9]{0,17}$")] | UnsetType = UNSET

    @property
    def match(self) -> str:
        """How the match is named."""
        return str(self.match_urn if self.match_id is UNSET else self.match_id)


class NewCombination(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The legs of a combination, of one match or of several. `request_id` is your own: a repeated request
    with it gets the combination of the first."""

    legs: Annotated[tuple[WantedLegBody, ...], Meta(min_length=MIN_LEGS, max_length=MAX_LEGS)]
    request_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:/+=-]{1,64}$")] | UnsetType = UNSET


class CombinationLegView(msgspec.Struct, frozen=True, kw_only=True):
    """A leg as it was priced, and how it stands. `probability` is that of the leg alone, without margin, for
    tenants that receive probabilities."""

    match_id: str
    match_urn: str
    market_offer_id: str
    market_id: int
    specifiers: str
    odds: float
    probability: float | UnsetType = UNSET
    status: CombinationStatus


class CombinedMatchView(msgspec.Struct, frozen=True, kw_only=True):
    """The legs of one match together: their odds by the match's state after the message `seq` (`x-seq`), at
    `priced_at`. While a round is live the price changes with time: it stands until `valid_until`, unless a
    message comes; null otherwise."""

    match_id: str
    match_urn: str
    seq: int
    priced_at: str
    valid_until: str | None
    odds: float
    probability: float | UnsetType = UNSET


class CombinationView(msgspec.Struct, frozen=True, kw_only=True):
    """A combination as it was priced at `created_at`, and how it stands. `settled_odds` are those that a won
    bet is paid at: `odds`, unless legs are void; 1 if all are, absent once a leg is lost.
    `independent_matches`: it has legs of several matches, whose odds and probabilities were multiplied."""

    id: str
    status: CombinationStatus
    created_at: str
    odds: float
    settled_odds: float | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    independent_matches: bool
    request_id: str | UnsetType = UNSET
    legs: tuple[CombinationLegView, ...]
    matches: tuple[CombinedMatchView, ...]


def leg_problems(wanted: NewCombination) -> Iterator[Field]:
    """What the types cannot check: legs whose match is named twice, or not at all."""
    for place, leg in enumerate(wanted.legs):
        if (leg.match_id is UNSET) is (leg.match_urn is UNSET):
            what = "Name the match by match_id or by match_urn: one of them."
            yield Field(("body", "legs", place), what, "match")


def combination_view(
    found: Combination, settlement: CombinationSettlement, paid: Price | None, *, probabilities: bool
) -> CombinationView:
    """The view of a combination; with `probabilities` for a tenant that receives them."""
    numbers = {one.match_id: one.number for one in found.matches}
    legs = zip(found.legs, settlement.legs, strict=True)
    return CombinationView(
        id=str(found.id),
        status=settlement.status,
        created_at=iso_millis(found.created_at),
        odds=float(found.odds),
        settled_odds=UNSET if paid is None else float(paid.odds),
        probability=found.probability if probabilities else UNSET,
        independent_matches=len(found.matches) > 1,
        request_id=UNSET if found.request_id is None else found.request_id,
        legs=tuple(
            _leg_view(leg, numbers[leg.match_id], status, probabilities=probabilities) for leg, status in legs
        ),
        matches=tuple(_match_view(one, probabilities=probabilities) for one in found.matches),
    )


def _leg_view(
    leg: CombinationLeg, number: int, status: CombinationStatus, *, probabilities: bool
) -> CombinationLegView:
    return CombinationLegView(
        match_id=str(leg.match_id),
        match_urn=match_urn(number),
        market_offer_id=market_name(*leg.key),
        market_id=leg.type_id,
        specifiers=leg.specifiers,
        odds=float(leg.odds),
        probability=leg.probability if probabilities else UNSET,
        status=status,
    )


def _match_view(one: CombinedMatch, *, probabilities: bool) -> CombinedMatchView:
    return CombinedMatchView(
        match_id=str(one.match_id),
        match_urn=match_urn(one.number),
        seq=one.seq,
        priced_at=iso_millis(one.priced_at),
        valid_until=iso_time_millis(one.valid_until),
        odds=float(one.odds),
        probability=one.probability if probabilities else UNSET,
    )
