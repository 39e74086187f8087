"""What is measured of a history, and the table of all."""

from pathlib import Path

from scripts.histories.outcome import Outcome, pairs_table, store, stored, table


def outcome(*faults: str, heal: float | None, repeated: int = 0) -> Outcome:
    return Outcome(
        seed=1,
        faults=faults,
        steps=20,
        matches=2,
        received=1_000,
        repeated=repeated,
        lost=0,
        invented=0,
        silence=heal or 9.0,
        heal=heal,
        seconds=60.0,
    )


def test_outcomes_are_stored(tmp_path: Path) -> None:
    file = tmp_path / "var" / "outcomes.jsonl"
    assert stored(file) == []
    first, second = outcome("a", "b", heal=1.5), outcome("b", "c", heal=None)
    store(first, file)
    store(second, file)
    assert stored(file) == [first, second]
    again = outcome("a", "b", heal=2.5)
    store(again, file)
    assert stored(file) == [again, second], "the last outcome of a history counts"


def test_the_tables_have_a_row_for_each_fault_and_each_pair() -> None:
    outcomes = [outcome("a", "b", heal=1.5, repeated=2), outcome("a", "c", heal=None)]
    assert table(outcomes).splitlines()[2:] == [
        "| a | 2 | 0 | 0 | 2 of 2,000 | 9.0 | 1.5, 1.5 at most; 1 not in time |",
        "| b | 1 | 0 | 0 | 2 of 1,000 | 1.5 | 1.5, 1.5 at most |",
        "| c | 1 | 0 | 0 | 0 of 1,000 | 9.0 | 1 not in time |",
        "| all, 2 different pairs | 2 | 0 | 0 | 2 of 2,000 | 9.0 | 1.5, 1.5 at most; 1 not in time |",
    ]
    assert [line.split(" | ")[0] for line in pairs_table(outcomes).splitlines()[2:]] == ["| a + b", "| a + c"]
