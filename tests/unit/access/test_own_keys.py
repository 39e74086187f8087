"""What a tenant's people may give to a key that they make: never more than one key of theirs has."""

import pytest

from app.access.api_keys import KeyProperties
from app.access.self_service import Entitlement, within
from app.domain import scopes
from app.kit.errors import Invalid

ODDS = Entitlement(scopes.BUNDLES["cs2.odds.basic"], frozenset({"cs2"}), False, 600)
STATS = Entitlement(scopes.BUNDLES["cs2.stats"], frozenset({"cs2", "soccer"}), False, 60)
FINISHED = Entitlement(scopes.ALL, frozenset({"cs2"}), True, 5_000)


def problem(properties: KeyProperties, *granted: Entitlement) -> str:
    with pytest.raises(Invalid) as refusal:
        within(properties, frozenset(granted))
    return refusal.value.fields[0].type


def test_a_key_may_have_what_one_key_has() -> None:
    wanted = KeyProperties(bundles=("cs2.odds.basic",), rate_limit_rpm=600)
    assert within(wanted, frozenset({ODDS, STATS})) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        KeyProperties(scopes=(scopes.SCOREBOARD,)),
        KeyProperties(bundles=("cs2.odds.basic", "cs2.stats"), rate_limit_rpm=60),
        KeyProperties(bundles=("cs2.odds.basic",), sports=("cs2", "soccer"), rate_limit_rpm=60),
        KeyProperties(bundles=("cs2.operator",), rate_limit_rpm=60),
        KeyProperties(scopes=(scopes.LIST,), operator=True, rate_limit_rpm=60),
    ],
)
def test_no_right_and_no_combination_of_rights_beyond_that(wanted: KeyProperties) -> None:
    assert problem(wanted, ODDS, STATS) == "not_entitled"


def test_no_operators_key_even_where_a_key_has_every_scope() -> None:
    every = Entitlement(scopes.ALL, frozenset({"cs2"}), False, 600)
    assert problem(KeyProperties(bundles=("cs2.operator",)), every) == "not_entitled"


def test_nothing_without_a_key() -> None:
    assert problem(KeyProperties(scopes=(scopes.LIST,))) == "not_entitled"


def test_the_rate_is_that_of_the_key_with_those_rights() -> None:
    assert problem(KeyProperties(bundles=("cs2.stats",), rate_limit_rpm=61), ODDS, STATS) == "rate_too_high"
    wanted = KeyProperties(bundles=("cs2.odds.basic",), rate_limit_rpm=601)
    assert problem(wanted, ODDS, FINISHED) == "rate_too_high", "a key for finished matches lends no rate"


def test_rights_of_a_key_for_finished_matches_stay_so_limited() -> None:
    wanted = KeyProperties(scopes=(scopes.MAPS,))
    assert within(wanted, frozenset({ODDS, FINISHED})).finished_only
    assert not within(KeyProperties(scopes=(scopes.LIST,)), frozenset({ODDS, FINISHED})).finished_only
    assert not FINISHED.feed and ODDS.feed and not STATS.feed


def test_scopes_are_shown_as_bundles_where_they_fit() -> None:
    odds = scopes.BUNDLES["cs2.odds.basic"]
    assert scopes.as_bundles(odds | {scopes.MAPS}, finished_only=False) == (
        ("cs2.odds.basic", "cs2.stats"),
        (),
    )
    assert scopes.as_bundles(frozenset({scopes.LIST}), finished_only=False) == ((), (scopes.LIST,))
    finished = scopes.BUNDLES["cs2.scoretock"]
    assert scopes.as_bundles(finished, finished_only=True) == (("cs2.scoretock",), ())
    assert scopes.as_bundles(finished, finished_only=False) == ((), tuple(sorted(finished)))
