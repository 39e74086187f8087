"""The value of teams' equipment in rounds, and the results of each buy type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.analytics import TeamLine, teams_on_maps
from app.domain.changes import RoundFinished
from app.domain.loadout import (
    Loadout,
    buy_type,
    equipment_value,
    team_equipment_values,
    without_refunded,
)
from app.domain.match import Team
from app.sandbox.simulator.economy import GEAR, GRENADES, WEAPONS
from tests.unit.domain.play import TEAMS, Server
from tests.unit.domain.test_analytics import history

SAVED = ("weapon_knife", "weapon_glock")
FORCED = (*SAVED, "weapon_mac10", "kevlar(100)", "weapon_flashbang", "weapon_flashbang")
_CARRIED = Loadout(101, "fox1", "CT", armour=100, helmet=True, kit=True)
BOUGHT = ("weapon_knife", "weapon_deagle", "weapon_ak47", "kevlar(100)", "helmet")


def equip(server: Server, team: Team, items: tuple[str, ...], seats: int = 5) -> None:
    side = server.side_of(team)
    for player in TEAMS[team][:seats]:
        server.report(f.Equipped(at=server.later(), player=player, side=side, items=items))


def worths(server: Server) -> list[tuple[int | None, int | None]]:
    return [change.round.worth for change in server.changes_of(RoundFinished)]


def played(*buys: tuple[tuple[str, ...], tuple[str, ...], Team]) -> Server:
    """A map from its second round on: what home and away carry, and who wins."""
    server = Server.started()
    server.rounds("home")
    for home, away, winner in buys:
        equip(server, "home", home)
        equip(server, "away", away)
        server.rounds(winner)
    return server


def test_a_round_has_both_teams_equipment_values() -> None:
    server = played((BOUGHT, SAVED, "home"), (FORCED, BOUGHT, "away"))
    assert worths(server) == [(None, None), (22_000, 1_000), (11_500, 22_000)]


def test_a_value_without_all_five_players_is_unknown(server: Server) -> None:
    server.rounds("home")
    equip(server, "home", BOUGHT, seats=4)
    equip(server, "away", (*BOUGHT, "weapon_new"))
    server.rounds("home")
    assert worths(server)[-1] == (None, None)


def test_only_what_a_player_first_left_with_counts(server: Server) -> None:
    server.rounds("home")
    equip(server, "home", SAVED)
    equip(server, "home", BOUGHT)
    server.rounds("home")
    assert worths(server)[-1] == (1_000, None)


def test_buys_are_counted_by_what_came_of_them() -> None:
    server = played(
        (BOUGHT, SAVED, "home"),
        (BOUGHT, BOUGHT, "away"),
        (FORCED, BOUGHT, "home"),
        (SAVED, FORCED, "away"),
    )
    server.rounds(*["home"] * 10)
    server.change_sides()
    server.rounds(*["home"] * 12)
    server.game_over()
    home, away = (one.line for one in teams_on_maps(*history(server)))
    assert counted(home) == (1, 0, 1, 1, 2, 1, 1, 0)
    assert counted(away) == (1, 0, 1, 1, 2, 1, 1, 1)


def counted(line: TeamLine) -> tuple[int, ...]:
    return (
        *(line.ecos, line.ecos_won, line.forces, line.forces_won, line.fulls, line.fulls_won),
        *(line.even_fulls, line.even_fulls_won),
    )


@given(
    st.lists(st.sampled_from([*WEAPONS.values()]), max_size=3),
    st.lists(st.sampled_from([*GRENADES]), max_size=4),
)
def test_prices_are_those_of_the_simulator(weapons: list[object], grenades: list[str]) -> None:
    bought = [weapon for weapon in WEAPONS.values() if weapon in weapons and weapon.price]
    items = [f"weapon_{weapon.name}" for weapon in bought] + [f"weapon_{name}" for name in grenades]
    price = sum(weapon.price for weapon in bought) + sum(GRENADES[name] for name in grenades)
    assert equipment_value(items) == price
    assert equipment_value([*items, "weapon_new"]) is None
    for gear, price in GEAR.items():
        assert equipment_value([gear]) == price


@pytest.mark.parametrize(
    ("value", "kind"), [(0, "eco"), (4999, "eco"), (5000, "force"), (19_999, "force"), (20_000, "full")]
)
def test_a_buy_is_what_the_team_carries(value: int, kind: str) -> None:
    assert buy_type(value) == kind


def test_sides_change_and_teams_do_not() -> None:
    carried = [(number, side, 100 * n) for n, side in enumerate(("CT", "T"), 1) for number in range(5)]
    assert team_equipment_values(carried, "CT") == (500, 1000)
    assert team_equipment_values(carried, "T") == (1000, 500)


@pytest.mark.parametrize(
    ("refund", "left"),
    [
        (2700, (("deagle", "molotov"), 100, True, True)),
        (400, (("deagle", "ak47"), 100, True, True)),
        (350, (("deagle", "ak47", "molotov"), 100, False, True)),
        (650, (("deagle", "ak47", "molotov"), 0, False, True)),
        (1000, (("deagle", "ak47", "molotov"), 0, False, True)),
        (99, (("deagle", "ak47", "molotov"), 100, True, True)),
    ],
)
def test_what_is_given_back_is_what_costs_as_much(refund: int, left: tuple[object, ...]) -> None:
    carried = replace(_CARRIED, weapons=("deagle", "ak47", "molotov"))
    now = replace(carried, **without_refunded(carried, refund))
    assert (now.weapons, now.armour, now.helmet, now.kit) == left


def test_a_kit_is_given_back_by_who_carries_nothing_else_that_costs_as_much() -> None:
    carried = replace(_CARRIED, weapons=("deagle",))
    assert without_refunded(carried, 400) == {"kit": False}
