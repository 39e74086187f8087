"""Times as text."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from app.kit.clock import iso_seconds


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_in_whole_seconds_are_those_of_the_standard_library(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    ms = round(whole.timestamp()) * 1000 + moment.microsecond // 1000
    assert iso_seconds(ms) == whole.isoformat()
