"""Whatever goes wrong on the server, the log reads as what counts, and the book ends sound."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate, groupby

import pytest

from app.domain import facts as f
from app.domain.doubts import SILENT, raise_doubt
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.anomalies import COMMON, Anomalies, LogLine
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, play, simulate
from app.sandbox.simulator.truth import SeriesTruth
from tests.support.lengths import short_then_long
from tests.support.simulated import BEGIN, assert_as_played, outcome, plan_of
from tests.unit.trading.trader import Trader, new_match

SILENT_MS = 30_000  #: after which the service itself suspends
KINDS = {
    "restore": Anomalies(restore=0.15),
    "restart": Anomalies(restart=0.15),
    "crash": Anomalies(crash=0.1),
    "silence": Anomalies(silence=0.1),
    "pause": Anomalies(pause=0.3),
    "reconnect": Anomalies(reconnect=0.3),
    "late": Anomalies(late=0.1),
    "repeat": Anomalies(repeat=0.05),
    "overtimes": Anomalies(overtimes=3),
    "all": COMMON,
}


def plan(anomalies: Anomalies, seed: int, best_of: int = 1) -> MatchPlan:
    return plan_of(seed, best_of=best_of, brief=True, anomalies=anomalies)


def bodies(lines: Iterator[LogLine], seconds: float) -> Iterator[tuple[int, str]]:
    """When each body of so many seconds arrives, and its text; a body is of one server run."""
    for (number, _), some in groupby(lines, key=lambda line: (int(line.at / seconds), line.run)):
        yield BEGIN + int((number + 1) * seconds * 1000), "".join(f"{line.text}\n" for line in some)


def traded(plan: MatchPlan, seconds: float) -> tuple[Trader, SeriesTruth]:
    """The match as read and traded, suspended whenever its source is silent."""
    truth = new_truth(plan)
    trader = Trader.opened(new_match(plan))
    last_at = BEGIN
    for at, body in bodies(play(plan, truth), seconds):
        reading = read(body, at)
        assert reading.unknown == 0, body
        if at - last_at > SILENT_MS + seconds * 1000:
            trader.match = raise_doubt(trader.match, SILENT, "silence")
            trader.react()
            assert not trader.active()
            trader.apply([f.SilenceEnded(at=at), *reading.facts])
        else:
            trader.apply(reading.facts)
        last_at = at
    return trader, truth


def assert_same_kills(trader: Trader, truth: SeriesTruth) -> None:
    """Void ones left out, of every map the same kills in the same order."""
    events = [event for event in trader.events.values() if event.type == "kill" and not event.void]
    seen = [(kill.actor.account, kill.target.account) for kill in events if kill.actor and kill.target]
    true = [kill for a_map in truth.maps for a_round in a_map.rounds for kill in a_round.kills]
    assert seen == [(kill.killer, kill.victim) for kill in true]


def check(anomalies: Anomalies, seed: int, best_of: int = 1, seconds: float = 10.0) -> None:
    trader, truth = traded(plan(anomalies, seed, best_of), seconds)
    assert_as_played(trader.match, truth)
    assert_same_kills(trader, truth)
    assert not trader.open()


def folded(plan: MatchPlan, seconds: float) -> tuple[Match, SeriesTruth]:
    truth = new_truth(plan)
    match = new_match(plan)
    for at, body in bodies(play(plan, truth), seconds):
        match, _ = fold(match, read(body, at).facts)
    return match, truth


@pytest.mark.parametrize("seed", short_then_long(range(3)))
@pytest.mark.parametrize("kind", KINDS)
def test_odd_logs_read_as_played(kind: str, seed: int) -> None:
    assert_as_played(*folded(plan(KINDS[kind], 100 + seed), seconds=4.0))


@pytest.mark.parametrize("kind", KINDS)
def test_odd_logs_leave_a_sound_book(kind: str) -> None:
    check(KINDS[kind], seed=7, seconds=25.0)


def test_an_odd_series_leaves_a_sound_book() -> None:
    check(COMMON, seed=11, best_of=3, seconds=40.0)


def test_what_can_go_wrong_does() -> None:
    """Every break happens in some of these logs, and takes rounds back that had been settled."""
    truths = [outcome(plan(COMMON, seed)).maps[0] for seed in range(24)]
    seen = Counter(anomaly for truth in truths for anomaly in truth.anomalies)
    assert seen.keys() == {"restore", "restart", "crash", "silence", "reconnect"}
    assert sum(bool(truth.voided) for truth in truths) > 8
    for truth in truths:
        assert [played.number for played in truth.rounds] == list(range(1, len(truth.rounds) + 1))


def test_three_overtimes_are_played() -> None:
    truth = outcome(plan(KINDS["overtimes"], 3)).maps[0]
    assert len(truth.rounds) > 24 + 2 * 6 and truth.winner


def test_a_crash_goes_on_in_a_new_run() -> None:
    lines = next(lines for lines, truth in logs(Anomalies(crash=0.1)) if "crash" in truth.maps[0].anomalies)
    runs = [line.run for line in lines]
    assert runs == sorted(runs) and runs[-1] >= 1
    first = next(line for line in lines if line.run == 1)
    assert "Log file started" in first.text


def test_late_lines_are_a_second_late_at_most_and_none_is_lost() -> None:
    usual, _ = simulate(plan(Anomalies(), 5))
    late, _ = simulate(plan(Anomalies(late=0.1), 5))
    assert sorted(line.text for line in late) == sorted(line.text for line in usual)
    assert [line.text for line in late] != [line.text for line in usual]
    assert [line.at for line in late] == sorted(line.at for line in late)
    stamps = [datetime.strptime(f"{line.text[:23]}Z", "%m/%d/%Y - %H:%M:%S.%f%z") for line in late]
    newest = list(accumulate(stamps, max))
    behind = [(new - stamp).total_seconds() for new, stamp in zip(newest, stamps, strict=True)]
    assert 0.2 < max(behind) <= 1.001


def test_repeated_lines_come_twice() -> None:
    usual, _ = simulate(plan(Anomalies(), 6))
    twice, _ = simulate(plan(Anomalies(repeat=0.05), 6))
    more = Counter(line.text for line in twice) - Counter(line.text for line in usual)
    assert sum(more.values()) > 0.05 * len(usual) and more.keys() <= {line.text for line in usual}


def logs(anomalies: Anomalies) -> Iterator[tuple[list[LogLine], SeriesTruth]]:
    return (simulate(plan(anomalies, seed)) for seed in range(20))
