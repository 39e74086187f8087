"""Bets placed in rounds that are played again are void; the market stays open, and settles.

How another format changes the book: no bet of the old format is settled by the new one.
"""

from collections.abc import Iterable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain import fixture
from app.domain.market import MarketStatus, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.kit.errors import Conflict
from app.trading.void_bets import FORMAT_CHANGED
from tests.unit.domain.play import Server, new_match
from tests.unit.domain.test_formats import halfway, play, sight_all
from tests.unit.trading.test_engine import TradedServer, team
from tests.unit.trading.trader import Trader

MAP_WINNER, MATCH_WINNER = (6, "map=1|team=home"), (1, "team=home")


@pytest.fixture
def server() -> TradedServer:
    """Of a best of three, so that there is a map to come."""
    return TradedServer.started(new_match(3))


def windows(trader: Trader) -> list[LedgerEntry]:
    return [entry for entry in trader.ledger if entry.void_window is not None]


def of(server: TradedServer, key: tuple[int, str]) -> list[VoidWindow | None]:
    return [entry.void_window for entry in windows(server.trader) if entry.key == key]


def ended(server: TradedServer, number: int) -> int:
    return next(one.ended_at for one in server.match.maps[0].counted if one.number == number)


def test_bets_of_replayed_rounds_are_void_and_the_market_goes_on(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(2, 0)
    window = VoidWindow(ended(server, 2), server.trader.now)
    for key in ((13, team(3)), (13, team(4)), MAP_WINNER, MATCH_WINNER):
        assert of(server, key) == [window]
        assert server.trader.book[key].status is MarketStatus.ACTIVE
    server.rounds("home")
    assert server.trader.of(13, team(3)).result is Result.WON
    assert of(server, (13, team(3))) == [window], "what is taken from then on counts"


def test_one_window_for_all_that_was_replayed_together(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(1, 0)
    assert {entry.void_window for entry in windows(server.trader)} == {
        VoidWindow(ended(server, 1), server.trader.now)
    }


def test_an_entry_about_a_window_shows_where_its_market_stands(server: TradedServer) -> None:
    server.rounds("home", "home", "away")
    server.freeze_at(2, 0)
    for entry in windows(server.trader):
        assert (entry.previous_status, entry.new_status) == (LedgerStatus.PENDING, LedgerStatus.PENDING)
        assert (entry.result, entry.message, entry.void_reason_id) == (None, "bet_cancel", 4)
        assert set(entry.rests_on) == {played.id for played in server.match.maps[0].rounds if played.void}


def test_what_stands_is_left_alone(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(2, 0)
    assert of(server, (13, team(2))) == [], "that round counts"
    assert of(server, (6, "map=2|team=home")) == [], "nothing of the next map was played"


def test_what_was_off_offer_all_the_while_took_no_bets(server: TradedServer) -> None:
    """At 8:0 much is too certain to be sold, and stays so; lines about players may come back."""
    server.rounds(*["home"] * 8)
    at_eight, trader = server.trader.now, server.trader
    off_offer = {market.key for market in trader.open()} - {market.key for market in trader.active()}
    server.rounds("home", "home")
    server.freeze_at(9, 0)
    gone = {key for key in off_offer if trader.offered[key] <= at_eight}
    assert {key for key in off_offer if key[0] not in (36, 37)} <= gone
    windowed = {entry.key for entry in windows(server.trader)}
    assert gone and windowed and not gone & windowed


def test_what_went_off_offer_meanwhile_took_bets_until_then(server: TradedServer) -> None:
    server.rounds("home", "home")
    server.opening_kill("home")
    decided = (30, "map=1|round=3")
    assert server.trader.book[decided].status is MarketStatus.SUSPENDED
    server.freeze_at(2, 0)
    assert len(of(server, decided)) == 1


def test_a_round_that_is_begun_again_takes_its_bets_with_it(server: TradedServer) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.FreezeStarted(at=server.later()))
    window = VoidWindow(ended(server, 1), server.trader.now)
    assert of(server, (13, team(2))) == of(server, (14, team(2))) == [window]


def test_a_map_that_is_begun_again_takes_its_bets_with_it(server: TradedServer) -> None:
    server.rounds("home", "home")
    server.report(f.PlayStarted(at=server.later(), map_name=server.map_name))
    begun = server.match.maps[0].started_at
    assert begun is not None
    assert of(server, MAP_WINNER) == [VoidWindow(begun, server.trader.now)]


def test_a_round_with_an_unseen_end_is_not_replayed(server: TradedServer) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.DataLost(at=server.later(), reason="a part of the log is missing"))
    server.freeze_at(2, 0)
    assert windows(server.trader) == []


def test_nothing_happened_so_nothing_is_void(server: TradedServer) -> None:
    server.rounds("home")
    server.go_live()
    server.report(f.FreezeStarted(at=server.later()))
    assert windows(server.trader) == []


def test_each_replay_has_its_window(server: TradedServer) -> None:
    """The second begins where the first replayed round had ended: what was before is void already."""
    server.rounds("home", "home", "away")
    since, again = ended(server, 2), ended(server, 3)
    server.freeze_at(2, 0)
    first = server.trader.now
    server.rounds("away")
    server.freeze_at(2, 0)
    assert of(server, MAP_WINNER) == [VoidWindow(since, first), VoidWindow(again, server.trader.now)]


BY_FORMAT = {7, 8, 9, 10, 25, 26, 31}


class TradedSeries:
    """A server whose facts are folded first and traded when `trade` is called."""

    def __init__(self) -> None:
        self.trader = Trader.opened(new_match())
        self.server = Server(self.trader.match)
        self.seen = 0

    def trade(self) -> None:
        changes = self.server.changes[self.seen :]
        self.seen = len(self.server.changes)
        self.trader.match = self.server.match
        self.trader.react(changes)

    def set_format(self, rounds: int) -> None:
        self.server.match, changes = fixture.set_format(self.server.match, max_rounds=rounds)
        self.trader.match = self.server.match
        self.trader.react(changes)

    def types(self) -> set[int]:
        return {market.type_id for market in self.trader.active()}


def voided_windows(series: TradedSeries) -> Iterable[tuple[int, str]]:
    return {entry.key for entry in series.trader.ledger if entry.void_window is not None}


@pytest.mark.parametrize("by", ["operator", "log"])
def test_every_type_is_on_offer_again_in_the_new_format(by: str) -> None:
    series = TradedSeries()
    before = series.types()
    series.server.report(f.FormatSet(at=1, max_rounds=30)) if by == "log" else series.set_format(30)
    series.trade()
    assert series.types() == before - {23}, "a half of 15 rounds cannot end level"
    assert (8, "map=1|threshold=26.5") in {market.key for market in series.trader.active()}


def test_bets_on_another_proposition_are_void_and_no_others() -> None:
    series = TradedSeries()
    before = dict(series.trader.book)
    series.set_format(30)
    void = {key for key, market in series.trader.book.items() if market.result is Result.VOID}
    assert {key[0] for key in void} == {23}
    assert {key[0] for key in voided_windows(series)} == BY_FORMAT
    assert void | set(voided_windows(series)) == {key for key in before if key[0] in BY_FORMAT | {23}}
    for entry in series.trader.ledger:
        assert (entry.reason, entry.void_reason_id) == (FORMAT_CHANGED, 4)


def test_a_line_comes_back_with_its_format_and_the_old_bets_stay_void() -> None:
    """No map of 16 rounds ends after 18 or 19: its first overtime has four rounds at least."""
    series, key = TradedSeries(), (8, "map=1|threshold=18.5")
    series.set_format(16)
    assert series.trader.book[key].status is MarketStatus.CANCELLED
    series.set_format(24)
    assert series.trader.book[key].status is MarketStatus.ACTIVE
    moves = [(entry.new_status, entry.void_window is not None) for entry in series.trader.entries(*key)]
    assert moves == [
        (LedgerStatus.VOIDED, False),
        (LedgerStatus.PENDING, False),
        (LedgerStatus.PENDING, True),
    ]


def test_nothing_that_depends_on_the_format_settles_while_it_is_in_doubt() -> None:
    """A map of 30 rounds that was taken for one of 24."""
    series = TradedSeries()
    halfway(series.server, 12)
    series.trade()
    sight_all(series.server)
    series.trade()
    assert series.trader.active() == []
    settled = len(series.trader.ledger)
    play(series.server, 3)
    series.trade()
    news = series.trader.ledger[settled:]
    assert not [entry for entry in news if entry.type_id in BY_FORMAT | {12, 22, 23, 24}]
    assert series.trader.of(12, "map=1|team=home|half=2").open


def test_what_was_settled_by_the_format_is_open_while_it_is_in_doubt() -> None:
    """A map of 30 rounds that was taken for one of 24: at 9:3 only a half of 12 is over."""
    series = TradedSeries()
    halfway(series.server, 11)
    series.server.round("home")
    series.trade()
    half, pistol = (22, "map=1|team=home"), (12, "map=1|team=home|half=1")
    assert series.trader.of(*half).result is series.trader.of(*pistol).result is Result.WON
    series.server.freeze()
    sight_all(series.server)
    series.trade()
    assert series.trader.match.format_status.doubted_maps == (1,)
    assert series.trader.of(*half).open
    assert series.trader.of(*pistol).result is Result.WON, "the first round in any format"
    series.set_format(24)
    assert series.trader.of(*half).result is Result.WON


@pytest.mark.parametrize("by", ["operator", "log"])
def test_a_half_that_is_longer_now_is_open_again(by: str) -> None:
    series = TradedSeries()
    halfway(series.server, 0)
    for _ in range(7):
        sight_all(series.server)
        series.server.rounds("home")
    series.trade()
    half = (22, "map=1|team=home")
    assert series.trader.of(*half).result is Result.WON
    if by == "log":
        series.server.report(f.FormatSet(at=series.server.later(), max_rounds=30))
        series.trade()
    else:
        series.set_format(30)
    assert series.trader.of(*half).open


def test_pistol_rounds_of_a_map_of_30_settle_by_its_own_second_half() -> None:
    series = TradedSeries()
    halfway(series.server, 12)
    series.trade()
    sight_all(series.server)
    series.trade()
    play(series.server, 1)
    series.set_format(30)
    assert series.types()
    play(series.server, 2)
    series.server.swap()
    sight_all(series.server)
    series.server.round("away")
    series.trade()
    assert series.trader.of(12, "map=1|team=away|half=2").result is Result.WON
    assert "round 16" in series.trader.of(12, "map=1|team=away|half=2").reason


def test_a_map_that_ended_in_doubt_settles_when_its_format_is_known() -> None:
    series = TradedSeries()
    halfway(series.server, 12)
    series.trade()
    play(series.server, 3)
    series.server.swap()
    play(series.server, 8)
    series.server.game_over()
    series.trade()
    assert series.trader.match.over and series.trader.of(10, "map=1").open
    series.set_format(30)
    assert series.trader.of(10, "map=1").result is Result.VOID
    assert "round 16" in series.trader.of(12, "map=1|team=home|half=2").reason
    assert series.trader.open() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.sampled_from([16, 24, 30]), st.sampled_from(["home", "away"])), max_size=14))
