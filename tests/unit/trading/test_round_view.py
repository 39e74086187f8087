"""The current round as the round model sees it."""

from app.domain import facts as f
from app.trading.round_view import round_state
from tests.unit.domain.play import TEAMS, Server


def live_server() -> Server:
    server = Server()
    server.start_map()
    server.go_live()
    return server


def test_there_is_no_state_without_a_round() -> None:
    server = Server()
    assert round_state(server.match, server.now) is None
    server.start_map()
    server.go_live()
    server.win("home")
    assert round_state(server.match, server.now) is None


def test_the_round_and_the_fuse_run_by_our_clock() -> None:
    server = live_server()
    live = round_state(server.match, server.now + 30_000)
    server.report(f.BombPlanted(at=server.later(40), player=TEAMS["away"][0], site="A"))
    planted = round_state(server.match, server.now + 15_000)
    assert live is not None and planted is not None
    assert (live.phase, live.seconds_left) == ("live", 85.0)
    assert (planted.phase, planted.seconds_left) == ("planted", 25.0)


def test_sides_are_the_teams_of_this_half() -> None:
    server = Server()
    server.start_map()
    server.rounds(*["home"] * 11)
    server.round("home")
    server.swap()
    server.freeze()
    server.go_live()
    server.kill("home", 0, 0)
    state = round_state(server.match, server.now)
    assert state is not None
    assert (state.number, state.ct.alive, state.t.alive) == (1, 4, 5)


def test_the_loss_bonus_counts_within_the_half() -> None:
    server = Server()
    server.start_map()
    server.rounds("home", "home", "away", "home", "home", "home", "home")
    state = round_state(server.match, server.now)
    assert state is not None
    assert (state.number, state.ct.losses, state.t.losses) == (8, 0, 4)


def test_money_that_one_player_does_not_show_is_unknown() -> None:
    server = live_server()
    for player in TEAMS["home"][:4]:
        server.report(f.MoneyChanged(at=server.now, player=player, side="CT", money=500))
    before = round_state(server.match, server.now)
    server.report(f.MoneyChanged(at=server.now, player=TEAMS["home"][4], side="CT", money=150))
    after = round_state(server.match, server.now)
    assert before is not None and after is not None
    assert (before.ct.money, after.ct.money, after.t.money) == (None, 2150, None)
