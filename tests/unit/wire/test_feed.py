"""What the feed's builders promise beyond the schema."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.domain.market import Market, MarketStatus, Result
from app.domain.match import MapPlay, MatchSummary, Status
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.wire.xml import feed

EVENT, PRODUCT, STAMP = "od:match:7", 2, 1_932_912_000_125
LISTED_CODES = {"0", "1", "4", "5"}

specifiers = st.sampled_from(["", "map=1", "map=1|round=3|team=home", "team=a & b", "name=<\t>"])
markets = st.builds(
    Market,
    type_id=st.integers(1, 60),
    specifiers=specifiers,
    status=st.sampled_from(MarketStatus),
    odds=st.decimals(Decimal("1.01"), 50, places=3),
    probability=st.floats(0, 1),
    opened_at=st.integers(0, STAMP),
)
maps = st.builds(
    MapPlay,
    number=st.integers(1, 5),
    status=st.sampled_from(["upcoming", "live", "finished"]),
    home_score=st.integers(0, 30),
    away_score=st.integers(0, 30),
    winner=st.sampled_from([None, "home", "away"]),
    home_side=st.sampled_from([None, "CT", "T"]),
)
summaries = st.builds(
    MatchSummary,
    number=st.just(7),
    status=st.sampled_from(Status),
    home=st.text(),
    away=st.text(),
    score_home=st.integers(0, 3),
    score_away=st.integers(0, 3),
    winner=st.sampled_from([None, "home", "away"]),
    home_id=st.none() | st.integers(1, 99),
    away_id=st.none() | st.integers(1, 99),
    maps=st.lists(maps, max_size=3).map(tuple),
    round=st.none() | st.integers(1, 40),
)
request_ids = st.from_regex("[1-9][0-9]{0,63}", fullmatch=True)


def read(document: bytes) -> Any:
    return etree.fromstring(document)


def entry(outcome: Result | None = Result.WON, **more: Any) -> LedgerEntry:
    return LedgerEntry(
        type_id=13,
        specifiers="map=1|round=3|team=home",
        previous_status=LedgerStatus.PENDING,
        new_status=LedgerStatus.SETTLED,
        result=outcome,
        reason="",
        **more,
    )


@given(st.none() | summaries, st.lists(markets, max_size=4), request_ids, st.integers(STAMP, STAMP * 2))
def test_a_replay_is_the_live_message_with_its_root_stamped(
    head: MatchSummary | None, offers: list[Market], request_id: str, stamp: int
) -> None:
    live = feed.odds_change(EVENT, PRODUCT, STAMP, head, offers)
    replayed = feed.odds_change(EVENT, PRODUCT, stamp, head, offers, request_id)
    old, new = f'timestamp="{STAMP}"', f'timestamp="{stamp}" request_id="{request_id}"'
    assert replayed == live.replace(old.encode(), new.encode(), 1)


@pytest.mark.parametrize(
    "message", ["bet_settlement", "bet_cancel", "rollback_bet_settlement", "rollback_bet_cancel"]
)
def test_replayed_history_is_stamped_alike(message: str) -> None:
    live = feed.ledger_message(message, EVENT, PRODUCT, STAMP, [entry()])
    replayed = feed.ledger_message(message, EVENT, PRODUCT, STAMP, [entry()], "77")
    stamp = f'timestamp="{STAMP}"'.encode()
    assert replayed == live.replace(stamp, stamp + b' request_id="77"', 1)


@given(summaries, st.lists(markets, max_size=4))
def test_caching_fragments_changes_no_byte(head: MatchSummary, offers: list[Market]) -> None:
    feed.clear_caches()
    fresh = feed.odds_change(EVENT, PRODUCT, STAMP, head, offers)
    assert feed.odds_change(EVENT, PRODUCT, STAMP, head, offers) == fresh


@given(st.lists(markets, max_size=6))
def test_every_market_is_listed_in_order_with_its_one_outcome(offers: list[Market]) -> None:
    nodes = list(read(feed.odds_change(EVENT, PRODUCT, STAMP, None, offers)).find("odds"))
    assert [int(node.get("id")) for node in nodes] == [market.type_id for market in offers]
    for node, market in zip(nodes, offers, strict=True):
        (outcome,) = node
        assert node.get("status") == str(int(market.status))
        assert node.get("specifiers") == (market.specifiers or None)
        assert outcome.get("id") == "1"
        assert outcome.get("active") == ("1" if market.status is MarketStatus.ACTIVE else "0")
        assert outcome.get("odds") == (str(market.odds) if market.open else None)


@given(st.lists(markets, min_size=1, max_size=6))
def test_a_live_market_has_no_name(offers: list[Market]) -> None:
    root = read(feed.odds_change(EVENT, PRODUCT, STAMP, None, offers))
    named = [
        node for node in root.iter("market", "outcome") if {"name", "variant", "type"} & set(node.attrib)
    ]
    assert named == []


@given(summaries)
def test_state_uses_listed_codes_only(head: MatchSummary) -> None:
    status = read(feed.odds_change(EVENT, PRODUCT, STAMP, head, [])).find("sport_event_status")
    assert status.get("status") == status.get("match_status") == str(head.status.code)
    assert {node.get("match_status_code") for node in status.iter("period_score")} <= LISTED_CODES
    assert len(list(status.iter("period_score"))) == len(head.maps)


@given(summaries)
def test_a_winner_is_published_of_a_closed_match_only(head: MatchSummary) -> None:
    status = read(feed.odds_change(EVENT, PRODUCT, STAMP, head, [])).find("sport_event_status")
    known = head.home_id if head.winner == "home" else head.away_id if head.winner else None
    closed = head.status is Status.FINISHED and known is not None
    assert status.get("winner_id") == (f"mf:competitor:{known}" if closed else None)


@given(summaries)
def test_a_scoreboard_is_present_when_it_is_available(head: MatchSummary) -> None:
    status = read(feed.odds_change(EVENT, PRODUCT, STAMP, head, [])).find("sport_event_status")
    assert (status.find("scoreboard") is not None) == (status.get("scoreboard_available") == "1")


@pytest.mark.parametrize(("side", "team"), [("CT", "1"), ("T", "2"), (None, None)])
def test_the_scoreboard_has_the_side_of_each_team(side: Any, team: str | None) -> None:
    play = MapPlay(number=1, status="live", home_side=side)
    head = MatchSummary(number=7, status=Status.LIVE, home="", away="", maps=(play,))
    (board,) = read(feed.odds_change(EVENT, PRODUCT, STAMP, head, [])).iter("scoreboard")
    assert board.get("current_ct_team") == team


@pytest.mark.parametrize(("outcome", "result"), [(Result.WON, "1"), (Result.LOST, "0")])
def test_a_settlement_is_won_or_lost(outcome: Result, result: str) -> None:
    (market,) = read(feed.ledger_message("bet_settlement", EVENT, PRODUCT, STAMP, [entry(outcome)])).find(
        "outcomes"
    )
    assert [(node.get("id"), node.get("result")) for node in market] == [("1", result)]


@pytest.mark.parametrize("outcome", [None, Result.VOID])
def test_a_settlement_without_a_result_is_refused(outcome: Result | None) -> None:
    with pytest.raises(ValueError, match="won or lost"):
        feed.ledger_message("bet_settlement", EVENT, PRODUCT, STAMP, [entry(outcome)])


def test_a_void_names_its_reason_and_4_when_it_has_none() -> None:
    entries = [entry(Result.VOID), entry(Result.VOID, void_reason_id=14)]
    nodes = read(feed.ledger_message("bet_cancel", EVENT, PRODUCT, STAMP, entries))
    assert [node.get("void_reason_id") for node in nodes] == ["4", "14"]


def test_an_unknown_change_type_is_refused() -> None:
    with pytest.raises(ValueError, match="2 is not a valid"):
        feed.fixture_change(EVENT, PRODUCT, STAMP, 2)
