"""What another format makes of the book: no bet of the old format is settled by the new one."""

from collections.abc import Iterable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain import fixture
from app.domain.market import MarketStatus, Result
from app.domain.settlement import LedgerStatus
from app.kit.errors import Conflict
from app.trading.reformat import REASON
from tests.unit.domain.play import Server, new_match
from tests.unit.domain.test_formats import halfway, play, sight_all
from tests.unit.trading.trader import Trader

BY_FORMAT = {7, 8, 9, 10, 25, 26}


class Desk:
    """A server's account, traded as it comes."""

    def __init__(self, best_of: int = 1) -> None:
        self.trader = Trader(new_match(best_of))
        self.trader.react()
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


def windows(desk: Desk) -> Iterable[tuple[int, str]]:
    return {entry.key for entry in desk.trader.ledger if entry.void_window is not None}


@pytest.mark.parametrize("by", ["operator", "log"])
def test_every_type_is_on_offer_again_in_the_new_format(by: str) -> None:
    desk = Desk()
    before = desk.types()
    desk.server.tell(f.FormatSet(at=1, max_rounds=30)) if by == "log" else desk.set_format(30)
    desk.trade()
    assert desk.types() == before - {23}, "a half of 15 rounds cannot end level"
    assert (8, "map=1|threshold=26.5") in {market.key for market in desk.trader.active()}


def test_bets_on_another_proposition_are_void_and_no_others() -> None:
    desk = Desk()
    before = dict(desk.trader.book)
    desk.set_format(30)
    void = {key for key, market in desk.trader.book.items() if market.result is Result.VOID}
    assert {key[0] for key in void} == {8, 9, 23, 25, 26}
    assert {key[0] for key in windows(desk)} == {7, 10}
    assert void | set(windows(desk)) == {key for key in before if key[0] in BY_FORMAT | {23}}
    for entry in desk.trader.ledger:
        assert (entry.reason, entry.void_reason_id) == (REASON, 4)


def test_a_line_comes_back_with_its_format_and_the_old_bets_stay_void() -> None:
    desk, key = Desk(), (8, "map=1|threshold=20.5")
    desk.set_format(30)
    assert desk.trader.book[key].status is MarketStatus.CANCELLED
    desk.set_format(24)
    assert desk.trader.book[key].status is MarketStatus.ACTIVE
    moves = [(entry.new_status, entry.void_window is not None) for entry in desk.trader.entries(*key)]
    assert moves == [
        (LedgerStatus.VOIDED, False),
        (LedgerStatus.PENDING, False),
        (LedgerStatus.PENDING, True),
    ]


def test_nothing_that_depends_on_the_format_settles_while_it_is_in_doubt() -> None:
    """A map of 30 rounds that was taken for one of 24."""
    desk = Desk()
    halfway(desk.server, 12)
    desk.trade()
    sight_all(desk.server)
    desk.trade()
    assert desk.trader.active() == []
    settled = len(desk.trader.ledger)
    play(desk.server, 3)
    desk.trade()
    news = desk.trader.ledger[settled:]
    assert not [entry for entry in news if entry.type_id in BY_FORMAT | {12, 22, 23, 24}]
    assert desk.trader.of(12, "map=1|team=home|half=2").open


def test_pistol_rounds_of_a_map_of_30_settle_by_its_own_second_half() -> None:
    desk = Desk()
    halfway(desk.server, 12)
    desk.trade()
    sight_all(desk.server)
    desk.trade()
    play(desk.server, 1)
    desk.set_format(30)
    assert desk.types()
    play(desk.server, 2)
    desk.server.swap()
    sight_all(desk.server)
    desk.server.round("away")
    desk.trade()
    assert desk.trader.of(12, "map=1|team=away|half=2").result is Result.WON
    assert "round 16" in desk.trader.of(12, "map=1|team=away|half=2").reason


def test_a_map_that_ended_in_doubt_settles_when_its_format_is_known() -> None:
    desk = Desk()
    halfway(desk.server, 12)
    desk.trade()
    play(desk.server, 3)
    desk.server.swap()
    play(desk.server, 8)
    desk.server.game_over()
    desk.trade()
    assert desk.trader.match.over and desk.trader.of(10, "map=1").open
    desk.set_format(30)
    assert desk.trader.of(10, "map=1").result is Result.VOID
    assert "round 16" in desk.trader.of(12, "map=1|team=home|half=2").reason
    assert desk.trader.open() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.sampled_from([16, 24, 30]), st.sampled_from(["home", "away"])), max_size=14))
def test_no_bet_is_settled_that_was_void(steps: list[int | str]) -> None:
    """Bets are placed on each open market after each step; those of another format are void."""
    desk = Desk()
    desk.server.start_map()
    desk.trade()
    bets: list[tuple[tuple[int, str], int, int]] = []
    for step in steps:
        if isinstance(step, int):
            if step != desk.server.match.max_rounds and not desk.server.match.over:
                with suppress(Conflict):
                    desk.set_format(step)
        else:
            desk.server.rounds("home" if step == "home" else "away")
            desk.trade()
        form = desk.trader.match.max_rounds
        bets += [(market.key, desk.trader.now, form) for market in desk.trader.active()]
    for key, at, form in bets:
        if key[0] in BY_FORMAT and form != desk.trader.match.max_rounds:
            assert _void(desk, key, at), (key, at, form)


def _void(desk: Desk, key: tuple[int, str], at: int) -> bool:
    entries = desk.trader.entries(*key)
    windows = [entry.void_window for entry in entries if entry.void_window]
    voided = desk.trader.book[key].result is Result.VOID
    settled = any(entry.new_status is LedgerStatus.SETTLED for entry in entries)
    return voided or settled or any(window.start_time <= at <= window.end_time for window in windows)
