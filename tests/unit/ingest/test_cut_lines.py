"""A log may be cut anywhere: what a body ends within is read with the rest of its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ingest.cut_lines import says_something, whole_lines
from tests.support import logs

LOG = logs.body(
    *logs.kick_off(),
    *logs.live(),
    logs.kill('"Ключ — 01/19/2026<1><[U:1:101]><CT>"', logs.T[0], extra=" (headshot)"),
    logs.plant(logs.T[1]),
    *logs.ct_win(1, 0),
    f"Game Over: competitive {logs.MAP} score 13:11 after 40 min",
)


def read(bodies: list[bytes]) -> bytes:
    """What is read of them, and in the end what still waits."""
    found, begun = b"", b""
    for body in bodies:
        lines, begun = whole_lines(begun, body)
        found += lines
    return found + begun


@settings(deadline=None)
@given(st.lists(st.integers(1, len(LOG) - 1), max_size=12))
def test_a_log_that_is_cut_anywhere_is_read_as_it_was_written(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(LOG)]
    assert read([LOG[begin:end] for begin, end in zip(places, places[1:], strict=False)]) == LOG


@pytest.mark.parametrize("size", [1, 7, 100, 400])
def test_no_line_is_read_before_its_end(size: int) -> None:
    begun = LOG[:5]
    for at in range(5, len(LOG), size):
        lines, begun = whole_lines(begun, LOG[at : at + size])
        assert set(lines.splitlines()) <= set(LOG.splitlines()) or not says_something(lines)


def test_bodies_without_their_last_line_end_are_whole_lines() -> None:
    """As a relay sends them that splits a log into lines and joins some again."""
    begun, found = b"", []
    for line in LOG.splitlines():
        lines, begun = whole_lines(begun, line)
        assert begun or lines
        assert not says_something(begun)
        found += lines.splitlines()
    assert found == LOG.splitlines()


@pytest.mark.parametrize("body", [b"", b"\n", b"\r\n\x00", b'{"event": "round_end"}', b"x" * 9_000])
def test_what_begins_no_line_of_a_log_does_not_wait(body: bytes) -> None:
    assert whole_lines(b"", body) == (body, b"")
