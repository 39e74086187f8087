"""The models in `docs/models`: all states are searched, each mistake that can be put in is found."""

from pathlib import Path

import pytest

from tests.support import spin
from tests.support.lengths import short_then_long

MODELS = Path(__file__).resolve().parents[2] / "docs" / "models"
LEASE, PARTITIONS = MODELS / "feed-lease.pml", MODELS / "partition-assignment.pml"
SLOT = MODELS / "recovery-slot.pml"
_CALM = ("CUTS=0", "RELEASES=0", "LATE=0")  #: nothing but faults of processes
#: The first of each model is for the gate.
SEARCHES = {
    LEASE: (_CALM, ("FAULTS=1",), ("CUTS=0", "RELEASES=0")),
    PARTITIONS: (("REBALANCES=1",), (), ("BATCHES=3", "REBALANCES=1")),
    SLOT: (
        ("COMMITS=0", "CUTS=0", "LATE=0", "EXPIRIES=0"),
        ("CUTS=0", "LATE=0", "EXPIRIES=0"),
        ("FAULTS=0", "CUTS=0"),
        ("FAULTS=0", "RELEASES=0"),
        ("REQUESTS=3", "COMMITS=0", "CUTS=0", "RELEASES=0", "LATE=0"),
    ),
}
MISTAKES = {
    LEASE: {
        "BUG_ONLY_LAST_HOLDER_IS_FENCED": ("mine>=writer", _CALM),
        "BUG_NO_FENCE": ("mine>=writer", ()),
        "BUG_CURSOR_AT_SENT": ("seq<=delivered", ()),
        "BUG_LATE_CHECKPOINT": ("late>=seq", ()),
        "BUG_RELEASED_UNDRAINED": ("mine>=writer", ()),
    },
    PARTITIONS: {
        "BUG_ONLY_LAST_ID": ("==next", ()),
        "BUG_NOT_SINGLE_ACTIVE": ("applying", ()),
        "BUG_YIELDS_FOR_GOOD": ("acknowledged", ()),
    },
    SLOT: {
        "BUG_RELEASED_UNDRAINED": (">=last_run", ()),
        "BUG_RELEASES_ANY_SLOT": ("lapsed", ("REQUESTS=3", "CUTS=0", "RELEASES=0", "FAULTS=0", "LATE=0")),
        "BUG_COMPLETED_UNCONFIRMED": ("lapsed", ()),
        "BUG_LOST_JOBS_STAY": ("book==version", ()),
        "BUG_STAMPED_AFTER_READING": ("book==version", ()),
    },
}


@pytest.fixture(autouse=True, scope="module")
def _spin() -> None:
    spin.require()


@pytest.mark.parametrize(
    ("model", "definitions"),
    [
        pytest.param(model, case.values[0], marks=case.marks, id=f"{model.stem} {' '.join(case.values[0])}")
        for model, cases in SEARCHES.items()
        for case in short_then_long(cases)
    ],
)
def test_no_state_violates_what_is_claimed(model: Path, definitions: tuple[str, ...]) -> None:
    found = spin.check(model, *definitions)
    print(f"{model.stem} {' '.join(definitions)}: {found.states} states, depth {found.depth}")
    assert not found.violated
    assert found.states > 10_000, "it does next to nothing"


@pytest.mark.parametrize(
    ("model", "mistake"),
    [
        pytest.param(model, case.values[0], marks=case.marks, id=f"{model.stem} {case.values[0]}")
        for model, mistakes in MISTAKES.items()
        for case in short_then_long(mistakes)
    ],
)
def test_a_mistake_that_is_put_in_is_found(model: Path, mistake: str) -> None:
    violated, definitions = MISTAKES[model][mistake]
    found = spin.check(model, mistake, *definitions)
    print(f"{model.stem} {mistake}: {found.states} states, violated: {found.violated[:60]}")
    assert violated in found.violated
