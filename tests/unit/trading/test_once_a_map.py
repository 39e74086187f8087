"""What follows from a map is computed once for each of its values."""

from msgspec.structs import replace

from app.domain.match import MapPlay
from app.trading.once_a_map import once_a_map


def test_a_map_is_computed_once_until_it_is_another_value() -> None:
    seen = []

    @once_a_map
    def rounds(play: MapPlay) -> int:
        seen.append(play)
        return play.home_score

    play = MapPlay(number=1, home_score=3)
    assert (rounds(play), rounds(play)) == (3, 3)
    assert len(seen) == 1
    after = replace(play, home_score=4)
    assert (rounds(after), rounds(play)) == (4, 3)
    assert after != play == MapPlay(number=1, home_score=3), "what is computed is no part of the value"
