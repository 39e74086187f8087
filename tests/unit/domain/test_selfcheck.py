"""Whatever is done to a book is reported, and nothing else is."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.selfcheck import DifferenceKind, Quotes, differences

MARKETS = st.builds(
    "{}:{}".format, st.integers(1, 30), st.sampled_from(["", "map=1", "map=1|round=3|team=home", "team=away"])
)
ODDS = st.integers(1_001, 50_000)
BOOKS = st.dictionaries(MARKETS, ODDS | ODDS.map(lambda odds: -odds), max_size=25)


def spoilt(quote: int, kind: DifferenceKind) -> int | None:
    """The quote as a client would have it after a mishap of that kind, None for not at all."""
    return {
        DifferenceKind.MISSING: None,
        DifferenceKind.STALE: -quote,
        DifferenceKind.WRONG_PRICE: quote + 10,
    }[kind]


@given(BOOKS)
def test_equal_books_have_no_difference(book: Quotes) -> None:
    assert list(differences(dict(book), book)) == []


@given(BOOKS)
def test_the_odds_of_what_is_suspended_on_both_sides_do_not_matter(book: Quotes) -> None:
    quotes = {market: max(quote, 0) for market, quote in book.items()}
    assert list(differences(quotes, book)) == []


@given(BOOKS, st.data())
def test_every_mutation_is_reported_exactly(ours: Quotes, data: st.DataObject) -> None:
    yours = dict(ours)
    expected = {}
    for market in data.draw(st.lists(st.sampled_from(sorted(ours)), unique=True)) if ours else []:
        kinds = [DifferenceKind.MISSING, DifferenceKind.STALE]
        if ours[market] > 0:
            kinds.append(DifferenceKind.WRONG_PRICE)
        kind = data.draw(st.sampled_from(kinds))
        quote_seen = spoilt(ours[market], kind)
        expected[market] = (kind, quote_seen, ours[market])
        if quote_seen is None:
            del yours[market]
        else:
            yours[market] = quote_seen
    for market, quote in data.draw(BOOKS).items():
        if market not in ours:
            yours[market] = quote
            expected[market] = (DifferenceKind.EXTRA, quote, None)
    found = list(differences(yours, ours))
    assert {each.market: (each.kind, each.yours, each.ours) for each in found} == expected
    assert len(found) == len(expected)


@given(BOOKS, BOOKS)
def test_what_is_missing_to_one_is_extra_to_the_other(one: Quotes, other: Quotes) -> None:
    swap = {DifferenceKind.MISSING: DifferenceKind.EXTRA, DifferenceKind.EXTRA: DifferenceKind.MISSING}
    there = {(each.kind, each.market) for each in differences(one, other)}
    back = {(swap.get(each.kind, each.kind), each.market) for each in differences(other, one)}
    assert there == back
