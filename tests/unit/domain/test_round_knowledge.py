"""What the scoreboard shows of the round being played.

Kills, deaths and assists of every player are those of the server's own scoreboard after every round.
"""

import re
from collections.abc import Iterator
from uuid import UUID

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.analytics import tallies
from app.domain.changes import EventAdded, EventAmended, RoundsVoided
from app.domain.loadout import Loadout
from app.domain.match import Match, MatchPlayer, TimelineEvent
from app.domain.transitions import fold
from app.ingest import cs2log
from tests.support.real_match import AWAY, HOME
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


def test_who_shoots_plants_and_defuses_no_more(server: Server) -> None:
    server.go_live()
    server.report(f.PlantBegun(at=server.later(), player=HERON), f.DefuseBegun(at=server.now, player=FOX))
    hit = f.Hurt(at=server.now, victim=TEAMS["home"][1], side="CT", health=40, armour=60)
    server.report(hit)
    assert server.match.shown.plant and server.match.shown.defuse
    server.report(replace(hit, shooter=HERON))
    assert server.match.shown.plant is None and server.match.shown.defuse
    server.report(replace(hit, shooter=FOX))
    assert server.match.shown.defuse is None


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


ROW = re.compile(r'"player_\d+" : "([\d ,.]+)')
Count = tuple[int, int, int]


def blocks(log: str) -> Iterator[tuple[str, dict[int, Count]]]:
    """The log in pieces that each end with a `round_stats` block, and that block's counts by account."""
    for piece in re.split(r"(?<=JSON_END)\n", log):
        rows = [found[1].split(",") for found in ROW.finditer(piece)]
        shown = {int(row[0]): (int(row[3]), int(row[4]), int(row[5])) for row in rows}
        yield piece + "\n", {account: count for account, count in shown.items() if account}


def test_what_we_count_is_what_the_server_counts(real_log: str) -> None:
    match = Match(UUID(int=1), 1, HOME, AWAY, "")
    events: dict[int, TimelineEvent] = {}
    compared: set[int] = set()
    for number, (piece, shown) in enumerate(blocks(real_log)):
        match, changes = fold(match, cs2log.read(piece, number * 1_000_000).facts)
        for change in changes:
            if isinstance(change, EventAdded | EventAmended):
                events[change.event.id] = change.event
            elif isinstance(change, RoundsVoided):
                for gone in change.events:
                    del events[gone]
        if match.map is not None and match.map.rounds_won:
            ours = {
                player.account: (tally.kills, tally.deaths, tally.assists)
                for player, _, tally in tallies(0, events.values(), match.other_deaths)
            }
            assert {account: ours.get(account, (0, 0, 0)) for account in shown} == shown, match.map.rounds_won
            compared.add(match.map.rounds_won)
    assert len(compared) >= 14
