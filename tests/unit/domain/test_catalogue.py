"""The catalogue is complete and mirrors what trading offers."""

import re
from datetime import date

import pytest

from app.domain.catalogue import LOCALES, Catalogue, Locale, MarketType, load
from app.domain.match import Status
from app.trading.registry import RULES
from app.trading.rules import Specifiers, parse_specifiers

SAMPLES = {
    "map": "2",
    "round": "17",
    "team": "home",
    "player": "mf:player:7",
    "opponent": "mf:player:8",
    "handicap": "-2.5",
    "threshold": "21.5",
    "target": "10",
    "half": "2",
    "home_maps": "2",
    "away_maps": "1",
}
CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
catalogue = load()


@pytest.mark.parametrize("market", catalogue.markets, ids=lambda market: market.key)
@pytest.mark.parametrize("locale", LOCALES)
def test_every_name_renders(market: MarketType, locale: Locale) -> None:
    values = {specifier.name: SAMPLES[specifier.name] for specifier in market.specifiers}
    name = market.render(locale, values)
    assert name.strip() == name != ""
    assert "{" not in name and "  " not in name
    assert all(value in name for value in values.values())
    assert market.outcome.get(locale)
    assert bool(CYRILLIC.search(name.replace("home", ""))) == (locale == "ru")


@pytest.mark.parametrize("market", catalogue.markets, ids=lambda market: market.key)
def test_descriptions_are_english_sentences(market: MarketType) -> None:
    assert market.description.endswith(".") and not CYRILLIC.search(market.description)


def test_it_mirrors_what_is_offered() -> None:
    assert {market.id: market.key for market in catalogue.markets} == {
        rule.id: rule.key for rule in RULES.values()
    }
    assert len(catalogue.markets) >= 24


def test_specifiers_are_typed_and_in_canonical_order() -> None:
    order = list(Specifiers.__struct_fields__)
    for market in catalogue.markets:
        names = [specifier.name for specifier in market.specifiers]
        assert names == sorted(names, key=order.index)
        text = "|".join(f"{name}={SAMPLES[name]}" for name in names)
        assert parse_specifiers(text).text == text


def test_no_type_has_outcomes_that_vary_by_match() -> None:
    assert [market.key for market in catalogue.markets if "variant" in market.placeholders] == []
    assert not [one for market in catalogue.markets for one in market.specifiers if one.name == "variant"]


def test_every_specifier_is_shown_in_every_name() -> None:
    for market in catalogue.markets:
        assert market.placeholders == {specifier.name for specifier in market.specifiers}


def test_dictionaries() -> None:
    assert [status.id for status in catalogue.statuses] == sorted({status.code for status in Status})
    assert [reason.id for reason in catalogue.void_reasons] == [4, 14, 15]
    texts = [entry.description for entry in (*catalogue.statuses, *catalogue.void_reasons)]
    assert all(text.en and CYRILLIC.search(text.ru) and not CYRILLIC.search(text.en) for text in texts)


@pytest.mark.parametrize(
    ("day", "inside", "outside"),
    [
        (date(2025, 6, 1), "de_anubis", "de_overpass"),
        (date(2025, 9, 1), "de_train", "de_anubis"),
        (date(2026, 3, 1), "de_overpass", "de_train"),
        (date(2026, 7, 24), "de_cache", "de_overpass"),
    ],
)
def test_map_pool_has_seven_maps_on_any_day(day: date, inside: str, outside: str) -> None:
    codes = [entry.code for entry in catalogue.pool(day)]
    assert len(codes) == 7
    assert inside in codes and outside not in codes


def test_ct_rates_are_plausible() -> None:
    assert all(0.4 < rate < 0.65 for rate in catalogue.ct_rates.values())


def test_it_is_read_once() -> None:
    assert load() is load()
    assert isinstance(load(), Catalogue)
