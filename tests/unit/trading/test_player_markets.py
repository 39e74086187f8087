"""Player kills: counted as the scoreboard does, void with their rounds, and where they are not known."""

from collections import Counter
from typing import NamedTuple

import pytest

from app.domain import facts as f
from app.domain.entrants import account_of, player_number
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match
from app.sandbox.simulator.match_simulation import new_truth
from app.sandbox.simulator.truth import MapTruth, SeriesTruth
from app.trading.rules import parse_specifiers
from tests.support.simulated import plan_between
from tests.unit.domain.play import TEAMS, new_match
from tests.unit.domain.test_properties import end_map
from tests.unit.trading.test_engine import TradedServer
from tests.unit.trading.trader import Trader, trade

OVER, UNDER, MORE, MOST, SHARED = 36, 37, 38, 39, 40
FOX0 = TEAMS["home"][0]


def markets(server: TradedServer, account: int = FOX0.account) -> dict[tuple[int, float], MarketStatus]:
    number = player_number(account)
    return {
        (market.type_id, specifiers.threshold): market.status
        for market in server.trader.book.values()
        if market.type_id in (OVER, UNDER)
        and (specifiers := parse_specifiers(market.specifiers)).player == f"mf:player:{number}"
    }


def market(server: TradedServer, line: float, type_id: int = OVER) -> Market:
    number = player_number(FOX0.account)
    return server.trader.of(type_id, f"map=1|player=mf:player:{number}|threshold={line}")


def result(server: TradedServer, line: float, type_id: int = OVER) -> Result | None:
    return market(server, line, type_id).result


def opened(server: TradedServer) -> float:
    return next(line for type_id, line in markets(server) if type_id == OVER)


@pytest.fixture
def server() -> TradedServer:
    """After one round in which `fox0` had a kill."""
    server = TradedServer.started(new_match(best_of=3))
    server.rounds("home")
    return server


def test_players_whom_the_log_named_are_on_offer_between_rounds(server: TradedServer) -> None:
    assert set(markets(server).values()) == {MarketStatus.ACTIVE} and len(markets(server)) == 2
    assert not markets(server, TEAMS["home"][4].account), "nobody has seen them yet"
    server.go_live()
    assert set(markets(server).values()) == {MarketStatus.SUSPENDED}


def test_over_is_decided_by_the_kill_that_exceeds_the_line(server: TradedServer) -> None:
    line = opened(server)
    for _ in range(4):
        server.go_live()
        for victim in range(5):
            server.kill("home", 0, victim)
        server.win("home")
        server.freeze()
    assert (result(server, line), len(market(server, line).rests_on)) == (Result.WON, int(line) + 1)
    assert result(server, line, UNDER) is Result.LOST


def test_under_is_decided_by_the_end_of_the_map() -> None:
    server = TradedServer.started(new_match(best_of=3))
    server.rounds("home")
    line = opened(server)
    for half in range(2):
        for _ in range(11 + half):
            server.opening_kill("away")
            server.win("away")
            if max(server.score.values()) < 13:
                server.freeze()
            else:
                break
        if not half:
            server.change_sides()
    assert result(server, line) is None
    server.game_over()
    assert (result(server, line), result(server, line, UNDER)) == (Result.LOST, Result.WON)


def test_kills_of_a_restored_round_do_not_count(server: TradedServer) -> None:
    before = server.match.maps[0].counted[0].kills
    server.rounds("home", "home")
    server.score = {"home": 1, "away": 0}
    server.report(f.RestoreAnnounced(at=server.later(), round=1))
    server.freeze()
    assert server.match.maps[0].rounds_won == 1
    assert [one.kills for one in server.match.maps[0].counted] == [before]


def test_a_kill_after_the_rounds_decision_counts_as_on_the_scoreboard(server: TradedServer) -> None:
    server.opening_kill("home")
    server.win("home", "time")
    server.kill("home", 0, 1)
    played = server.match.maps[0].counted[-1]
    assert {one.account: len(one.ids) for one in played.kills or ()}[FOX0.account] == 2


def test_a_hole_in_the_log_takes_the_map_off_offer_and_voids_what_is_not_exceeded(
    server: TradedServer,
) -> None:
    line = opened(server)
    server.go_live()
    server.report(f.DataLost(at=server.later(), reason="hole"))
    server.report(f.DataComplete(at=server.later()))
    server.win("away")
    server.freeze()
    assert MarketStatus.ACTIVE not in markets(server).values()
    end_map(server, "away")
    assert (result(server, line), result(server, line, UNDER)) == (Result.VOID, Result.VOID)


