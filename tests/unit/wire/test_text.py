from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.kit.metrics import xml_dropped_characters
from app.wire.text import escape, escaped, permitted, plain, utc

anything = st.text(st.characters(exclude_categories=()))


def dropped() -> float:
    return sum(sample.value for metric in xml_dropped_characters.collect() for sample in metric.samples[:1])


@given(anything)
def test_a_parser_returns_what_xml_permits(value: str) -> None:
    node = etree.fromstring(f'<a b="{escape(value)}">{escape(value)}</a>'.encode())
    assert node.get("b") == permitted(value)
    assert (node.text or "") == permitted(value)


@given(anything)
def test_cached_text_is_the_escaped_text(value: str) -> None:
    assert escaped[value] == escaped[value] == escape(value)


@pytest.mark.parametrize("value", ["\x00", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_each_forbidden_character_is_counted_each_time(value: str) -> None:
    before = dropped()
    assert escaped[f"a{value}b"] == escaped[f"a{value}b"] == "ab"
    assert dropped() >= before + 2


def test_white_space_survives_attributes() -> None:
    assert escape("a\tb\nc\rd") == "a&#9;b&#10;c&#13;d"


def test_long_and_lossy_text_is_not_cached() -> None:
    long, lossy = "<" * 10_000, "lossy \x00"
    assert escaped[long] == "&lt;" * 10_000
    assert escaped[lossy] == "lossy "
    assert long not in escaped
    assert lossy not in escaped


def test_memory_for_cached_text_is_bounded() -> None:
    for number in range(40_000):
        escaped[f"name {number}"]
    assert len(escaped) <= 16_384


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
def test_numbers_have_no_exponent_and_keep_their_value(value: Decimal) -> None:
    assert "E" not in plain(value)
    assert Decimal(plain(value)) == value


def test_times_are_utc_to_the_second() -> None:
    assert utc(1_932_912_000_125) == "2031-04-02T16:00:00Z"
