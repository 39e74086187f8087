"""Whatever a source reports, in whatever order and batches, the book is consistent: `Trader` checks it after
each reaction (nothing open on a decided event, books that sum, a ledger that can be recomputed)."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.lifecycle import cancel
from app.domain.market import Result
from app.domain.match import Match, Team
from tests.unit.domain.play import new_match
from tests.unit.domain.test_properties import Recorder, end_map, facts, stories
from tests.unit.trading.trader import Trader

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def batches(account: list[f.Fact], sizes: list[int]) -> list[list[f.Fact]]:
    """The account cut into batches of these sizes, the last size repeated to the end."""
    cut, start = [], 0
    while start < len(account):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        cut.append(account[start : start + size])
        start += size
    return cut


def played_on() -> list[f.Fact]:
    """A map of four rounds that is played to 13:0."""
    server = Recorder.started(new_match(best_of=3))
    server.report(f.FormatSet(at=0, max_rounds=4))
    end_map(server, "home")
    return server.facts


def other_format(*winners: Team) -> list[f.Fact]:
    """Sides change after these rounds, which is no half of the match's format."""
    server = Recorder.started(new_match(best_of=3))
    for number, winner in enumerate(winners, start=1):
        server.round(winner)
        if number == len(winners):
            server.swap()
        server.freeze()
    return server.facts


def priced(best_of: int, strength: float) -> Match:
    match = new_match(best_of)
    return replace(match, home_strength=1500.0 + strength, away_strength=1500.0)


sizes = st.lists(st.integers(1, 12), min_size=1, max_size=8)


@SLOW
@given(stories(), sizes, st.floats(-500, 500), st.data())
def test_plausible_accounts(
    account: list[f.Fact], cut: list[int], strength: float, data: st.DataObject
) -> None:
    trader = Trader.opened(priced(3, strength))
    for batch in batches(account, cut):
        trader.apply(batch, may_price=data.draw(st.integers(0, 9)) > 0)


@SLOW
@given(st.lists(facts(), max_size=60), sizes)
def test_nonsense(account: list[f.Fact], cut: list[int]) -> None:
    trader = Trader.opened(new_match(best_of=3))
    for batch in batches(account, cut):
        trader.apply(batch)


@SLOW
@given(stories(), sizes)
@example(account=played_on(), cut=[1])
def test_a_cancelled_match_leaves_nothing_open(account: list[f.Fact], cut: list[int]) -> None:
    trader = Trader.opened(new_match(best_of=3))
    for batch in batches(account, cut):
        trader.apply(batch)
    if trader.match.over:
        return
    offered = {market.key for market in trader.open()}
    trader.match, changes = cancel(trader.match, trader.now)
    trader.react(changes)
    assert not trader.open()
    assert {trader.book[key].result for key in offered} <= {Result.VOID}


@SLOW
@given(stories(), sizes, sizes)
@example(account=other_format("home"), one=[1], two=[6])
@example(account=other_format(*["home"] * 7), one=[1], two=[200])
def test_batches_make_no_difference_to_results(account: list[f.Fact], one: list[int], two: list[int]) -> None:
    """Offers depend on when prices are looked at, results do not."""
    traders = []
    for cut in (one, two):
        trader = Trader.opened(new_match(best_of=3), checking=False)
        for batch in batches(account, cut):
            trader.apply(batch)
        traders.append(trader)
    first, second = (trader.book for trader in traders)
    for key in first.keys() & second.keys():
        assert first[key].result is second[key].result, key
