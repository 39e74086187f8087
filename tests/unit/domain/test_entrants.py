"""How entrants are named, and what is known about them.

Every match has entrants, known ones or stand-ins that lead back to it.
"""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.analytics import window_start
from app.domain.entrants import (
    FIRST_STAND_IN,
    MAX_ABBREVIATION,
    MAX_FILE_NUMBER,
    Competitor,
    Player,
    Tournament,
    abbreviate,
    account_of,
    entrants_of,
    match_of_competitor,
    match_of_tournament,
    player_number,
    squad,
    with_dates,
)
from app.domain.ids import competitor_urn, entrant_number, player_urn, tournament_urn
from app.domain.loadout import Loadout
from app.domain.match import Match, RosterEntry


@given(st.integers(1, 2**32 - 1))
def test_a_players_number_leads_back_to_the_account(account: int) -> None:
    """It fits in 53 bits, which every client can read, and is none of reference data."""
    number = player_number(account)
    assert Player(5, "ember", account=account).number == number
    assert MAX_FILE_NUMBER < number < 2**53
    assert account_of(number) == account
    assert account_of(number + 2**32) is None


@given(st.integers(1, 2**31 - 1))
def test_a_player_without_an_account_has_the_number_of_reference_data(number: int) -> None:
    assert Player(number, "ember").number == number
    assert account_of(number) is None


@given(st.integers(1, 10**18 - 1))
def test_a_number_is_found_in_every_form(number: int) -> None:
    assert entrant_number(str(number), "player") == number
    assert entrant_number(player_urn(number), "player") == number
    assert entrant_number(competitor_urn(number), "player", "competitor") == number
    assert entrant_number(f"Old-Feed_2:player:{number}", "player") == number
    assert entrant_number(tournament_urn(number), "player") is None


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "01", "1 ", "1\n", "٣", "mf:player:", "player:1", "a:b:c:1", "9" * 19]
)
def test_nothing_else_is_a_number(text: str) -> None:
    assert entrant_number(text, "player") is None


def test_missing_reference_data_is_unknown() -> None:
    assert Tournament(1, "Cup").on_lan is False
    assert Tournament(MAX_FILE_NUMBER + 1, "Cup").on_lan is None
    assert Tournament(MAX_FILE_NUMBER + 1, "Cup", is_lan=True).on_lan is True


def test_windows_begin_the_earlier_the_longer_they_are() -> None:
    now = 1_800_000_000_000
    begins = [window_start(window, now) for window in ("1month", "3months", "6months", "12months", "all")]
    assert begins == sorted(begins, reverse=True) and begins[0] == now - 30 * 86_400_000 and begins[-1] == 0


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Oaken Static", "OS"),
        ("Matchfeed Invitational", "MI"),
        ("Northern Cup 4", "NC4"),
        ("fnatic", "FNA"),
        ("Второй Завтрак", "ВЗ"),
        ("G2", "G2"),
        ("League of Very Long Words Indeed", "LOVLW"),
        ("!?", "TBD"),
    ],
)
def test_an_abbreviation_is_derived_from_the_name(name: str, short: str) -> None:
    assert abbreviate(name) == short
    assert Competitor(1, name).short_name == Tournament(1, name).short_name == short


@given(st.text())
def test_a_derived_abbreviation_is_never_empty_and_short_and_always_the_same(name: str) -> None:
    short = abbreviate(name)
    assert 1 <= len(short) <= MAX_ABBREVIATION
    assert short.isalnum() and short == abbreviate(f"  {name} ")


@given(st.text(st.characters(categories=["Lu", "Nd"]), min_size=1), st.text())
def test_what_a_file_brought_goes_before_what_is_derived(brought: str, name: str) -> None:
    assert Competitor(1, name, brought).short_name == Tournament(1, name, brought).short_name == brought
    assert Player(1, name, brought).display_name == brought
    assert Player(1, name).display_name == name


_moments = st.none() | st.integers(0, 10)


@given(_moments, _moments, st.lists(st.integers(0, 10)))
def test_a_tournament_without_dates_has_those_of_its_matches(
    starts: int | None, ends: int | None, played: list[int]
) -> None:
    """Known dates stay; with any match both are there; it never ends before it begins."""
    if starts is not None and ends is not None and ends < starts:
        return
    known = Tournament(1, "Northern Cup", starts_at=starts, ends_at=ends)
    found = with_dates(known, min(played, default=None), max(played, default=None))
    assert starts in (None, found.starts_at) and ends in (None, found.ends_at)
    if played:
        assert found.starts_at is not None and found.ends_at is not None
        assert found.starts_at <= found.ends_at
    elif starts is None and ends is None:
        assert found == known


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
