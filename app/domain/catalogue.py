"""The catalogue of market types and dictionaries (`catalogue.toml`), as values.

What is here is what the feed emits: every type that trading offers has an entry, and no other type.
Texts are templates: ``{placeholder}`` is filled from a live market's specifiers. English is complete;
where another locale lacks a text, the English one is used, so that no text is ever empty.
"""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import msgspec
from propcache.api import cached_property

from app.domain.market import MarketKey, market_name, specifier_values

Locale = Literal["en", "ru"]
SpecifierType = Literal["integer", "decimal", "variable_text"]
LOCALES: tuple[Locale, ...] = ("en", "ru")
OUTCOME_ID = 1  #: every market has this one outcome: it happens
VOID_REASON_PARAM = "reason"  #: the placeholder of every void reason's template
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Text(msgspec.Struct, frozen=True):
    """One text in each locale."""

    en: str
    ru: str = ""

    def get(self, locale: Locale) -> str:
        return self.ru or self.en if locale == "ru" else self.en


class Specifier(msgspec.Struct, frozen=True):
    name: str
    type: SpecifierType
    description: str


class MarketType(msgspec.Struct, frozen=True):
    """One market type. `specifiers` are in canonical order; `outcome` names the only outcome."""

    id: int
    key: str
    name: Text
    description: str
    specifiers: tuple[Specifier, ...]
    outcome: Text

    @property
    def placeholders(self) -> frozenset[str]:
        texts = (self.name.en, self.name.ru, self.outcome.en, self.outcome.ru)
        return frozenset(name for text in texts for name in _PLACEHOLDER.findall(text))

    def render(self, locale: Locale, values: dict[str, str]) -> str:
        """The name with its placeholders filled; unknown placeholders raise `KeyError`."""
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.name.get(locale))


class MatchStatus(msgspec.Struct, frozen=True):
    id: int
    description: Text


class VoidReason(msgspec.Struct, frozen=True):
    """Why a market or bets are void. `template` says what happened to one market, `{reason}` being the reason
    of its ledger entry; both are English in every language."""

    id: int
    name: str
    description: Text
    template: str


class SuspensionReason(msgspec.Struct, frozen=True):
    """Why offers are suspended: a code that never changes, described for people. `id` is the same for clients
    that know reasons by number, and never given to another reason."""

    id: int
    code: str
    description: Text


class BettingStatus(msgspec.Struct, frozen=True):
    """How betting on a match stands, for clients that know this by number."""

    id: int
    description: Text


class Period(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From the first day to the last, `until` None: it goes on."""

    since: date
    until: date | None = None

    def contains(self, day: date) -> bool:
        return self.since <= day and (self.until is None or day <= self.until)


class MapInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A map: `ct_rate` is CT's share of rounds between even teams; `active` lists the periods in which it
    belonged to the active pool."""

    code: str
    name: str
    ct_rate: float
    active: tuple[Period, ...] = ()

    def in_pool(self, day: date) -> bool:
        return any(period.contains(day) for period in self.active)


class Catalogue(msgspec.Struct, frozen=True, dict=True):
    markets: tuple[MarketType, ...]
    statuses: tuple[MatchStatus, ...]
    void_reasons: tuple[VoidReason, ...]
    suspension_reasons: tuple[SuspensionReason, ...]
    betting_statuses: tuple[BettingStatus, ...]
    maps: tuple[MapInfo, ...]

    @cached_property
    def by_id(self) -> dict[int, MarketType]:
        return {market.id: market for market in self.markets}

    @cached_property
    def ct_rates(self) -> dict[str, float]:
        return {entry.code: entry.ct_rate for entry in self.maps}

    def pool(self, day: date) -> tuple[MapInfo, ...]:
        """The maps of the active pool on that day, by code."""
        return tuple(sorted((m for m in self.maps if m.in_pool(day)), key=lambda m: m.code))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The file as written: market types name their specifiers, which are described once."""

    specifier: dict[str, "_Described"]
    market: list["_Market"]
    status: list[MatchStatus]
    void_reason: list[VoidReason]
    suspension_reason: list[SuspensionReason]
    betting_status: list[BettingStatus]
    map: list[MapInfo]


class _Described(msgspec.Struct, forbid_unknown_fields=True):
    type: SpecifierType
    description: str


class _Market(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    key: str
    en: str
    ru: str
    description: str
    specifiers: list[str]


@lru_cache(maxsize=1)
def load() -> Catalogue:
    """The catalogue, read once. A malformed file raises `ValueError` saying what is wrong."""
    text = files(__package__).joinpath("catalogue.toml").read_text("utf-8")
    raw = msgspec.convert(tomllib.loads(text), _File)
    return Catalogue(
        markets=tuple(_market(entry, raw.specifier) for entry in sorted(raw.market, key=lambda m: m.id)),
        statuses=tuple(raw.status),
        void_reasons=tuple(raw.void_reason),
        suspension_reasons=tuple(raw.suspension_reason),
        betting_statuses=tuple(raw.betting_status),
        maps=tuple(raw.map),
    )


def name_of(key: MarketKey, locale: Locale, words: Mapping[str, str]) -> str:
    """The market in words; `words` replace values of specifiers, by the specifier. The bare name of one whose
    type or specifiers the catalogue does not know."""
    try:
        values = specifier_values(key[1])
    except ValueError:  # a client has made them up
        values = {}
    found = load().by_id.get(key[0])
    if found is None or not found.placeholders <= values.keys():
        return market_name(*key)
    return found.render(locale, values | {name: word for name, word in words.items() if name in values})


def _market(entry: _Market, described: dict[str, _Described]) -> MarketType:
    unknown = set(entry.specifiers) - described.keys()
    if unknown:
        raise ValueError(f"market {entry.id}: specifiers {sorted(unknown)} are not described")
    ordered = [name for name in described if name in entry.specifiers]
    name = Text(entry.en, entry.ru)
    market = MarketType(
        id=entry.id,
        key=entry.key,
        name=name,
        description=entry.description,
        specifiers=tuple(Specifier(n, described[n].type, described[n].description) for n in ordered),
        outcome=_YES,
    )
    undeclared = market.placeholders - set(ordered)
    if undeclared:
        raise ValueError(f"market {entry.id}: placeholders {sorted(undeclared)} are not declared")
    return market


_YES = Text("Yes", "Да")
