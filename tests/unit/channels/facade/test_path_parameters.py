"""What stands in the facade's paths: understood one way, or refused."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.channels.facade import dependencies
from app.kit.errors import BadRequest, Invalid
from app.wire.xml.dictionaries import Producer

KINDS = ("match", "tournament", "competitor", "player", "sport")
numbers = st.integers(1, 10**18 - 1)
prefixes = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)


@given(numbers, prefixes, st.sampled_from(KINDS))
def test_a_number_and_a_urn_that_ends_with_it_are_the_same(number: int, prefix: str, kind: str) -> None:
    assert dependencies.parse_number(str(number), kind) == number
    assert dependencies.parse_number(f"{prefix}:{kind}:{number}", kind) == number
    assert dependencies.parse_number(f"{prefix}:some_thing:{number}", kind) is None


@given(numbers, prefixes, st.sampled_from(KINDS), st.sampled_from(KINDS))
def test_a_urn_about_something_else_is_nothing(number: int, prefix: str, kind: str, other: str) -> None:
    found = dependencies.parse_number(f"{prefix}:{other}:{number}", kind)
    assert found == (number if other == kind else None)


@given(st.text())
def test_a_number_is_understood_or_nothing(text: str) -> None:
    number = dependencies.parse_number(text, "player")
    assert number is None or (0 < number < 10**18 and text.endswith(str(number)))


@pytest.mark.parametrize(
    "text", ["", "0", "01", "+1", " 1", "1 ", "1\n", "٣", "a:b:c", "a:1", "mf:player:x", "1" * 19]
)
def test_what_is_no_number(text: str) -> None:
    assert dependencies.parse_number(text, "player") is None


@given(st.dates())
def test_a_day_is_24_hours_of_utc(day: date) -> None:
    first, after = dependencies.parse_day(day.isoformat())
    assert datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=first) == datetime(
        day.year, day.month, day.day, tzinfo=UTC
    )
    assert after - first == 86_400_000


@given(st.text())
def test_whatever_is_no_day_is_refused(text: str) -> None:
    try:
        dependencies.parse_day(text)
    except Invalid as error:
        (field,) = error.fields
        assert field.loc == ("path", "day")
    else:
        assert date.fromisoformat(text)


@given(st.text())
def test_there_are_two_languages(text: str) -> None:
    if text in ("en", "ru"):
        assert dependencies.parse_locale(text) == text
    else:
        with pytest.raises(BadRequest):
            dependencies.parse_locale(text)


@given(st.text() | st.sampled_from(["7", "live", "first"]))
def test_a_product_goes_by_id_scope_or_name(text: str) -> None:
    producer = Producer(7, "first", "", "https://feed.example/v1/")
    if text in ("7", "live", "first"):
        dependencies.check_product(text, producer)
    else:
        with pytest.raises(Invalid):
            dependencies.check_product(text, producer)
