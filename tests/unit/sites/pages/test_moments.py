"""Times of forms: what the page shows is what it reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.errors import Invalid
from app.sites.pages.forms import local_moment, parsed_moment


@given(st.integers(0, 4_102_444_800_000))
def test_a_time_comes_back_as_it_was_shown(at: int) -> None:
    assert parsed_moment("from", local_moment(at)) == at == parsed_moment("from", str(at))


@pytest.mark.parametrize("text", ["2031-04-02T18:30", "2031-04-02 18:30:00", "2031-04-02T18:30:00.000"])
def test_what_browsers_send_is_read_as_utc(text: str) -> None:
    assert parsed_moment("from", text) == 1_932_921_000_000


@pytest.mark.parametrize(
    "text",
    ["x", "2031-02-30T10:00", "2031-04-02", "2031-04-02T25:00", "1" * 16, "-1", "٣", "253402300800000"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parsed_moment("from", text)
