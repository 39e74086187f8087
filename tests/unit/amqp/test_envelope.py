"""Rows of the change log into envelopes."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer
from app.store.changes import ChangeRow

MATCH = UUID(int=1)


def row(seq: int, message: str, body: bytes) -> ChangeRow:
    return ChangeRow(seq, MATCH, 7, "match", "od:match:7", "", message, 1_000, seq, seq - 1, body)


@pytest.mark.parametrize(
    "broken",
    [row(1, "odds_change", b"no JSON"), row(1, "bet_settlement", b"{}"), row(1, "unheard_of", b"{}")],
)
def test_rows_that_cannot_be_rendered_block_none_after_them(broken: ChangeRow) -> None:
    kick_off = row(2, "fixture_change", b'{"change_type":1}')
    first, second = EnvelopeRenderer("oddsfeed", 2).envelopes([broken, kick_off])
    assert (first.seq, first.frames) == (1, b"")
    assert second.seq == 2
    assert b"fixture_change" in second.frames


def test_a_client_can_tell_how_long_a_log_line_was_under_way() -> None:
    kick_off = row(2, "fixture_change", b'{"change_type":1}')
    by_hand, by_log = EnvelopeRenderer("oddsfeed", 2).envelopes(
        [kick_off, replace(kick_off, envelope_seq=3, arrived_at=990)]
    )
    assert by_hand.message.headers == {"x-seq": 2, "x-prev-seq": 1}
    assert by_log.message.headers == {"x-seq": 3, "x-prev-seq": 1, "x-arrived-at": 990}
