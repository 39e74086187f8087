"""The bettors' benchmark: who knows more may stake less by the advice, and the public stakes as before."""

import math

import pytest

from scripts.bench.bettors import left, mean_of, table
from scripts.bench.bettors_play import BETTORS, POLICIES, Account, Accounts, of_map, profits, turnovers


@pytest.fixture(scope="module")
def maps() -> list[Accounts]:
    return [of_map(seed, 0.1) for seed in range(24)]


def test_informed_bettors_stake_less_by_the_advice(maps: list[Accounts]) -> None:
    for bettor in ("ahead", "strength"):
        assert 0 < turnovers(maps, "both", bettor) < turnovers(maps, "none", bettor) / 2


def test_who_is_ahead_wins_less_of_each_unit_by_the_advice(maps: list[Accounts]) -> None:
    without, by_advice = (
        sum(profits(maps, policy, ("ahead",))) / turnovers(maps, policy, "ahead")
        for policy in ("none", "both")
    )
    assert without > 0 and by_advice < without


def test_the_public_stakes_no_less_by_the_advice(maps: list[Accounts]) -> None:
    assert turnovers(maps, "both", "public") >= 0.9 * turnovers(maps, "none", "public") > 0


def test_the_same_map_is_the_same_each_time(maps: list[Accounts]) -> None:
    assert of_map(0, 0.1) == maps[0]


def test_means_have_intervals_over_maps() -> None:
    accounts: list[Accounts] = [
        {("both", "public"): Account(10.0, -1.0), ("both", "ahead"): Account(1.0, 0.5)},
        {("both", "public"): Account(20.0, -3.0)},
    ]
    found = mean_of(profits(accounts, "both", ("public",)))
    assert found.value == -2 and found.error == pytest.approx(1.96 * math.sqrt(2) / math.sqrt(2))
    assert left(accounts, "both").value == pytest.approx(1.75)
    assert turnovers(accounts, "both", "public") == 15
    assert len(list(table(accounts))) == 2 + len(POLICIES) * len(BETTORS)
