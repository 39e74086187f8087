"""What the scoreboard shows of the round being played."""

from app.domain import facts as f
from app.domain.loadout import Loadout
from app.domain.match import MatchPlayer
from tests.unit.domain.play import TEAMS, Server

FOX, HERON = TEAMS["home"][0], TEAMS["away"][0]


def sheet(server: Server, player: MatchPlayer) -> Loadout:
    return next(row for row in server.match.loadouts if row.account == player.account)


def buy(server: Server, *items: str, player: MatchPlayer = FOX) -> None:
    server.report(*(f.ItemAcquired(at=server.now, player=player, side="CT", item=item) for item in items))


def test_what_is_picked_up_is_carried_and_worn(server: Server) -> None:
    buy(server, "knife", "ak47", "flashbang", "flashbang", "ak47", "item_assaultsuit", "item_defuser")
    row = sheet(server, FOX)
    assert row.weapons == ("ak47", "flashbang", "flashbang")
    assert (row.armour, row.helmet, row.kit) == (100, True, True)


def test_the_list_at_the_buy_zone_replaces_what_was_known(server: Server) -> None:
    buy(server, "glock", "mac10")
    carried = ("weapon_knife_t", "weapon_ak47", "weapon_incgrenade", "kevlar(87)")
    server.report(f.Equipped(at=server.now, player=FOX, side="CT", items=carried))
    assert sheet(server, FOX).weapons == ("ak47", "incgrenade")
    server.report(f.ItemLost(at=server.now, player=FOX, item="molotov"))
    assert sheet(server, FOX).weapons == ("ak47",)


def test_money_is_as_the_log_last_reported_it(server: Server) -> None:
    server.report(f.MoneyChanged(at=server.now, player=FOX, side="CT", money=800))
    server.report(f.MoneyChanged(at=server.now, player=MatchPlayer(FOX.account, ""), side="CT", money=3250))
    server.report(f.MoneyChanged(at=server.now, player=MatchPlayer(999, ""), side="CT", money=1))
    assert [(row.name, row.money) for row in server.match.loadouts] == [(FOX.name, 3250)]


def test_hits_and_deaths_show_until_the_next_freeze(server: Server) -> None:
    buy(server, "ak47")
    buy(server, "awp", player=HERON)
    server.go_live()
    server.report(f.Hurt(at=server.now, victim=FOX, side="CT", health=40, armour=60))
    server.kill("home", 0, 0)
    server.report(f.Hurt(at=server.now, victim=HERON, side="T", health=12, armour=0))
    assert (sheet(server, FOX).health, sheet(server, HERON).health) == (40, 0)
    assert sheet(server, HERON).weapons == ()
    server.win("home")
    server.freeze()
    assert (sheet(server, FOX).health, sheet(server, FOX).weapons) == (100, ("ak47",))
    assert sheet(server, HERON).health == 100


def test_equipment_is_reset_at_half_time_and_deleted_with_the_map(server: Server) -> None:
    buy(server, "ak47")
    server.rounds(*["home"] * 11)
    assert sheet(server, FOX).weapons == ("ak47",)
    server.round("home")
    server.change_sides()
    assert sheet(server, FOX).weapons == ()
    server.round("home")
    server.game_over()
    assert server.match.loadouts == ()


def test_outside_of_play_nothing_is_shown() -> None:
    server = Server()
    buy(server, "ak47")
    assert server.match.loadouts == ()
