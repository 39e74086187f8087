"""The benchmark of the live page: which line must show what, and the figures of a run."""

from pathlib import Path

import msgspec
import pytest

from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from scripts.bench.console import stored
from scripts.bench.console_figures import Run, draw, slices, table
from scripts.bench.console_page import LongTask, Memory, Work, parsed_row
from scripts.bench.console_play import Delay, Facts, Shown, noted

MINUTE = 60_000.0


def delays(facts: Facts, fact: Shown, at: float) -> list[float]:
    return [each.painted for each in facts.seen(fact, at, at)]


def run(matches: int = 10, **fields: object) -> Run:
    """Two minutes, in which one line was shown each second, after 200 ms in the first minute and 300 in the
    second."""
    painted = [200.0] * 60 + [300.0] * 60
    values: dict[str, object] = {
        "matches": matches,
        "begin": 0.0,
        "end": 2 * MINUTE,
        "delays": [Delay(each * 1000, wait - 10, wait) for each, wait in enumerate(painted)],
        "missed": 0,
        "waiting": 0,
        "long_tasks": [LongTask(90_000, 60)],
        "memory": [Memory(each * MINUTE, (1 + each) * 1024**2, 500, 8, 1024**2) for each in range(3)],
        "work": Work(1.2, 0.6, 0.3, 0.3, 120 * 1024, 240),
        "closed": {"web": 0.1},
        "open": {"web": 0.2},
    }
    return Run(**(values | fields))  # type: ignore[arg-type]


def test_a_line_counts_from_its_request_to_the_row_that_shows_it() -> None:
    facts = Facts()
    for dead, end in ((0, 10), (1, 20), (2, 30)):
        facts.expect(end, Shown(1, 1, dead))
    facts.sent(20, 1000)
    facts.sent(20, 1500)  # the same bytes again
    assert delays(facts, Shown(1, 1, 1), 1200) == [200, 200]
    assert delays(facts, Shown(1, 1, 1), 1900) == [] and facts.waiting(9999) == 0
    facts.sent(30, 2000)
    assert facts.waiting(2000) == 0 and facts.waiting(2001) == 1
    assert delays(facts, Shown(1, 2, 0), 2700) == [700], "a later state shows it, too"


def test_a_row_does_not_show_what_was_not_sent() -> None:
    facts = Facts()
    facts.expect(10, Shown(1, 1, 0))
    assert delays(facts, Shown(1, 1, 0), 5) == []
    facts.sent(9, 1)
    assert facts.waiting(9999) == 0


def test_the_lines_of_a_match_show_every_round_and_every_death() -> None:
    home, away = fictional_world().teams[:2]
    plan = MatchPlan(home, away, 1, 0, knife=False, brief=True)
    lines, truth = simulate(plan)
    facts = Facts()
    assert list(noted(lines, home.name, away.name, facts)) == lines and facts.over
    expected = facts._facts
    assert expected == sorted(set(expected)) and expected[0] == Shown(1, 1, 0)
    assert expected[-1].round == len(truth.maps[0].rounds)
    assert {each.dead for each in expected if each.round == 1} == set(
        range(len(truth.maps[0].rounds[0].kills) + 1)
    )
    assert facts._ends[-1] <= sum(len(line.text.encode()) + 1 for line in lines)


@pytest.mark.parametrize(
    ("score", "round_", "alive", "fact"),
    [
        ("1:0 bo3 mirage 3:4 CT", "8 live 1:20", "●●●○○ ●●●●○3v4", Shown(2, 8, 3)),
        ("bo1 nuke 0:0", "1 freeze", "●●●●● ●●●●●5v5", Shown(1, 1, 0)),
        ("bo1 nuke 7:12 T", "20 round over", "○○○○○ ●●●●●0v5", Shown(1, 20, 5)),
        ("1:1 bo3", "", "", None),
        ("bo1 nuke 0:0", "warmup", "", None),
    ],
)
def test_a_row_is_read_as_it_is_shown(score: str, round_: str, alive: str, fact: Shown | None) -> None:
    found = parsed_row(["12", score, round_, alive, 5.0, 6.0])
    assert (found and (found.match, found.fact, found.arrived, found.painted)) == (
        fact and (12, fact, 5.0, 6.0)
    )


def test_figures_are_of_the_time_that_was_measured() -> None:
    found = run().figures()
    assert found["changes of a score or of players alive, a second"] == 1
    assert (found["line to screen, p50 ms"], found["line to screen, p99 ms"]) == (300, 300)
    assert found["browser to screen, p50 ms"] == 10
    assert (found["long tasks a minute"], found["longest task, ms"]) == (0.5, 60)
    assert found["main thread, % of a core"] == pytest.approx(1)
    assert (found["heap, MB, first third"], found["heap, MB, last third"]) == (1, 3)
    assert found["stream, KB a second"] == 1


def test_runs_are_compared_with_the_first() -> None:
    slower = run(200, work=Work(2.4, 0.6, 0.3, 0.3, 240 * 1024, 240))
    lines = table(run(), slower).splitlines()
    assert lines[0] == "| | 10 matches | 200 matches | ratio |"
    assert "| stream, KB a second | 1.0 | 2.0 | 2.00 |" in lines
    assert all(line.count("|") == 5 for line in lines)


def test_a_run_is_cut_into_equal_parts() -> None:
    first, second = slices(run(), 2)
    assert (first.at, first.p50, first.long_tasks) == (0.5, 200, 0)
    assert (second.at, second.p50, second.long_tasks) == (1.5, 300, 1)


def test_runs_are_stored_and_drawn(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    assert stored(file) == {} == stored(None)
    file.write_bytes(b"\n".join(msgspec.json.encode(each) for each in (run(), run(200))))
    assert stored(file) == {10: run(), 200: run(200)}
    draw(list(stored(file).values()), tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
