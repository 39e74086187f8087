"""Where in a recording a moment of the match is to be seen."""

import pytest

from app.domain.match_info import VideoStream, VodAnchor, VodPosition, vod_position

LIVE = VideoStream("https://live.example/1")
WHOLE = VideoStream(
    "https://vod.example/whole", vod_anchors=(VodAnchor(100_000, 60.0), VodAnchor(400_000, 200.0))
)
SECOND = VideoStream("https://vod.example/map2", vod_anchors=(VodAnchor(500_000, 5.0),))


@pytest.mark.parametrize(
    ("at", "stream", "offset"),
    [
        (40_000, 1, 0.0),  # before the first anchor, as far as the recording goes
        (39_999, None, 0.0),
        (100_000, 1, 60.0),
        (161_250, 1, 121.25),
        (399_999, 1, 359.999),
        (400_000, 1, 200.0),  # after what was cut out
        (499_000, 1, 299.0),
        (500_000, 2, 5.0),  # the map with a recording of its own
        (700_000, 2, 205.0),
    ],
)
def test_a_moment_is_found_by_the_latest_anchor_before_it(at: int, stream: int | None, offset: float) -> None:
    found = vod_position((LIVE, WHOLE, SECOND), at)
    assert found == (None if stream is None else VodPosition(stream, offset))


def test_without_an_anchor_nothing_is_claimed() -> None:
    assert vod_position((), 100_000) is None
    assert vod_position((LIVE,), 100_000) is None


def test_the_first_of_two_equal_recordings_is_named() -> None:
    assert vod_position((WHOLE, WHOLE), 100_000) == VodPosition(0, 60.0)
