"""The catalogues that clients read once: sports, markets, statuses, void reasons, producers.

Every text arrives in the language that was asked for; the choice of language is the caller's.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from app.domain.ids import CATEGORY
from app.domain.sports import CS2
from app.wire.generated import common, facade

OUTCOME = "1"  #: every Counter-Strike market has one outcome: "it happens"
_OK = facade.ResponseCode.OK


class MarketType(msgspec.Struct, frozen=True):
    """A market type in one language. `name` and `outcome` are templates with `{specifier}` tokens;
    `specifiers` are pairs of key and type, in canonical order; `description` is English always."""

    id: int
    name: str
    outcome: str
    description: str = ""
    specifiers: tuple[tuple[str, Literal["integer", "decimal", "variable_text"]], ...] = ()
    groups: tuple[str, ...] = ()


class VoidReason(msgspec.Struct, frozen=True):
    """Why a market is void, in one language."""

    id: int
    name: str
    description: str


class Producer(msgspec.Struct, frozen=True):
    """A stream of the feed; `window_minutes` is how far back a recovery may reach."""

    id: int
    name: str
    description: str
    api_url: str
    scope: Literal["live", "prematch"] = "live"
    active: bool = True
    window_minutes: int = 4320


def sports(icon_url: str) -> bytes:
    """The list of categories: Counter-Strike 2, with its picture."""
    sport = facade.Sport(id=CATEGORY, name=CS2.name, abbreviation=CS2.slug.upper(), icon_path=icon_url)
    return facade.write_sports(facade.Sports(sport=(sport,)))


def market_descriptions(types: Iterable[MarketType], variant: str | None = None) -> bytes:
    """The market catalogue, or with `variant` the types as the variant resource shows them."""
    return facade.write_market_descriptions(
        facade.MarketDescriptions(response_code=_OK, market=tuple([_market(item, variant) for item in types]))
    )


def match_status_descriptions(texts: Iterable[tuple[int, str]]) -> bytes:
    """The match status dictionary, of pairs of code and text; a code that the feed never sends is refused."""
    return facade.write_match_status_descriptions(
        facade.MatchStatusDescriptions(
            response_code=_OK,
            match_status=tuple(
                [facade.MatchStatus(id=common.StatusCode(code), description=text) for code, text in texts]
            ),
        )
    )


def void_reasons_descriptions(reasons: Iterable[VoidReason]) -> bytes:
    """The reasons why markets are void."""
    return facade.write_void_reasons_descriptions(
        facade.VoidReasonsDescriptions(
            response_code=_OK,
            void_reason=tuple(
                [
                    facade.VoidReason(id=reason.id, name=reason.name, description=reason.description)
                    for reason in reasons
                ]
            ),
        )
    )


def producers(streams: Iterable[Producer]) -> bytes:
    """The streams of the feed."""
    return facade.write_producers(
        facade.Producers(response_code=_OK, producer=tuple([_producer(item) for item in streams]))
    )


def _market(found: MarketType, variant: str | None) -> facade.DescribedMarket:
    specifiers = tuple(
        [
            facade.DescribedSpecifier(name=name, type=facade.SpecifierType(kind))
            for name, kind in found.specifiers
        ]
    )
    return facade.DescribedMarket(
        id=found.id,
        name=found.name,
        description=found.description or None,
        groups="|".join(found.groups) or None,
        variant=variant,
        outcomes=facade.DescribedOutcomes(outcome=(facade.DescribedOutcome(id=OUTCOME, name=found.outcome),)),
        specifiers=facade.DescribedSpecifiers(specifier=specifiers) if specifiers else None,
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
