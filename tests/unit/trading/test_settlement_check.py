"""The audit of a ledger finds each single alteration, in the market that it is about and in no other."""

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.trading.settlement_check import SettlementDifference, check_settlements
from tests.unit.domain.play import new_match
from tests.unit.trading.test_engine import TradedServer


@cache
def server() -> TradedServer:
    """After four rounds of a map; no test changes it."""
    server = TradedServer.started(new_match(best_of=3))
    server.rounds("home", "away", "home", "home")
    return server


def entries() -> tuple[LedgerEntry, ...]:
    return tuple(server().trader.ledger)


def settled() -> list[int]:
    """The places of settlements; nothing was rolled back."""
    return [place for place, one in enumerate(entries()) if one.new_status is LedgerStatus.SETTLED]


PLACES = st.deferred(lambda: st.sampled_from(settled()))


def differences(ledger: Sequence[LedgerEntry]) -> list[SettlementDifference]:
    played, trader = server(), server().trader
    return check_settlements(played.match, list(trader.rounds.values()), list(trader.events.values()), ledger)


def altered(place: int, **fields: object) -> list[LedgerEntry]:
    return [*entries()[:place], replace(entries()[place], **fields), *entries()[place + 1 :]]


def about(found: Sequence[SettlementDifference]) -> set[tuple[int, str]]:
    return {(one.type_id, one.specifiers) for one in found}


def test_what_was_settled_is_right() -> None:
    assert differences(entries()) == []
    assert {entries()[place].result for place in settled()} == {Result.WON, Result.LOST}


@given(PLACES)
def test_a_result_that_the_facts_do_not_say(place: int) -> None:
    other = Result.LOST if entries()[place].result is Result.WON else Result.WON
    found = differences(altered(place, result=other))
    assert about(found) == {entries()[place].key}
    assert "but the facts say" in found[0].problem


@given(PLACES)
def test_a_settlement_that_is_taken_back_without_a_reason(place: int) -> None:
    back = replace(
        entries()[place], previous_status=LedgerStatus.SETTLED, new_status=LedgerStatus.PENDING, result=None
    )
    found = differences([*entries(), back])
    assert about(found) == {back.key}
    assert found[0].problem.startswith("pending, but the facts say")


@given(PLACES)
def test_a_settlement_that_rests_on_what_did_not_happen(place: int) -> None:
    rests_on = (*entries()[place].rests_on, 999_999)
    found = differences(altered(place, rests_on=rests_on))
    assert [one.problem for one in found] == ["rests on facts [999999], which do not stand"]
    assert about(found) == {entries()[place].key}


@given(PLACES)
def test_an_entry_twice(place: int) -> None:
    found = differences([*entries(), entries()[place]])
    assert about(found) == {entries()[place].key}
    assert "goes from pending to settled after settled" in found[0].problem


@pytest.mark.parametrize(
    ("start", "end", "at", "problem"),
    [
        (20, 10, 30, "is about a window from 20 to 10"),
        (10, 20, 15, "is about a window from 10 to 20"),
        (10, 20, 20, None),
        (10, 20, 0, None),
    ],
)
def test_a_window_that_had_not_ended(start: int, end: int, at: int, problem: str | None) -> None:
    last = entries()[settled()[0]]
    entry = replace(
        last, previous_status=last.new_status, void_window=VoidWindow(start, end), at=at, rests_on=()
    )
    found = [one.problem for one in differences([*entries(), entry])]
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]
    twice = [one.problem for one in differences([*entries(), entry, entry])]
    assert "changes nothing about its window" in twice[-1]
    ended = replace(entry, window_rolled_back=True)
    assert len(differences([*entries(), entry, ended])) == 2 * len(found)


def test_a_type_that_nobody_knows() -> None:
    unknown = replace(entries()[settled()[0]], type_id=9_999)
    found = differences([*entries(), unknown])
    assert [(one.type_id, one.problem) for one in found] == [(9_999, "this market type is not known")]
