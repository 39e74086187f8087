"""The board calls a book different only for what stands: never for messages on their way."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.demonstration import bookmaker
from scripts.demonstration.report import Look, look, verdict

MATCH, OTHER = "od:match:7", "od:match:8"


def answer(*differences: tuple[str, int, str, bool | None]) -> dict[str, Any]:
    """The self-check's data: match, market, kind and `behind` of each difference."""
    listed = [
        {"match": match, "id": market, "specifiers": "", "kind": kind}
        | ({} if behind is None else {"behind": behind})
        for match, market, kind, behind in differences
    ]
    return {"markets": 60, "matches": 2, "count": len(listed), "kinds": {}, "differences": listed}


def seen(seqs: Mapping[str, int], *differences: tuple[str, int, str, bool | None]) -> Look:
    return look(answer(*differences), seqs, 1_000)


def test_a_new_round_on_its_way_is_no_difference() -> None:
    """A round replaces 20 markets by 50; for a moment the service has them and the book does not."""
    late = [(MATCH, number, "extra", True) for number in range(20)]
    late += [(MATCH, number, "missing", True) for number in range(20, 70)]
    result = verdict(seen({MATCH: 5}, *late), seen({MATCH: 6}))
    assert result is not None and result.count == 0
    assert verdict(seen({MATCH: 5}, *late), seen({MATCH: 6}, *late)) is None


def test_what_both_looks_find_in_a_book_that_is_not_behind_is_a_difference() -> None:
    wrong = (MATCH, 1, "wrong_price", False)
    result = verdict(seen({MATCH: 5}, wrong), seen({MATCH: 6}, wrong))
    assert result is not None and (result.count, result.kinds) == (1, {"wrong_price": 1})


def test_a_message_that_never_comes_is_a_difference() -> None:
    """Behind at both looks, and nothing has come between them."""
    missing = (MATCH, 1, "missing", True)
    result = verdict(seen({MATCH: 5}, missing), seen({MATCH: 5}, missing))
    assert result is not None and result.kinds == {"missing": 1}


def test_another_match_that_moves_on_excuses_nothing() -> None:
    missing = (MATCH, 1, "missing", True)
    result = verdict(seen({MATCH: 5, OTHER: 1}, missing), seen({MATCH: 5, OTHER: 9}, missing))
    assert result is not None and result.count == 1


def test_a_match_with_nothing_open_in_the_book_is_waited_for() -> None:
    """The digest cannot say how far such a match was received, and the answer not whether it is behind."""
    missing = (MATCH, 1, "missing", None)
    assert verdict(seen({}, missing), seen({MATCH: 3}, missing)) is None
    result = verdict(seen({}, missing), seen({}, missing))
    assert result is not None and result.count == 1


async def test_the_board_shows_no_difference_while_a_round_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The self-check differs at its first answer and agrees at its second: the story has that they agree."""
    monkeypatch.setattr(bookmaker, "_AGAIN_SECONDS", 0)
    answers = iter([answer((MATCH, 1, "missing", True)), answer()])
    ours = bookmaker.Bookmaker(
        {
            "exchange": "oddsfeed",
            "base_url": "http://demo",
            "board": {"amqp_url": "amqp://127.0.0.1:9", "slug": "b", "api_key": ""},
        }
    )
    ours._task.cancel()
    await ours._http.aclose()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"data": next(answers)}))
    ours.report.state = "following"
    ours.book.request = ""
    reported = asyncio.Event()
    monkeypatch.setattr(
        ours, "_report_check", lambda found: (ours.watched.add_line("", str(found.count)), reported.set())
    )
    ours._http = httpx.AsyncClient(base_url="http://demo", transport=transport)
    checking = asyncio.create_task(ours._check())
    await reported.wait()
    checking.cancel()
    await ours.close()
    assert [line.text for line in ours.report.story] == ["0"]


_differences = st.lists(
    st.tuples(
        st.sampled_from([MATCH, OTHER]),
        st.integers(1, 4),
        st.sampled_from(["missing", "extra", "stale", "wrong_price"]),
        st.sampled_from([True, False, None]),
    ),
    max_size=6,
)
_seqs = st.dictionaries(st.sampled_from([MATCH, OTHER]), st.integers(1, 3))


@given(_differences, _differences, _seqs, _seqs)
def test_nothing_is_called_a_difference_that_one_look_does_not_have(
    first: list[Any], second: list[Any], before: dict[str, int], after: dict[str, int]
) -> None:
    one, other = seen(before, *first), seen(after, *second)
    result = verdict(one, other)
    both = one.found.keys() & other.found.keys()
    assert result is None or result.count <= len(both)
    assert (result is not None and result.count == 0) == (not other.found)
