"""A verifier in JavaScript, by docs/ledger.md, agrees with the example and finds what was altered."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import npm
from tests.support.ledgers import SavedLedger, example

_PROGRAM = Path(__file__).parent / "verify.mjs"
Alter = Callable[[SavedLedger], object]


def verified(saved: SavedLedger, directory: Path) -> str:
    for name, body in saved.answers().items():
        (directory / name).write_bytes(body)
    return npm.run(npm.node(), str(_PROGRAM), str(directory)).strip()


def test_it_finds_no_fault_in_the_example(tmp_path: Path) -> None:
    assert verified(example(), tmp_path) == "7 heads, 10 leaves, 9 shown, 7 digests"


@pytest.mark.parametrize(
    "alter",
    [
        lambda saved: saved.leaves[0].update(hash="ab" * 32),
        lambda saved: saved.leaves.pop(2),
        lambda saved: saved.leaves[1].update(leaf=saved.leaves[1]["leaf"].replace("won", "lost")),
        lambda saved: saved.heads[3].update(signatures=saved.heads[2]["signatures"]),
        lambda saved: saved.heads.pop(2),
        lambda saved: saved.prices[4].update(odds=1.86),
        lambda saved: saved.settlements[2].update(outcome="won"),
        lambda saved: saved.settlements[-1].update(id=saved.settlements[-1]["id"] - 1),
    ],
)
def test_it_finds_what_was_altered(alter: Alter, tmp_path: Path) -> None:
    saved = example()
    alter(saved)
    with pytest.raises(RuntimeError, match="AssertionError|TypeError"):
        verified(saved, tmp_path)
