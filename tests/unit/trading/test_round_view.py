"""The current round as the round model sees it: what the log has shown, and nothing else."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain.match import Match, MatchPlayer, Side, Team, other_side
from app.trading.round_state import RoundState, SideState
from app.trading.round_view import round_state
from tests.unit.domain.play import TEAMS, Server, fold_arrived, new_match
from tests.unit.domain.test_properties import accounts
from tests.unit.trading.trader import Trader

BOTH: tuple[Team, Team] = ("home", "away")
RIFLES: dict[Side, tuple[str, ...]] = {
    "CT": ("knife", "usp_silencer", "m4a1", "smokegrenade", "flashbang", "kevlar(100)", "helmet", "defuser"),
    "T": ("knife", "glock", "ak47", "molotov", "C4", "weapon_c4", "kevlar(40)"),
}


def live() -> Server:
    server = Server.started()
    server.go_live()
    return server


def planted(server: Server) -> Server:
    server.report(f.BombPlanted(at=server.later(40), player=TEAMS["away"][0], site="A"))
    return server


def state_of(server: Server, *, seconds: float = 0) -> RoundState:
    state = round_state(server.match, server.now + round(seconds * 1000))
    assert state is not None
    return state


def equip(server: Server, *teams: Team, players: int = 5) -> None:
    for team in teams:
        side = server.side_of(team)
        for player in TEAMS[team][:players]:
            server.report(f.Equipped(at=server.now, player=player, side=side, items=RIFLES[side]))


def pay(server: Server, team: Team, money: int, players: int = 5) -> None:
    for player in TEAMS[team][:players]:
        server.report(f.MoneyChanged(at=server.now, player=player, side=server.side_of(team), money=money))


def hit(
    server: Server, team: Team, seat: int, health: int, armour: int, shooter: MatchPlayer | None = None
) -> None:
    victim, side = TEAMS[team][seat], server.side_of(team)
    server.report(
        f.Hurt(at=server.now, victim=victim, side=side, health=health, armour=armour, shooter=shooter)
    )


def listed(server: Server, home: int, away: int) -> None:
    here: dict[Side, tuple[MatchPlayer, ...]] = {"CT": TEAMS["home"][:home], "T": TEAMS["away"][:away]}
    server.report(f.ListBegun(at=server.now))
    for side, players in here.items():
        for player in players:
            nameless = MatchPlayer(player.account, "")
            server.report(
                f.PlayerListed(at=server.now, player=nameless, side=side, money=0, kills=0, deaths=0)
            )
    server.report(f.ListEnded(at=server.now))


def test_there_is_no_state_without_a_round() -> None:
    server = Server()
    assert round_state(server.match, server.now) is None
    server.start_map()
    server.go_live()
    server.win("home")
    assert round_state(server.match, server.now) is None


def test_the_round_and_the_fuse_run_by_our_clock() -> None:
    server = live()
    early = state_of(server, seconds=30)
    late = state_of(planted(server), seconds=15)
    assert (early.phase, early.seconds_left) == ("live", 85)
    assert (late.phase, late.seconds_left) == ("planted", 25)
    assert state_of(server, seconds=99).seconds_left == 0


def test_the_server_says_how_long_a_round_is(server: Server) -> None:
    names = {"round_time": 300.0, "defuse_round_time": 120.0, "fuse_time": 35.0, "freeze_time": 20.0}
    server.report(*(f.ClockSet(at=server.now, name=name, seconds=seconds) for name, seconds in names.items()))
    assert state_of(server, seconds=5).seconds_left == 15
    server.go_live()
    assert state_of(server, seconds=20).seconds_left == 100
    assert state_of(planted(server), seconds=20).seconds_left == 15


def test_a_round_whose_beginning_was_not_seen_has_no_clock(server: Server) -> None:
    server.later(20)
    server.kill("home", 0, 0)
    assert (state_of(server).phase, state_of(server).seconds_left) == ("live", None)


def test_a_pause_stops_the_freeze_time_and_begins_it_anew(server: Server) -> None:
    server.report(f.Paused(at=server.later(5), reason="TimeOutTs"))
    assert state_of(server, seconds=30).seconds_left is None
    server.report(f.Resumed(at=server.later(60), reason="TimeOutTs"))
    assert state_of(server, seconds=4).seconds_left == 11


def test_sides_are_the_teams_of_this_half(server: Server) -> None:
    first_half: list[Team] = ["home"] * 12
    server.rounds(*first_half[:11])
    server.round("home")
    server.change_sides()
    server.opening_kill("home")
    state = state_of(server)
    assert (state.number, state.ct.alive, state.t.alive) == (1, 4, 5)


def test_money_goes_with_the_players_who_change_sides(server: Server) -> None:
    for team, money in zip(BOTH, (800, 700), strict=True):
        pay(server, team, money)
    server.go_live()
    everybody = [(player, server.side_of(team)) for team in BOTH for player in TEAMS[team]]
    server.report(
        *(f.SideSwitched(at=server.now, player=player, side=other_side(side)) for player, side in everybody)
    )
    assert (state_of(server).ct.money, state_of(server).t.money) == (3500, 4000)


def test_the_loss_bonus_counts_within_the_half(server: Server) -> None:
    server.rounds("home", "home", "away", "home", "home", "home", "home")
    state = state_of(server)
    assert (state.number, state.ct.losses, state.t.losses) == (8, 0, 4)


def test_a_round_whose_winner_was_not_seen_leaves_the_loss_bonus_unknown(server: Server) -> None:
    server.rounds("home")
    server.go_live()
    server.score["home"] += 1
    server.report(f.DataLost(at=server.now, reason="gap"))
    server.status()
    server.report(f.DataComplete(at=server.now))
    server.freeze()
    assert state_of(server).ct.losses is None


def test_money_is_known_once_every_player_has_shown_it() -> None:
    server = live()
    pay(server, "home", 500, players=4)
    assert state_of(server).ct.money is None
    pay(server, "home", 500)
    assert (state_of(server).ct.money, state_of(server).t.money) == (2500, None)
    server.kill("away", 0, 0)
    assert state_of(server).ct.money == 2500


def test_health_is_known_while_hits_are_logged(server: Server) -> None:
    assert state_of(server).ct.health == 500
    server.go_live()
    assert state_of(server).ct.health is None
    hit(server, "home", 0, 30, 0)
    assert (state_of(server).ct.health, state_of(server).t.health) == (430, 500)
    server.kill("away", 0, 0)
    assert state_of(server).ct.health == 400


def test_equipment_is_followed_from_the_beginning_of_a_half(server: Server) -> None:
    assert state_of(server).ct.weapons is None
    for player in (*TEAMS["home"], *TEAMS["away"]):
        side: Side = "CT" if player in TEAMS["home"] else "T"
        server.report(f.ItemAcquired(at=server.now, player=player, side=side, item="p250"))
    server.report(f.ItemAcquired(at=server.now, player=TEAMS["home"][0], side="CT", item="item_kevlar"))
    server.report(f.ItemAcquired(at=server.now, player=TEAMS["home"][1], side="CT", item="hegrenade"))
    state = state_of(server)
    assert (state.ct.weapons, state.ct.utility, state.ct.armour) == (5 * 300 + 650, 300, 100)
    assert (state.t.weapons, state.t.utility, state.t.armour) == (5 * 300, 0, 0)


def test_equipment_is_known_once_all_living_players_have_shown_it() -> None:
    server = live()
    server.report(f.DataLost(at=server.now, reason="gap"), f.DataComplete(at=server.now))
    server.win("home")
    server.freeze()
    server.go_live()
    hit(server, "away", 0, 100, 40)
    equip(server, "home", "away", players=4)
    assert (state_of(server).ct.weapons, state_of(server).t.weapons) == (None, None)
    equip(server, "home")
    server.kill("home", 0, 4)
    state = state_of(server)
    assert state.ct.weapons == 5 * (200 + 2900 + 1000 + 400)
    assert (state.ct.helmets, state.ct.kits, state.ct.utility, state.ct.armour) == (5, 5, 2500, 500)
    assert (state.t.weapons, state.t.armour, state.t.kits) == (4 * (200 + 2700 + 260), 160, 0)


def test_an_item_without_a_price_leaves_the_worth_unknown() -> None:
    server = live()
    equip(server, "home", "away")
    server.report(f.ItemAcquired(at=server.now, player=TEAMS["away"][0], side="T", item="railgun"))
    assert (state_of(server).t.weapons, state_of(server).t.utility) == (None, 2000)


def test_after_missing_data_nothing_is_known_but_what_is_shown_again() -> None:
    server = live()
    equip(server, "home", "away")
    pay(server, "home", 1000)
    hit(server, "home", 0, 50, 0)
    server.report(f.DataLost(at=server.now, reason="gap"))
    state = state_of(server)
    assert [state.seconds_left, state.ct.health, state.ct.weapons, state.ct.money] == [None] * 4
    server.report(f.DataComplete(at=server.now))
    server.win("home")
    server.freeze()
    state = state_of(server)
    assert (state.ct.health, state.ct.weapons, state.ct.money) == (500, None, None)
    pay(server, "home", 1000)
    assert (state_of(server).ct.money, state_of(server).seconds_left) == (5000, 15)


def test_what_a_restored_backup_gives_back_is_unknown() -> None:
    server = live()
    equip(server, "home", "away")
    server.win("home")
    server.freeze()
    server.go_live()
    server.win("home")
    assert server.match.shown.all_equipment_known
    server.score["home"] = 1
    server.freeze()
    assert state_of(server).number == 2
    assert state_of(server).ct.weapons is None


@pytest.mark.parametrize(("kit", "seconds"), [(True, 5), (False, 10)])
def test_a_defuse_that_has_begun(kit: bool, seconds: int) -> None:
    server = planted(live())
    server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][1], kit=kit))
    defuse = state_of(server, seconds=2).defuse
    assert defuse is not None and (defuse.kit, defuse.seconds_left) == (kit, seconds - 2)
    assert state_of(server, seconds=seconds + 3).defuse is None


def test_a_defuse_ends_with_the_death_of_its_player() -> None:
    server = planted(live())
    server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][1]))
    server.kill("away", 0, 2)
    assert state_of(server).defuse is not None
    server.kill("away", 0, 1)
    assert state_of(server).defuse is None


def test_a_defuse_ends_when_its_player_shoots_or_throws() -> None:
    for act in ("shot", "kill", "throw"):
        server = planted(live())
        fox = TEAMS["home"][1]
        server.report(f.DefuseBegun(at=server.later(), player=fox))
        hit(server, "away", 1, 90, 0, shooter=TEAMS["home"][2])
        assert state_of(server).defuse is not None
        if act == "shot":
            hit(server, "away", 1, 50, 0, shooter=fox)
        elif act == "kill":
            server.kill("home", 1, 1)
        else:
            server.report(f.ItemLost(at=server.now, player=fox, item="smokegrenade"))
        assert state_of(server).defuse is None


def test_fire_that_a_defuser_lit_before_does_not_end_the_defuse() -> None:
    server = planted(live())
    server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][1]))
    server.kill("home", 1, 1, weapon="inferno")
    assert state_of(server).defuse is not None


def test_a_second_attempt_counts_from_its_beginning() -> None:
    server = planted(live())
    for _ in range(2):
        server.report(f.DefuseBegun(at=server.later(4), player=TEAMS["home"][1]))
    defuse = state_of(server).defuse
    assert defuse is not None and defuse.seconds_left == 10


def test_a_plant_that_has_begun() -> None:
    server = live()
    server.report(f.PlantBegun(at=server.later(), player=TEAMS["away"][1]))
    assert state_of(server, seconds=1).plant_seconds_left == pytest.approx(2.2)
    assert state_of(planted(server)).plant_seconds_left is None


def test_a_player_who_never_connected_is_missing(server: Server) -> None:
    listed(server, 5, 4)
    state = state_of(server)
    assert (state.ct.alive, state.t.alive, state.t.health) == (5, 4, 400)
    server.report(f.PlayerJoined(at=server.now, player=TEAMS["away"][4], side="T"))
    assert state_of(server).t.alive == 5
    listed(server, 5, 4)
    server.rounds("home")
    assert state_of(server).t.alive == 4
    listed(server, 5, 5)
    assert state_of(server).t.alive == 5


def test_a_list_that_lacks_a_whole_team_shows_nothing(server: Server) -> None:
    listed(server, 5, 0)
    assert state_of(server).t.alive == 5


def test_money_of_a_team_that_is_a_player_short_is_that_of_the_others(server: Server) -> None:
    pay(server, "home", 1000)
    server.report(f.PlayerLeft(at=server.now, player=TEAMS["home"][0], side="CT"))
    assert (state_of(server).ct.alive, state_of(server).ct.money) == (4, 4000)


def test_a_match_that_an_earlier_version_stored_shows_less_and_has_prices() -> None:
    server = live()
    equip(server, "home", "away")
    hit(server, "away", 0, 20, 0)
    stored = msgspec.json.decode(msgspec.json.encode(server.match))
    for name in ("shown", "clock_rules"):
        stored.pop(name, None)
    server.match = msgspec.convert(stored, Match)
    state = state_of(server)
    assert (state.phase, state.ct.alive, state.seconds_left) == ("live", 5, None)
    assert (state.ct.health, state.ct.weapons) == (None, None)
    trader = Trader.opened(server.match)
    assert any(market.odds for market in trader.open())


@settings(deadline=None)
@given(accounts, st.integers(0, 200_000))
def test_whatever_is_reported_what_is_known_is_possible(account: list[f.Fact], later: int) -> None:
    match = new_match(best_of=3)
    for fact in account:
        match, _ = fold_arrived(match, (fact,))
        state = round_state(match, match.last_arrived_at + later)
        if state is not None:
            possible(state)


def possible(state: RoundState) -> None:
    for side in (state.ct, state.t):
        assert 0 <= side.alive <= 5
        for value, most in limits(side):
            assert value is None or 0 <= value <= most
    clocks = [state.seconds_left, state.plant_seconds_left, state.defuse and state.defuse.seconds_left]
    assert all(seconds is None or seconds >= 0 for seconds in clocks)
    assert state.defuse is None or state.phase == "planted"


def limits(side: SideState) -> list[tuple[int | None, int]]:
    """What is known of the living, with the most that they can have."""
    of_living = [(side.health, 100), (side.armour, 100), (side.helmets, 1), (side.kits, 1)]
    return [
        *((value, most * side.alive) for value, most in of_living),
        (side.money, 80_000),
        (side.losses, 4),
    ]
