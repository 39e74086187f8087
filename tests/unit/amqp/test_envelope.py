"""Rows of the change log into envelopes."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.domain.market import Market, MarketStatus, Result
from app.domain.recovery import RecoveryKind, RecoveryRequest
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store.changes import ChangeRow
from tests.unit.amqp.brokered import change

MARKET = Market(13, "map=1|round=3|team=home", MarketStatus.ACTIVE, Decimal("1.93"), 0.512345678)
ODDS = replace(change(1, "odds_change", msgspec.json.encode(MARKET)), entity="market")
KICK_OFF = change(2, "fixture_change")
RENDERER = EnvelopeRenderer("oddsfeed", 2)


@pytest.mark.parametrize(
    "broken",
    [change(1, "odds_change", b"no JSON"), change(1, "bet_settlement", b"{}"), change(1, "unheard_of")],
)
def test_rows_that_cannot_be_rendered_block_none_after_them(broken: ChangeRow) -> None:
    first, second = RENDERER.envelopes([broken, KICK_OFF])
    assert (first.seq, first.frames) == (1, b"")
    assert second.seq == 2
    assert b"fixture_change" in second.frames


def test_a_client_can_tell_how_long_a_log_line_was_under_way() -> None:
    by_hand, by_log = RENDERER.envelopes([KICK_OFF, replace(KICK_OFF, envelope_seq=3, arrived_at=990)])
    assert by_hand.message.headers == {"timestamp_in_ms": 1000, "x-seq": 2, "x-prev-seq": 1}
    assert by_log.message.headers == by_hand.message.headers | {"x-seq": 3, "x-arrived-at": 990}


def test_an_envelope_names_the_families_of_its_results() -> None:
    """Each once, whatever number of markets it has; those of voids and odds are no results."""
    entry = LedgerEntry(13, "", LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "")
    keys = ("13:map=1|round=3|team=home", "13:map=1|round=3|team=away", "6:map=1|team=home")
    rows = [
        replace(
            change(
                3, "bet_settlement", msgspec.json.encode(replace(entry, specifiers=key.partition(":")[2]))
            ),
            entity="settlement",
            key=key,
        )
        for key in keys
    ]
    [results] = RENDERER.envelopes(rows)
    assert results.families == ("map_winner", "round_winner")
    assert [each.families for each in RENDERER.envelopes([ODDS, KICK_OFF])] == [(), ()]


def test_a_second_body_is_rendered_once_and_only_for_those_who_receive_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered: list[bool] = []
    body = MatchMessage.body

    def counted(self: MatchMessage, *args: Any, probabilities: bool = False) -> bytes:
        rendered.append(probabilities)
        return body(self, *args, probabilities=probabilities)

    monkeypatch.setattr(MatchMessage, "body", counted)
    (envelope,) = RENDERER.envelopes([ODDS])
    assert rendered == [False] and b"probabilities" not in envelope.frames
    assert envelope.variants is not None
    first, second = (envelope.variants.render(probabilities=True) for _ in range(2))
    assert rendered == [False, True] and first is second
    assert b'odds="1.93" probabilities="0.512346"' in first[0].body
    assert (first[0].headers, first[0].message_id) == (envelope.message.headers, envelope.message.message_id)


def test_a_bet_stop_is_a_message_of_its_own_before_the_odds_change() -> None:
    """Its number and timestamp are between those of the messages around it, and no message refers to it."""
    first = {"envelope_seq": 8, "prev_seq": 3, "arrived_at": 990}
    stop = replace(ODDS, seq=7, entity="bet_stop", message="", body=b"{}", at=999, **first)
    found = list(RENDERER.envelopes([stop, replace(ODDS, seq=8, **first)]))
    assert [(one.name, one.seq, one.prev_seq, one.at) for one in found] == [
        ("bet_stop", 7, 3, 999),
        ("odds_change", 8, 3, 1000),
    ]
    message = found[0].message
    assert (message.routing_key, message.message_id) == ("hi.-.live.bet_stop.2.od:match.7.-", "mf-7")
    assert message.headers == {"timestamp_in_ms": 999, "x-seq": 7, "x-prev-seq": 3, "x-arrived-at": 990}
    about = b'product="2" event_id="od:match:7" timestamp="999"'
    assert message.body == b'<bet_stop %b groups="all" market_status="-1"/>' % about
    (alone,) = RENDERER.envelopes([replace(ODDS, seq=8, **first)])
    assert alone.frames == found[1].frames


def test_a_durable_queue_writes_all_but_live_odds_to_disk() -> None:
    live = [envelope.message.persistent for envelope in RENDERER.envelopes([ODDS, KICK_OFF])]
    assert live == [False, True]
    replayed = MatchMessage("odds_change", 7, 0, 5, markets=[MARKET])
    request = RecoveryRequest(kind=RecoveryKind.REST_FULL, after=0, request_id="1", node_id="9")
    assert RENDERER.replayed(replayed, request, "mf-r1").persistent


def test_messages_without_odds_are_the_same_for_everybody() -> None:
    (envelope,) = RENDERER.envelopes([KICK_OFF])
    assert envelope.variants is None
