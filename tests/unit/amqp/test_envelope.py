"""Rows of the change log into envelopes."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.domain.market import Market, MarketStatus
from app.domain.recovery import RecoveryKind, RecoveryRequest
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


def test_a_second_body_is_rendered_once_and_only_for_those_who_receive_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered: list[bool] = []
    body = MatchMessage.body

    def counted(self: MatchMessage, *args: Any, probabilities: bool = False) -> bytes:
        rendered.append(probabilities)
        return body(self, *args, probabilities=probabilities)

    monkeypatch.setattr(MatchMessage, "body", counted)
    market = Market(13, "map=1|round=3|team=home", MarketStatus.ACTIVE, Decimal("1.93"), 0.512345678)
    odds = replace(row(1, "odds_change", msgspec.json.encode(market)), entity="market")
    (envelope,) = EnvelopeRenderer("oddsfeed", 2).envelopes([odds])
    assert rendered == [False] and b"probabilities" not in envelope.frames
    assert envelope.variants is not None
    first, second = (envelope.variants.render(probabilities=True) for _ in range(2))
    assert rendered == [False, True] and first is second
    assert b'odds="1.93" probabilities="0.512346"' in first[0].body
    assert (first[0].headers, first[0].message_id) == (envelope.message.headers, envelope.message.message_id)


def test_a_durable_queue_writes_all_but_live_odds_to_disk() -> None:
    market = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, Decimal("1.93"), 0.5)
    odds = replace(row(2, "odds_change", msgspec.json.encode(market)), entity="market")
    kick_off = row(3, "fixture_change", b'{"change_type":1}')
    renderer = EnvelopeRenderer("oddsfeed", 2)
    live = [envelope.message.persistent for envelope in renderer.envelopes([odds, kick_off])]
    assert live == [False, True]
    replayed = MatchMessage("odds_change", 7, 0, 5, markets=[market])
    request = RecoveryRequest(kind=RecoveryKind.REST_FULL, after=0, request_id="1", node_id="9")
    assert renderer.replayed(replayed, request, "mf-r1").persistent


def test_messages_without_odds_are_the_same_for_everybody() -> None:
    (envelope,) = EnvelopeRenderer("oddsfeed", 2).envelopes([row(2, "fixture_change", b'{"change_type":1}')])
    assert envelope.variants is None
