"""Which markets and results a tenant receives while market types are switched off, against random histories.

A history is a sequence of moments, each at its place of the change log: a market is opened, settled or rolled
back, or the type is switched. The clock of those who open markets differs from that of the operator.
"""

from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain import frame_types
from app.domain.market import Market, MarketStatus
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.tenant_offer import OfferRules, TenantOffer, suspended
from app.domain.types_off import (
    NONE_OFF,
    TypeOff,
    entry_offered,
    last_switch,
    off_at_seq,
    off_now,
)

TYPE, OTHER = 13, 1
ACTIVE, SETTLED, SUSPENDED = MarketStatus.ACTIVE, MarketStatus.SETTLED, MarketStatus.SUSPENDED
moves = st.lists(st.sampled_from(["open", "settle", "roll back", "switch"]), max_size=30)
skews = st.integers(-35, 35)  #: of the clock that opens markets; moves are 10 apart


class Seller:
    """One type and one tenant. `offered` are the markets that were on offer to it at some place: opened while
    the type was on, or open when it was switched on. `received` is what its live messages say of each."""

    def __init__(self, skew: int) -> None:
        self.seq, self.skew = 0, skew
        self.markets: dict[int, Market] = {}
        self.offered: set[int] = set()
        self.received: dict[int, Market] = {}
        self.intervals: list[TypeOff] = []
        #: Each entry of the ledger, and whether its market had been offered before.
        self.entries: list[tuple[LedgerEntry, bool]] = []

    @property
    def on(self) -> bool:
        return not off_now(self.intervals)

    def move(self, move: str) -> None:
        self.seq += 1
        if move == "open":
            self.open()
        elif move == "switch":
            self.switch()
        else:
            self.decide(SETTLED if move == "settle" else SUSPENDED)

    def open(self) -> None:
        number, at = len(self.markets), 10 * self.seq + self.skew
        market = Market(TYPE, f"round={number}", ACTIVE, Decimal(2), 0.5, opened_at=at, first_opened_at=at)
        self.change(number, market, frame_types.MARKET_CREATED)
        if self.on:
            self.offered.add(number)

    def change(self, number: int, market: Market, frame: str) -> None:
        self.markets[number] = market
        if shown := TenantOffer(tuple(self.intervals)).at(self.seq).changed_market(market, frame):
            self.received[number] = shown

    def switch(self) -> None:
        if self.on:
            newest = max((one.first_opened_at for one in self.markets.values()), default=0)
            self.intervals.append(TypeOff(TYPE, max(10 * self.seq, newest), self.seq))
            active = {number: one for number, one in self.markets.items() if one.status is ACTIVE}
            self.received |= {number: suspended(one) for number, one in active.items()}
        else:
            self.intervals[-1] = replace(self.intervals[-1], on_at=10 * self.seq, on_seq=self.seq)
            present = {number: one for number, one in self.markets.items() if one.open}
            self.offered |= set(present)
            self.received |= present

    def decide(self, status: MarketStatus) -> None:
        for number, market in self.markets.items():
            if market.open is (status is SETTLED):
                frame = frame_types.MARKET_UPDATED if status is SETTLED else frame_types.MARKET_SUSPENDED
                self.change(number, replace(market, status=status, settled_by="engine"), frame)
                ledger = LedgerStatus.SETTLED if status is SETTLED else LedgerStatus.PENDING
                entry = LedgerEntry(
                    *(TYPE, market.specifiers, LedgerStatus.PENDING, ledger, None, ""),
                    first_opened_at=market.first_opened_at,
                    id=self.seq,
                )
                self.entries.append((entry, number in self.offered))


def played(moves: list[str], skew: int) -> Seller:
    seller = Seller(skew)
    for move in moves:
        seller.move(move)
    return seller


@given(moves, skews)
def test_no_result_of_what_was_offered_is_lost(moves: list[str], skew: int) -> None:
    seller = played(moves, skew)
    lost = [one for one, offered in seller.entries if offered and not entry_offered(one, seller.intervals)]
    assert lost == []


@given(moves)
def test_what_was_never_offered_has_no_result(moves: list[str]) -> None:
    """Of one switch; what is opened while the type is off for the second time counts from then on."""
    seller = played([*moves[:8], *(move for move in moves[8:] if move != "switch")], skew=1)
    first = seller.intervals[0] if seller.intervals else None
    for entry, offered in seller.entries:
        later = first is not None and first.on_seq is not None and entry.id > first.on_seq
        if not offered and not later and len(seller.intervals) == 1:
            assert not entry_offered(entry, seller.intervals)


@given(moves, skews)
def test_nothing_is_on_offer_while_the_type_is_off(moves: list[str], skew: int) -> None:
    seller = played(moves, skew)
    off = off_now(seller.intervals)
    for number, market in seller.markets.items():
        shown = OfferRules(off).market_in_list(market)
        changed = OfferRules(off).changed_market(market, frame_types.MARKET_SUSPENDED)
        if seller.on:
            assert shown is changed is market
            continue
        assert shown is None or shown.status is not ACTIVE
        assert changed is None or changed.status is not ACTIVE
        if number in seller.offered:
            assert shown is not None and shown.closed is market.closed


@given(moves, skews)
@example(["switch", "open"], -10)
def test_live_messages_say_of_open_markets_what_lists_show(moves: list[str], skew: int) -> None:
    """Whichever clock is ahead."""
    seller = played(moves, skew)
    shown = TenantOffer(tuple(seller.intervals)).now.markets_in_list(list(seller.markets.values()))
    received = [one for one in seller.received.values() if one.open]
    assert {one.key: one.status for one in shown if one.open} == {one.key: one.status for one in received}


@given(moves, skews)
def test_a_place_in_the_log_stays_as_it_was(moves: list[str], skew: int) -> None:
    """What was off at a place does not depend on later switches."""
    seller = Seller(skew)
    seen = []
    for move in moves:
        seller.move(move)
        if move != "switch":
            seen.append((seller.seq, off_at_seq(seller.intervals, seller.seq)))
    assert all(off_at_seq(seller.intervals, seq) == off for seq, off in seen)


def test_other_types_are_left_alone() -> None:
    intervals = [TypeOff(TYPE, 100, 10)]
    other = Market(OTHER, "", ACTIVE, Decimal(2), 0.5, first_opened_at=200)
    off = off_at_seq(intervals, 11)
    rules = OfferRules(off)
    assert rules.market_in_list(other) is rules.changed_market(other, frame_types.MARKET_UPDATED) is other
    assert off_at_seq(intervals, 9) == off_at_seq((), 11) == NONE_OFF
    assert (last_switch(intervals), last_switch(intervals, OTHER), last_switch(())) == (10, 0, 0)
