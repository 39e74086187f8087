"""The real log, begun anywhere, ends with the real score."""

from uuid import UUID

import pytest

from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log

START = 'World triggered "Round_Start"'


@pytest.mark.parametrize("skipped", [0, 1, 2, 5, 9])
def test_a_log_that_begins_with_a_round_ends_right(real_log: str, skipped: int) -> None:
    """All before the first, second … `Round_Start` is missing, warm-up and knife round among it."""
    lines = real_log.splitlines(keepends=True)
    starts = [index for index, line in enumerate(lines) if START in line]
    begun = _folded("".join(lines[starts[skipped] :]))
    whole = _folded(real_log)
    assert whole.maps[0].rounds_won > 12
    assert [(play.name, play.home_score, play.away_score) for play in begun.maps] == [
        (play.name, play.home_score, play.away_score) for play in whole.maps
    ]
    assert begun.status == whole.status


def _folded(text: str) -> Match:
    match = Match(id=UUID(int=1), number=1, home="rvls test team 1", away="rvls test 2", event="Cup")
    return fold(match, cs2log.read(text, 1_800_000_000_000).facts)[0]
