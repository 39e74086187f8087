"""Our reader finds in a simulated log exactly what the simulator records."""

from dataclasses import replace

import pytest

from app.domain.changes import EventAdded, MatchChange, RoundsVoided
from app.domain.match import Match, TimelineEvent
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.sandbox.simulator.truth import KillTruth, SeriesTruth
from tests.support.lengths import short_then_long
from tests.support.simulated import BEGIN, assert_as_played, outcome, plan_of
from tests.unit.trading.trader import new_match


def read_match(plan: MatchPlan) -> tuple[Match, tuple[MatchChange, ...], SeriesTruth]:
    """The match as read from the log in bodies of 200 lines, one a second."""
    lines, truth = simulate(plan)
    match = new_match(plan)
    changes: list[MatchChange] = []
    for start in range(0, len(lines), 200):
        body = "\n".join(line.text for line in lines[start : start + 200]) + "\n"
        reading = read(body, BEGIN + int(lines[min(start + 199, len(lines) - 1)].at * 1000))
        assert reading.unknown == 0, body
        match, some = fold(match, reading.facts)
        changes.extend(some)
    return match, tuple(changes), truth


def kills(changes: tuple[MatchChange, ...]) -> list[TimelineEvent]:
    """The kills that count, in order: what a knife round or a restart voided is left out."""
    voided = {number for change in changes if isinstance(change, RoundsVoided) for number in change.events}
    happened = [change.event for change in changes if isinstance(change, EventAdded)]
    return [event for event in happened if event.type == "kill" and event.id not in voided]


def as_truth(event: TimelineEvent) -> KillTruth:
    assert event.actor and event.target and event.side and event.target_side
    return KillTruth(
        killer=event.actor.account,
        side=event.side,
        victim=event.target.account,
        victim_side=event.target_side,
        weapon=event.weapon,
        headshot=event.headshot,
        penetrated=event.penetrated,
    )


def assert_same(match: Match, changes: tuple[MatchChange, ...], truth: SeriesTruth) -> None:
    assert_as_played(match, truth)
    assert all(play.rounds == play.counted for play in match.maps)
    true_kills = [replace(kill, assister=None) for m in truth.maps for r in m.rounds for kill in r.kills]
    assert [as_truth(event) for event in kills(changes)] == true_kills
    assert len([play for play in match.maps if play.status == "finished"]) == len(truth.maps)


@pytest.mark.parametrize("seed", short_then_long(range(24), 6))
def test_log_reads_as_played(seed: int) -> None:
    assert_same(*read_match(plan_of(seed)))


@pytest.mark.parametrize("seed", short_then_long(range(100, 104)))
def test_series_reads_as_played(seed: int) -> None:
    assert_same(*read_match(plan_of(seed, best_of=3)))


@pytest.mark.parametrize("seed", short_then_long(range(200, 206), 2))
def test_knife_round_never_counts(seed: int) -> None:
    match, changes, truth = read_match(plan_of(seed, knife=True))
    assert truth.maps[0].knife
    assert not any(event.weapon.startswith("knife") for event in kills(changes))
    assert_same(match, changes, truth)


@pytest.mark.parametrize(("seeds", "found"), [(30, 2), pytest.param(100, 5, marks=pytest.mark.long)])
def test_overtime_reads_as_played(seeds: int, found: int) -> None:
    """The first few seeds whose map goes to overtime, one of them to a second one."""
    logs = (plan_of(seed) for seed in range(300, 300 + seeds))
    played = [(log, len(outcome(log).maps[0].rounds)) for log in logs]
    overtimes = [log for log, rounds in played if rounds > 24]
    assert len(overtimes) >= found
    longest, _ = max(played, key=lambda one: one[1])
    for log in [*overtimes[: found - 1], longest]:
        assert_same(*read_match(log))
