"""Which moves of a price need a cause, and which causes explain them."""

from decimal import Decimal
from itertools import groupby
from random import Random

import pytest
from msgspec.structs import replace

from app.domain import changes as c
from app.domain import facts as f
from app.domain.market import Market, MarketKey, MarketStatus
from app.domain.match import RoundKnowledge, Team
from app.domain.transitions import fold
from app.ingest import cs2log
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, play
from app.trading.engine import react
from app.trading.price_guard import unexplained_move
from tests.unit.domain.play import TEAMS, Server
from tests.unit.trading.trader import PRICING, new_match

HOME_WINS = "map=1|round=1|team=home"
SECOND = 1000


def market(probability: float, *, at: int, type_id: int = 13) -> Market:
    return Market(type_id, HOME_WINS, MarketStatus.ACTIVE, Decimal(2), probability, priced_at=at)


@pytest.fixture
def server(server: Server) -> Server:
    """A game server with its first round in play."""
    server.opening_kill("home")
    return server


def moved(server: Server, *facts: f.Fact, by: float, seconds: float = 0, type_id: int = 13) -> str:
    """What is reported of a price of .5 that moves by so much at these facts."""
    before = server.match
    changes = server.report(*facts)
    old = market(0.5, at=server.now, type_id=type_id)
    new = replace(old, probability=0.5 + by)
    now = server.now + int(seconds * SECOND)
    found = unexplained_move(before, server.match, changes, {old.key: old}, [new], now)
    return found.text if found else ""


def test_a_jump_without_a_cause_is_named(server: Server) -> None:
    assert moved(server, by=0.2) == f"13:{HOME_WINS} moved from 0.500 to 0.700"
    assert moved(server, by=-0.2)
    assert not moved(server, by=0.04)


def test_the_first_prices_after_a_process_of_0_1_0_may_be_any(server: Server) -> None:
    """It does not know what is known of the round, and prices by another model."""
    server.match = replace(server.match, shown=RoundKnowledge())
    hurt = f.Hurt(at=server.later(), victim=TEAMS["away"][1], side="T", health=90, armour=0)
    assert not moved(server, hurt, by=0.4)
    assert moved(server, by=0.2)


def test_time_explains_a_little_and_only_in_a_round(server: Server) -> None:
    assert not moved(server, by=0.2, seconds=6)
    assert moved(server, by=0.4, seconds=60)
    server.win("home")
    server.freeze()
    assert moved(server, by=0.2, seconds=60)


def test_health_and_weapons_explain_more(server: Server) -> None:
    hurt = f.Hurt(at=server.later(), victim=TEAMS["away"][1], side="T", health=3, armour=0)
    assert not moved(server, hurt, by=0.3)
    worse = f.Hurt(at=server.later(), victim=TEAMS["away"][1], side="T", health=1, armour=0)
    assert moved(server, worse, by=0.45)


@pytest.mark.parametrize(("team", "sign"), [("home", 1), ("away", -1)])
def test_a_kill_explains_moves_in_favour_of_its_team(server: Server, team: Team, sign: int) -> None:
    assert not moved(server, server.kill_fact(team, 1, 2), by=0.45 * sign)
    assert moved(server, server.kill_fact(team, 1, 3), by=-0.45 * sign)


def test_kills_of_both_teams_explain_any_move(server: Server) -> None:
    both = server.kill_fact("home", 1, 2), server.kill_fact("away", 1, 2)
    assert not moved(server, *both, by=0.45)


def test_a_kill_explains_moves_of_the_map(server: Server) -> None:
    assert not moved(server, server.kill_fact("home", 1, 2), by=-0.45, type_id=6)


def test_a_result_explains_everything(server: Server) -> None:
    assert not moved(server, server.won_fact("away"), by=0.45)


def test_an_operators_command_explains_everything(server: Server) -> None:
    old = market(0.5, at=server.now)
    new = replace(old, probability=0.9)
    args = {old.key: old}, [new], server.now
    assert unexplained_move(server.match, server.match, (), *args) is not None
    assert unexplained_move(server.match, server.match, (c.DetailsChanged(),), *args) is None


def test_what_opens_or_closes_has_not_moved(server: Server) -> None:
    old = market(0.5, at=server.now)
    suspended = replace(old, status=MarketStatus.SUSPENDED)
    for before, after in (
        (suspended, replace(old, probability=0.9)),
        (old, replace(suspended, probability=0.9)),
    ):
        book = {before.key: before}
        assert unexplained_move(server.match, server.match, (), book, [after], server.now) is None
    new = market(0.9, at=server.now)
    assert unexplained_move(server.match, server.match, (), {}, [new], server.now) is None


@pytest.mark.parametrize(("by", "seconds", "too_much"), [(0.45, 8, (0.45, 2)), (0.15, 1, (0.2, 1))])
def test_a_defuse_explains_more_each_second_and_any_move_when_it_should_be_done(
    server: Server, by: float, seconds: float, too_much: tuple[float, float]
) -> None:
    """No line says that a defuse was stopped: the clock does."""
    server.plant("away", 1)
    assert moved(server, by=by, seconds=seconds)
    server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][1], kit=True))
    assert not moved(server, by=by, seconds=seconds)
    assert moved(server, by=too_much[0], seconds=too_much[1])


def test_in_the_last_seconds_time_decides(server: Server) -> None:
    """With 5 s of fuse left a defuse with a kit is in time at one moment and late at the next."""
    assert moved(server, by=0.45, seconds=80)
    assert not moved(server, by=0.45, seconds=110)


@pytest.mark.parametrize("seed", [0, 2, 27])
def test_nothing_in_simulated_play_is_unexplained(seed: int) -> None:
    """A guard that acts on true prices closes sound markets. These maps have what it once took for jumps: the
    seconds of a defuse, and the last ones of clock and fuse."""
    home, away = fictional_world().pair(Random(seed))
    plan = MatchPlan(home, away, seed, 1_790_000_000_000, brief=True, knife=False)
    bodies = {
        int(second): "".join(f"{line.text}\n" for line in lines)
        for second, lines in groupby(play(plan, new_truth(plan)), key=lambda line: int(line.at))
    }
    match, book, moved_in_play = new_match(plan), dict[MarketKey, Market](), 0
    for second in range(max(bodies) + 1):
        now = plan.begin + (second + 1) * SECOND
        before, (match, changes) = match, fold(match, cs2log.read(bodies.get(second, ""), now).facts)
        reaction = react(match, changes, book, now=now, may_price=True, pricing=PRICING)
        found = unexplained_move(before, match, changes, book, reaction.markets, now)
        assert found is None, f"second {second}: {found.text}"
        moved_in_play += bool(reaction.markets) and not changes
        book |= {each.key: each for each in reaction.markets}
    assert moved_in_play > 50, "time alone moves prices"
