"""The change rows of a transaction: their order, frame and message."""

from decimal import Decimal
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.commands.change_drafts import compose
from app.domain import changes as c
from app.domain.loadout import Loadout
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import CurrentRound, MapPlay, Match, Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store.changes import ChangeDraft

BEFORE = Match(
    id=UUID(int=1), number=7, home="Northwind", away="Harbour", event="Cup", status=Status.UPCOMING
)
LIVE = replace(BEFORE, status=Status.LIVE)
KILL = TimelineEvent(id=1, type="kill", map=1, round=1, at=5, offset_ms=5)
PLAYED = Round(2, 1, 1, "home", "CT", "kills", 1, 0, 1, 9)
MARKET = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, Decimal("1.80"), 0.5)
WON = LedgerEntry(13, MARKET.specifiers, LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "won", (2,))


def rows(drafts: list[ChangeDraft]) -> list[tuple[str, str, str]]:
    return [(draft.entity, draft.frame, draft.message) for draft in drafts]


def test_a_full_transaction_in_the_order_of_the_contract() -> None:
    settled = replace(MARKET, status=MarketStatus.SETTLED, result=Result.WON)
    changes = (c.MatchStarted(), c.RoundLive(1, 1), c.EventAdded(KILL), c.RoundFinished(PLAYED))
    drafts = compose(BEFORE, LIVE, changes, {MARKET.key: MARKET}, (settled,), (WON,))
    assert rows(drafts) == [
        ("round", "round.started", ""),
        ("event", "event.kill", ""),
        ("round", "round.finished", ""),
        ("match", "", "fixture_change"),
        ("settlement", "bet_settlement", "bet_settlement"),
        ("match", "match.updated", "odds_change"),
        ("market", "market.updated", "odds_change"),
    ]
    assert msgspec.json.decode(drafts[3].body) == {"change_type": 1}
    assert drafts[4].entry == WON
    assert msgspec.json.decode(drafts[6].body, type=Market) == settled


def test_without_a_change_there_are_no_rows() -> None:
    assert compose(LIVE, replace(LIVE, last_arrived_at=99), (), {}, (), ()) == []


def test_what_the_summary_does_not_show_goes_to_the_stream_alone() -> None:
    drafts = compose(LIVE, replace(LIVE, suspended="silent"), (c.DetailsChanged(),), {}, (), ())
    assert rows(drafts) == [("match", "match.updated", "")]


def test_a_cancellation_is_a_fixture_change_of_its_own_kind() -> None:
    drafts = compose(LIVE, replace(LIVE, status=Status.CANCELLED), (c.MatchCancelled(),), {}, (), ())
    assert rows(drafts) == [("match", "", "fixture_change"), ("match", "match.updated", "odds_change")]
    assert msgspec.json.decode(drafts[0].body) == {"change_type": 3}


def test_birth_and_end_of_a_match() -> None:
    assert rows(compose(None, BEFORE, (), {}, (), ())) == [("match", "match.created", "odds_change")]
    ended = replace(LIVE, status=Status.FINISHED)
    assert rows(compose(LIVE, ended, (), {}, (), ())) == [("match", "match.finished", "odds_change")]


def test_a_market_row_has_the_frame_of_its_change() -> None:
    suspended = replace(MARKET, status=MarketStatus.SUSPENDED)
    repriced = replace(MARKET, odds=Decimal("1.90"))
    cases = [
        (None, MARKET, "market.created"),
        (MARKET, suspended, "market.suspended"),
        (suspended, MARKET, "market.unsuspended"),
        (MARKET, repriced, "market.updated"),
        (suspended, replace(suspended, reason="other"), "market.updated"),
    ]
    for old, new, frame in cases:
        book = {old.key: old} if old else {}
        assert rows(compose(LIVE, LIVE, (), book, (new,), ()))[-1] == ("market", frame, "odds_change")


def test_where_nothing_is_on_offer_any_more_a_row_before_the_others_says_so() -> None:
    other = replace(MARKET, specifiers="map=1|round=1|team=away")
    suspended = [replace(one, status=MarketStatus.SUSPENDED) for one in (MARKET, other)]
    book = {one.key: one for one in (MARKET, other)}
    closed = replace(MARKET, status=MarketStatus.SETTLED, result=Result.WON)
    stop, match = ("bet_stop", "", ""), ("match", "", "odds_change")
    assert rows(compose(LIVE, LIVE, (), book, suspended, ()))[:2] == [stop, match]
    assert rows(compose(LIVE, LIVE, (), book, (closed, suspended[1]), (WON,)))[1:3] == [stop, match]
    for changed in (
        suspended[:1],  # the other one is still on offer
        [suspended[0], replace(other, odds=Decimal("2.1"))],
        [closed, replace(closed, specifiers=other.specifiers)],  # both are over: nothing is suspended
    ):
        assert stop not in rows(compose(LIVE, LIVE, (), book, changed, ()))
    off = {one.key: one for one in suspended}
    again = [replace(one, reason="another") for one in suspended]
    assert stop not in rows(compose(LIVE, LIVE, (), off, again, ()))  # nothing was on offer before


def test_void_rounds_and_events_are_in_the_match() -> None:
    drafts = compose(LIVE, LIVE, (c.RoundsVoided(map=1, rounds=(PLAYED,), events=(1,)),), {}, (), ())
    assert rows(drafts) == [("round", "", ""), ("match", "match.updated", "")]
    assert msgspec.json.decode(drafts[0].body, type=Round).void
    drafts = compose(LIVE, LIVE, (c.RoundsVoided(map=1, rounds=(), events=(1,)),), {}, (), ())
    assert rows(drafts) == [("match", "match.updated", "")]


def test_the_scoreboard_has_a_row_when_it_changes() -> None:
    play = MapPlay(1, "de_inferno", "live", home_side="CT")
    playing = replace(LIVE, maps=(play,), current=CurrentRound(1, 1, "live"))
    hurt = replace(playing, loadouts=(Loadout(1, "ann", "CT", health=40),))
    changed = ("scoreboard", "scoreboard.frame", "")
    assert rows(compose(playing, hurt, (), {}, (), ())) == [changed]
    assert rows(compose(hurt, hurt, (), {}, (), ())) == []
    assert changed in rows(compose(hurt, replace(hurt, current=None), (), {}, (), ()))
    assert rows(compose(LIVE, replace(LIVE, loadouts=hurt.loadouts), (), {}, (), ())) == []
