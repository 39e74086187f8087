"""The market catalogue as JSON."""

from collections.abc import Iterable

import msgspec

from app.domain.catalogue import OUTCOME_ID, Locale, MarketType, SpecifierType, SuspensionReason


class OutcomeView(msgspec.Struct, frozen=True):
    id: int
    name: str


class SpecifierView(msgspec.Struct, frozen=True):
    name: str
    type: SpecifierType
    description: str


class DescriptionView(msgspec.Struct, frozen=True, kw_only=True):
    """A market type. `name` is a template: each ``{placeholder}`` stands for the specifier of that name.
    `key` is a name that never changes; `description` is English in every language."""

    id: int
    key: str
    name: str
    description: str
    outcomes: tuple[OutcomeView, ...]
    specifiers: tuple[SpecifierView, ...]


class SuspensionReasonView(msgspec.Struct, frozen=True):
    """`code` is the `suspended_reason_code` of markets and matches; it never changes."""

    code: str
    description: str


class PricingView(msgspec.Struct, frozen=True):
    """`bet_delay_seconds`: prices assume that a bet counts only if its price still stands unchanged so long
    after it was placed. A market whose result would be certain within that time is suspended before."""

    bet_delay_seconds: int


def suspension_reason_views(
    reasons: Iterable[SuspensionReason], locale: Locale
) -> tuple[SuspensionReasonView, ...]:
    return tuple(SuspensionReasonView(one.code, one.description.get(locale)) for one in reasons)


def description_views(types: Iterable[MarketType], locale: Locale) -> tuple[DescriptionView, ...]:
    return tuple(
        DescriptionView(
            id=one.id,
            key=one.key,
            name=one.name.get(locale),
            description=one.description,
            outcomes=(OutcomeView(OUTCOME_ID, one.outcome.get(locale)),),
            specifiers=tuple(SpecifierView(s.name, s.type, s.description) for s in one.specifiers),
        )
        for one in types
    )