def test_no_bet_is_settled_that_was_void(steps: list[int | str]) -> None:
    """Bets are placed on each open market after each step; those of another format are void."""
    series = TradedSeries()
    series.server.start_map()
    series.trade()
    bets: list[tuple[tuple[int, str], int, int]] = []
    for step in steps:
        if isinstance(step, int):
            if step != series.server.match.max_rounds and not series.server.match.over:
                with suppress(Conflict):
                    series.set_format(step)
        else:
            series.server.rounds("home" if step == "home" else "away")
            series.trade()
        form = series.trader.match.max_rounds
        bets += [(market.key, series.trader.now, form) for market in series.trader.active()]
    for key, at, form in bets:
        if key[0] in BY_FORMAT and form != series.trader.match.max_rounds:
            assert _void(series, key, at), (key, at, form)


def _void(series: TradedSeries, key: tuple[int, str], at: int) -> bool:
    entries = series.trader.entries(*key)
    windows = [entry.void_window for entry in entries if entry.void_window]
    voided = series.trader.book[key].result is Result.VOID
    settled = any(entry.new_status is LedgerStatus.SETTLED for entry in entries)
    return voided or settled or any(window.start_time <= at <= window.end_time for window in windows)


def test_a_line_that_took_no_bets_in_a_format_has_none_that_are_void() -> None:
    """A line of 19.5 rounds is far from evens on a longer map: it is off offer there."""
    series, key = TradedSeries(), (8, "map=1|threshold=19.5")
    for rounds in (30, 32, 34, 24):
        series.set_format(rounds)
    ends = [entry.void_window.end_time for entry in series.trader.entries(*key) if entry.void_window]
    assert ends == sorted(ends) and len(ends) == 2, "when it left, and what was placed at that moment"