def account_named(player: str) -> int:
    return account_of(int(player.rpartition(":")[2])) or 0


class Series(NamedTuple):
    """A series in the end; and after each body the match, and what is on offer of who gets the most kills."""

    trader: Trader
    truth: SeriesTruth
    offers: list[tuple[Match, list[Market]]]


@pytest.fixture(scope="module")
def series() -> Series:
    plan = plan_between(4, 11, 23, best_of=3, brief=True)
    truth = new_truth(plan)
    offers = []
    for trader in trade(plan, truth, seconds=5.0):
        active = [one for one in trader.active() if one.type_id in (MOST, SHARED)]
        offers.append((trader.match, active))
    return Series(trader, truth, offers)


def kills_of(played: MapTruth) -> Counter[int]:
    """How many each account got."""
    return Counter(
        kill.killer for one in played.rounds for kill in one.kills if kill.side != kill.victim_side
    )


def test_kills_of_a_player_settle_as_the_truth_says(series: Series) -> None:
    kills = [kills_of(played) for played in series.truth.maps]
    markets = [one for one in series.trader.book.values() if one.type_id in (OVER, UNDER)]
    for market in markets:
        named = parse_specifiers(market.specifiers)
        over = kills[named.map - 1][account_named(named.player)] > named.threshold
        assert market.result is (Result.WON if over is (market.type_id == OVER) else Result.LOST), market
    assert len(markets) > 80


def test_duels_and_the_most_kills_settle_as_the_truth_says(series: Series) -> None:
    trader, truth, _ = series
    seen = Counter[tuple[int, Result | None]]()
    for number, played in enumerate(truth.maps, start=1):
        kills = kills_of(played)
        best = [who for who, count in kills.items() if count == max(kills.values())]
        for market in trader.book.values():
            named = parse_specifiers(market.specifiers)
            if market.type_id not in (MORE, MOST, SHARED) or named.map != number:
                continue
            if market.type_id == MORE:
                lead = kills[account_named(named.player)] - kills[account_named(named.opponent)]
                expected = Result.WON if lead > 0 else Result.LOST if lead else Result.VOID
            else:
                won = len(best) > 1 if market.type_id == SHARED else best == [account_named(named.player)]
                expected = Result.WON if won else Result.LOST
            assert market.result is expected, market
            seen[market.type_id, market.result] += 1
    assert seen[MORE, Result.WON] == seen[MORE, Result.LOST] > 4
    assert seen[MOST, Result.WON] + seen[SHARED, Result.WON] > 0 and seen[MOST, Result.LOST] > 8


def test_the_best_of_each_team_meet_and_with_as_many_kills_their_bets_are_void() -> None:
    server = TradedServer.started(new_match(best_of=3))
    for _ in range(2):
        for team in ("home", "away"):
            server.go_live()
            for seat in range(5):
                server.kill(team, seat, seat)
            server.win(team)
            server.freeze()
    duels = [one for one in server.trader.active() if one.type_id == MORE]
    assert len(duels) == 6 and len({one.group for one in duels}) == 3
    assert all(one.probability == pytest.approx(0.5, abs=0.05) for one in duels)
    end_map(server, "away")
    for one in duels:
        named = parse_specifiers(one.specifiers)
        kills = [
            sum(
                kills.account == account_named(player)
                for played in server.match.maps[0].counted
                for kills in played.kills or ()
                for _ in kills.ids
            )
            for player in (named.player, named.opponent)
        ]
        expected = Result.VOID if kills[0] == kills[1] else Result.WON if kills[0] > kills[1] else Result.LOST
        assert server.trader.of(MORE, one.specifiers).result is expected
    assert Result.VOID in {server.trader.of(MORE, one.specifiers).result for one in duels}


def test_the_most_kills_are_on_offer_before_a_map_alone(series: Series) -> None:
    offered = set()
    for match, active in series.offers:
        if active:
            assert sum(one.probability for one in active) == pytest.approx(1)
            assert len(active) == 11
            number = {parse_specifiers(one.specifiers).map for one in active}
            play = match.maps[max(number) - 1 :]
            assert len(number) == 1 and not any(one.counted for one in play)
            offered |= number
    assert offered
