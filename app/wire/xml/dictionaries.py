"""The catalogues that clients read once: sports, markets, statuses, void reasons, producers.

Ids, keys and codes are the same in every language; a text that a language lacks is English, never empty.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from app.domain.catalogue import (
    OUTCOME_ID,
    VOID_REASON_PARAM,
    BettingStatus,
    Locale,
    MarketType,
    MatchStatus,
    SuspensionReason,
    VoidReason,
)
from app.wire.generated import common, facade
from app.wire.xml.dialect import SPECIFICATION, Dialect
from app.wire.xml.entrants import sport_element

_OK = facade.ResponseCode.OK


class Producer(msgspec.Struct, frozen=True):
    """A stream of the feed; `window_minutes` is how far back a recovery may reach."""

    id: int
    name: str
    description: str
    api_url: str
    scope: Literal["live", "prematch"] = "live"
    active: bool = True
    window_minutes: int = 4320


EVERY_TYPE = "all"  #: the group of all market types: clients look up in it what a `bet_stop` concerns
#: The groups of market types with a player: clients then put the player's name in the place of the URN.
PLAYER_PROPS = f"{EVERY_TYPE}|player_props"


def sports(icon_url: str, dialect: Dialect = SPECIFICATION) -> bytes:
    """The list of categories: Counter-Strike 2, with its picture."""
    listed = msgspec.structs.replace(sport_element(dialect), icon_path=icon_url)
    return facade.write_sports(facade.Sports(sport=(listed,)))


def market_descriptions(types: Iterable[MarketType], locale: Locale, variant: str | None = None) -> bytes:
    """The market catalogue; with `variant`, as the variant resource shows these types."""
    return facade.write_market_descriptions(
        facade.MarketDescriptions(
            response_code=_OK, market=tuple([_market(item, locale, variant) for item in types])
        )
    )


def match_status_descriptions(statuses: Iterable[MatchStatus], locale: Locale) -> bytes:
    """The match status dictionary; a code that the feed never sends is a ValueError."""
    rows = [
        facade.MatchStatus(id=common.StatusCode(status.id), description=status.description.get(locale))
        for status in statuses
    ]
    return facade.write_match_status_descriptions(
        facade.MatchStatusDescriptions(response_code=_OK, match_status=tuple(rows))
    )


def void_reasons_descriptions(reasons: Iterable[VoidReason], locale: Locale) -> bytes:
    """The reasons why markets are void."""
    return facade.write_void_reasons_descriptions(
        facade.VoidReasonsDescriptions(response_code=_OK, void_reason=_void_reasons(reasons, locale))
    )


def void_reasons(reasons: Iterable[VoidReason]) -> bytes:
    """The reasons in English under another root, for the path without a locale."""
    return facade.write_void_reasons(
        facade.VoidReasons(response_code=_OK, void_reason=_void_reasons(reasons, "en"))
    )


def betstop_reasons_descriptions(reasons: Iterable[SuspensionReason], locale: Locale) -> bytes:
    """The reasons why offers are suspended."""
    rows = [
        facade.BetstopReason(id=reason.id, name=reason.code, description=reason.description.get(locale))
        for reason in reasons
    ]
    return facade.write_betstop_reasons_descriptions(
        facade.BetstopReasonsDescriptions(response_code=_OK, betstop_reason=tuple(rows))
    )


def betting_status_descriptions(statuses: Iterable[BettingStatus], locale: Locale) -> bytes:
    """How betting on a match may stand."""
    rows = [
        facade.BettingStatus(id=status.id, description=status.description.get(locale)) for status in statuses
    ]
    return facade.write_betting_status_descriptions(
        facade.BettingStatusDescriptions(response_code=_OK, betting_status=tuple(rows))
    )


def producers(streams: Iterable[Producer]) -> bytes:
    """The streams of the feed."""
    return facade.write_producers(
        facade.Producers(response_code=_OK, producer=tuple([_producer(item) for item in streams]))
    )


def _void_reasons(reasons: Iterable[VoidReason], locale: Locale) -> tuple[facade.VoidReason, ...]:
    rows = [
        facade.VoidReason(
            id=reason.id,
            name=reason.name,
            description=reason.description.get(locale),
            template=reason.template,
            param=(facade.VoidReasonParam(name=VOID_REASON_PARAM),),
        )
        for reason in reasons
    ]
    return tuple(rows)


def _market(found: MarketType, locale: Locale, variant: str | None) -> facade.DescribedMarket:
    specifiers = [
        facade.DescribedSpecifier(
            name=specifier.name,
            type=facade.SpecifierType(specifier.type),
            description=specifier.description or None,
        )
        for specifier in found.specifiers
    ]
    outcome = facade.DescribedOutcome(id=str(OUTCOME_ID), name=found.outcome.get(locale))
    about_player = any(specifier.name == "player" for specifier in found.specifiers)
    return facade.DescribedMarket(
        id=found.id,
        groups=PLAYER_PROPS if about_player else EVERY_TYPE,
        name=found.name.get(locale),
        description=found.description or None,
        variant=variant,
        outcomes=facade.DescribedOutcomes(outcome=(outcome,)),
        specifiers=facade.DescribedSpecifiers(specifier=tuple(specifiers)) if specifiers else None,
    )


def _producer(found: Producer) -> facade.Producer:
    return facade.Producer(
        id=found.id,
        name=found.name,
        description=found.description,
        api_url=found.api_url,
        active=found.active,
        scope=facade.ProducerScope(found.scope),
        stateful_recovery_window_in_minutes=found.window_minutes,
    )
