"""Every match has entrants, known ones or stand-ins that lead back to it."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.entrants import (
    FIRST_STAND_IN,
    Competitor,
    Tournament,
    entrants_of,
    match_of_competitor,
    match_of_tournament,
    squad,
)
from app.domain.loadout import Loadout
from app.domain.match import Match, RosterEntry

numbers = st.integers(1, 10**15)


def match(number: int) -> Match:
    return Match(UUID(int=1), number, "Home", "Away", "Cup")


@given(numbers)
def test_a_stand_in_leads_back_to_its_match_and_place(number: int) -> None:
    found = entrants_of(match(number))
    assert match_of_tournament(found.tournament.id) == number
    assert match_of_competitor(found.home.id) == (number, "home")
    assert match_of_competitor(found.away.id) == (number, "away")
    assert (found.tournament.name, found.home.name, found.away.name) == ("Cup", "Home", "Away")


@given(st.integers(-10, 2**31) | st.integers(FIRST_STAND_IN - 10, FIRST_STAND_IN + 1))
def test_what_reference_data_numbers_is_no_stand_in(number: int) -> None:
    assert match_of_competitor(number) is None
    assert match_of_tournament(min(number, FIRST_STAND_IN)) is None


@given(st.lists(numbers, min_size=2, max_size=2, unique=True))
def test_two_matches_share_no_stand_in(two: list[int]) -> None:
    first, second = (entrants_of(match(number)) for number in two)
    assert not {first.home.id, first.away.id} & {second.home.id, second.away.id}
    assert first.tournament.id != second.tournament.id


def test_what_is_known_comes_under_the_names_of_the_match() -> None:
    found = entrants_of(
        match(1), Tournament(5, "C", risk_tier=2), Competitor(7, "H"), Competitor(8, "A", "AAA")
    )
    assert found.tournament == Tournament(5, "Cup", risk_tier=2)
    assert (found.home, found.away) == (Competitor(7, "Home"), Competitor(8, "Away", "AAA"))


@given(st.integers(1, 10**6), st.sets(st.integers(1, 2**32 - 1), min_size=1, max_size=5))
def test_a_squad_is_who_was_seen_with_a_name(number: int, accounts: set[int]) -> None:
    seats = tuple(RosterEntry(account, "home") for account in accounts)
    loadouts = tuple(Loadout(account, f"p{account}", "CT") for account in accounts)
    playing = replace(match(number), roster=seats, loadouts=loadouts)
    found = squad(playing, "home", ())
    assert [(one.account, one.name) for one in found] == [(each, f"p{each}") for each in sorted(accounts)]
    assert squad(playing, "away", ()) == ()
