"""How a combination stands by the settlement ledger."""

from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.combination import (
    Combination,
    CombinationLeg,
    CombinationSettlement,
    CombinationStatus,
    CombinedMatch,
    Price,
    product,
    settlement_of,
)
from app.domain.market import MarketKey, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow

OPEN, WON, LOST, VOID = CombinationStatus
PLACED_AT = 1_000
MATCH = UUID(int=1)
ENDS = {
    "won": (LedgerStatus.SETTLED, Result.WON),
    "lost": (LedgerStatus.SETTLED, Result.LOST),
    "void": (LedgerStatus.VOIDED, Result.VOID),
    "back": (LedgerStatus.PENDING, None),
}
WINDOWS = {
    "around": VoidWindow(900, 1_000),
    "before": VoidWindow(900, 999),
    "after": VoidWindow(1_001, 1_100),
}


def combination(legs: int) -> Combination:
    named = tuple(CombinationLeg(MATCH, 8, f"map=1|threshold={at}.5", Decimal(2), 0.5) for at in range(legs))
    match = CombinedMatch(MATCH, 1, 5, PLACED_AT, None, "", Decimal(3), 0.3)
    return Combination(
        id=uuid4(),
        tenant_id=uuid4(),
        created_at=PLACED_AT,
        odds=match.odds,
        probability=match.probability,
        legs=named,
        matches=(match,),
    )


def entries(*words: str) -> list[LedgerEntry]:
    """A market's ledger: results, and windows whose bets are void (`around`) or void no more (`-around`).
    An entry about a window has the market's present state."""
    found: list[LedgerEntry] = []
    status, result = LedgerStatus.PENDING, None
    for number, word in enumerate(words, 1):
        window = WINDOWS.get(word.removeprefix("-"))
        before = status
        if window is None:
            status, result = ENDS[word]
        entry = LedgerEntry(8, "", before, status, result, "", void_window=window, id=number)
        found.append(replace(entry, window_rolled_back=word.startswith("-")))
    return found


def standing(*ledgers: list[LedgerEntry]) -> CombinationSettlement:
    """How a combination stands whose legs have these ledgers."""
    made = combination(len(ledgers))
    pairs = zip(made.legs, ledgers, strict=True)
    return settlement_of(made, {(MATCH, leg.key): ledger for leg, ledger in pairs})


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((), OPEN),
        (("won",), WON),
        (("lost",), LOST),
        (("void",), VOID),
        (("won", "back"), OPEN),
        (("won", "back", "lost"), LOST),
        (("lost", "back", "won"), WON),
        (("void", "back"), OPEN),
        (("void", "back", "won"), WON),
        (("won", "back", "void", "back", "lost"), LOST),
        (("around",), VOID),
        (("before",), OPEN),
        (("after",), OPEN),
        (("around", "won"), VOID),
        (("won", "around"), VOID),
        (("around", "lost"), VOID),
        (("around", "won", "back"), VOID),
        (("around", "-around"), OPEN),
        (("around", "won", "-around"), WON),
        (("won", "before"), WON),
        (("around", "before", "-before"), VOID),
        (("lost", "around", "-around"), LOST),
        (("around", "void", "-around"), VOID),
    ],
)
def test_a_leg_is_what_the_latest_entries_say(words: tuple[str, ...], status: CombinationStatus) -> None:
    assert standing(entries(*words), entries()).legs == (status, OPEN)


@pytest.mark.parametrize(
    ("legs", "status", "counting"),
    [
        (("won", "won"), WON, (0, 1)),
        (("won", ""), OPEN, (0, 1)),
        (("lost", ""), LOST, (0, 1)),
        (("void", "lost"), LOST, (1,)),
        (("void", "won"), WON, (1,)),
        (("won", "void", ""), OPEN, (0, 2)),
        (("void", "void"), VOID, ()),
    ],
)
def test_the_whole_follows_from_its_legs(
    legs: tuple[str, ...], status: CombinationStatus, counting: tuple[int, ...]
) -> None:
    found = standing(*[entries(*filter(None, (word,))) for word in legs])
    assert (found.status, found.counting) == (status, counting)
    assert found.reduced is (0 < len(counting) < len(legs))


def test_an_entry_of_another_match_or_market_says_nothing() -> None:
    made = combination(2)
    ledger: dict[tuple[UUID, MarketKey], list[LedgerEntry]] = {
        (uuid4(), made.legs[0].key): entries("lost"),
        (MATCH, (9, made.legs[0].specifiers)): entries("lost"),
    }
    assert settlement_of(made, ledger).status is OPEN


WORDS = st.lists(st.sampled_from([*ENDS, *WINDOWS, *(f"-{name}" for name in WINDOWS)]), max_size=6)


@given(st.lists(WORDS, min_size=2, max_size=4), st.randoms())
def test_the_order_of_entries_of_different_legs_does_not_matter(
    ledgers: list[list[str]], random: object
) -> None:
    """Whatever is interleaved with whatever: only how far each market's ledger is counts."""
    made = combination(len(ledgers))
    whole = [entries(*words) for words in ledgers]
    expected = standing(*whole)
    turns = [place for place, ledger in enumerate(whole) for _ in ledger]
    random.shuffle(turns)  # type: ignore[attr-defined]
    read: list[list[LedgerEntry]] = [[] for _ in whole]
    found = standing(*read)
    for place in turns:
        read[place].append(whole[place][len(read[place])])
        pairs = zip(made.legs, read, strict=True)
        found = settlement_of(made, {(MATCH, leg.key): ledger for leg, ledger in pairs})
    assert found == expected


@given(st.lists(WORDS, min_size=2, max_size=4))
def test_what_is_taken_back_leaves_nothing(ledgers: list[list[str]]) -> None:
    """After a rollback of everything the combination is open again, with all its legs."""
    back = ["back", *(f"-{name}" for name in WINDOWS)]
    found = standing(*[entries(*words, *back) for words in ledgers])
    assert found.status is OPEN and found.counting == tuple(range(len(ledgers)))


def test_independent_prices_are_multiplied_and_odds_rounded_down() -> None:
    prices = [Price(Decimal("1.999"), 0.5), Price(Decimal("1.999"), 0.25)]
    assert product(prices) == Price(Decimal("3.996"), 0.125)
    assert product(prices[:1]) == prices[0]
