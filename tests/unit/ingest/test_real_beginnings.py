"""The real log, begun anywhere, ends with the real score."""

from uuid import UUID

import pytest

from app.domain.changes import EventAdded, MatchChange
from app.domain.match import Match, Team
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


@pytest.mark.parametrize("before", [120, 25, 5, 0])
def test_a_log_that_begins_around_half_time_learns_no_teams_from_the_sides_of_the_half_before(
    real_log: str, before: int
) -> None:
    """The server goes on naming them for a round."""
    lines = real_log.splitlines(keepends=True)
    second_half = next(
        index
        for index, line in enumerate(lines)
        if "switched from team <CT> to <TERR" in line and index > 3000
    )
    whole, begun = _kills(real_log), _kills("".join(lines[second_half - before :]))
    later = {key: team for key, team in begun.items() if key[0] > 13}
    assert len(later) > 10
    assert later == {key: whole[key] for key in later}


def _folded(text: str) -> Match:
    return _fold(text)[0]


def _kills(text: str) -> dict[tuple[int, str, str], Team | None]:
    """The killers' teams, by round, killer and victim."""
    events = [change.event for change in _fold(text)[1] if isinstance(change, EventAdded)]
    return {
        (event.round, event.actor.name, event.target.name): event.actor_team
        for event in events
        if event.actor and event.target
    }


def _fold(text: str) -> tuple[Match, tuple[MatchChange, ...]]:
    match = Match(id=UUID(int=1), number=1, home="rvls test team 1", away="rvls test 2", event="Cup")
    return fold(match, cs2log.read(text, 1_800_000_000_000).facts)
