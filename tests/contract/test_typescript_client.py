"""The client in TypeScript: its own tests, and that its book and its results are those of the
client in Python, whatever arrives in whatever order.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matchfeed_client import Book, Results, decode

from tests.certification.runs import TYPESCRIPT
from tests.support import npm
from tests.unit.scripts.test_client_book import bodies

_CASES = 100
Step = tuple[Any, ...]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("message"), bodies(), st.integers(0, 9), st.integers(0, 9)),
        st.sampled_from([("suspend",), ("recover", "7")]),
    ),
    max_size=30,
)


@pytest.fixture(scope="module")
def package() -> Path:
    """The client, built; its tests and examples, type-checked and compiled."""
    npm.built(TYPESCRIPT)
    npm.script(TYPESCRIPT, "check")
    return TYPESCRIPT


def test_its_own_tests_pass(package: Path) -> None:
    printed = npm.script(package, "test")
    assert "# fail 0" in printed and "# pass 0" not in printed


def test_it_has_the_book_and_the_results_of_the_client_in_python(package: Path, tmp_path: Path) -> None:
    cases: list[list[Step]] = []

    @settings(max_examples=_CASES, database=None)
    @given(STEPS)
    def collect(steps: list[Step]) -> None:
        cases.append(steps)

    collect()
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    program = package / "build" / "test" / "replay.js"
    found = json.loads(npm.run(npm.node(), str(program), str(tmp_path / "cases.json")))
    for steps, states in zip(cases, found, strict=True):
        for number, (expected, state) in enumerate(zip(_states(steps), states, strict=True)):
            assert _sorted(state) == _sorted(expected), steps[: number + 1]


def _states(steps: list[Step]) -> list[dict[str, Any]]:
    book, results, states = Book(), Results(), []
    for kind, *arguments in steps:
        if kind == "suspend":
            book.suspend()
        elif kind == "recover":
            book.begin_recovery(*arguments)
        else:
            text, seq, previous = arguments
            message = decode(text.encode())
            assert message is not None
            for each in book.receive(message, seq, previous):
                results.receive(each)
        states.append(_shown(book, results))
    return states


def _shown(book: Book, results: Results) -> dict[str, Any]:
    return {
        "offers": [
            [match, *key, offer.timestamp, offer.state, None if offer.odds is None else float(offer.odds)]
            for match, offers in book.offers.items()
            for key, offer in offers.items()
        ],
        "rows": [
            [*key, each.status, each.outcome, each.paid, [list(window) for window in each.void_windows]]
            for key, each in results.markets.items()
            if each.at or each.windows
        ],
        "after": book.after,
        "recovery": book.recovery,
        "due": book.due,
    }


def _sorted(state: dict[str, Any]) -> dict[str, Any]:
    return state | {name: sorted(state[name], key=str) for name in ("offers", "rows")}
