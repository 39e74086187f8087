"""Rows of the change log into envelopes."""

from uuid import UUID

import pytest

from app.channels.feed.outgoing import Press
from app.store.changes import ChangeRow

MATCH = UUID(int=1)


def row(seq: int, message: str, body: bytes) -> ChangeRow:
    return ChangeRow(seq, MATCH, 7, "match", "od:match:7", "", message, 1_000, seq, seq - 1, body)


@pytest.mark.parametrize(
    "broken",
    [row(1, "odds_change", b"no JSON"), row(1, "bet_settlement", b"{}"), row(1, "unheard_of", b"{}")],
)
def test_rows_that_cannot_be_told_stop_nothing_after_them(broken: ChangeRow) -> None:
    kick_off = row(2, "fixture_change", b'{"change_type":1}')
    first, second = Press("oddsfeed", 2).envelopes([broken, kick_off])
    assert (first.seq, first.frames) == (1, b"")
    assert second.seq == 2
    assert b"fixture_change" in second.frames
