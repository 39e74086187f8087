"""What operators settle stays settled, whatever the engine computes, until they roll it back.

A map that the rules have decided: the deciding round settles nothing alone, play that goes
on settles nothing more, and the map's end confirms or corrects.
"""

import pytest

from app.domain import facts as f
from app.domain.lifecycle import award_map
from app.domain.map_play import is_decided
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match, Team
from app.domain.settlement import LedgerStatus
from app.kit.errors import Conflict
from app.trading import settling
from app.trading.match_facts import collect_facts
from tests.unit.domain.play import TEAMS, Server, new_match
from tests.unit.trading.test_engine import TradedServer
from tests.unit.trading.trader import Trader

KEY = (13, "map=1|round=1|team=home")


@pytest.fixture
def trader() -> Trader:
    """Round 1 in its freeze."""
    server = Server.started()
    return Trader.opened(server.match)


def store(trader: Trader, changed: settling.MarketAndEntry) -> Market:
    market, entry = changed
    trader.book[market.key] = market
    trader.ledger.append(entry)
    return market


def play_round(trader: Trader) -> None:
    server = Server(trader.match)
    server.score = {"home": 0, "away": 0}
    server.rounds("home")
    trader.match = server.match
    trader.react(server.changes)


def test_the_engine_leaves_a_manual_settlement(trader: Trader) -> None:
    market = store(trader, settling.settle_manually(trader.book[KEY], won=False, reason="ruling"))
    assert (market.status, market.result) == (MarketStatus.SETTLED, Result.LOST)
    play_round(trader)
    assert trader.book[KEY] == market
    assert [entry.settled_by for entry in trader.entries(*KEY)] == ["admin"]


def test_rolled_back_it_follows_the_facts_again(trader: Trader) -> None:
    store(trader, settling.void_manually(trader.book[KEY], 14, "ruling"))
    store(trader, settling.roll_back_manually(trader.book[KEY], "ruling withdrawn"))
    play_round(trader)
    assert trader.book[KEY].result is Result.WON
    statuses = [entry.new_status for entry in trader.entries(*KEY)]
    assert statuses == [LedgerStatus.VOIDED, LedgerStatus.PENDING, LedgerStatus.SETTLED]
    assert trader.entries(*KEY)[-1].is_resettlement


def test_conflicts_name_the_present_state(trader: Trader) -> None:
    with pytest.raises(Conflict, match="active"):
        settling.roll_back_manually(trader.book[KEY], "slip")
    settled = store(trader, settling.settle_manually(trader.book[KEY], won=True, reason="ruling"))
    for attempt in (
        lambda: settling.settle_manually(settled, won=True, reason="again"),
        lambda: settling.void_manually(settled, 4, "again"),
    ):
        with pytest.raises(Conflict, match="settled; roll it back first"):
            attempt()


SHORT = 4
ODD, EVEN = (27, "map=1"), (28, "map=1")


def short_map(*winners: Team, best_of: int = 3) -> TradedServer:
    """A map of four rounds and overtime, as far as these rounds go; three wins decide it."""
    server = TradedServer.started(new_match(best_of))
    server.report(f.FormatSet(at=server.later(), max_rounds=SHORT))
    for number, winner in enumerate(winners, start=1):
        server.round(winner)
        if number == SHORT // 2:
            server.swap()
        server.freeze()
    return server


def results(server: TradedServer) -> dict[tuple[int, str], Result | None]:
    """Of every market but races, which go by rounds alone."""
    return {key: market.result for key, market in server.trader.book.items() if key[0] != 11}


def test_the_deciding_round_settles_no_final_score() -> None:
    server = short_map("home", "home", "home")
    assert server.trader.of(*ODD).result is None
    assert server.trader.of(6, "map=1|team=home").result is None
    assert server.trader.of(13, "map=1|round=3|team=home").result is Result.WON
    assert not server.trader.active()


def test_play_that_goes_on_settles_nothing_more_and_offers_nothing() -> None:
    server = short_map("home", "home", "home")
    before = results(server)
    for winner in ("home", "away", "away"):
        server.rounds(winner)
        now = results(server)
        assert {key: now[key] for key in before} == before
        assert not server.trader.active()


def lasting_kills(match: Match) -> dict[int, tuple[int, ...]]:
    facts, accounts = collect_facts(match, ()), [player.account for team in TEAMS.values() for player in team]
    return {account: facts.lasting_kills((1, account)) for account in accounts}


def test_kills_of_rounds_that_began_before_the_map_was_decided_count_at_once() -> None:
    key = 1, TEAMS["home"][0].account
    server = short_map("home", "home")
    server.opening_kill("home")
    found = collect_facts(server.match, ())
    assert len(found.lasting_kills(key)) == len(found.kills[key]) == 3
    lasting = lasting_kills(server.match)
    server.win("home")
    server.freeze()
    assert lasting_kills(server.match) == lasting
    for _ in range(2):
        server.opening_kill("home")
        assert lasting_kills(server.match) == lasting
        server.win("home")
        server.freeze()
        assert lasting_kills(server.match) == lasting
    assert len(collect_facts(server.match, ()).kills[key]) == 5


def test_the_reported_end_counts_whatever_was_played_on() -> None:
    server = short_map("home", "home", "home", "home", "away", "home")
    server.game_over()
    assert server.match.maps[0].rounds_won == 6
    assert (server.trader.of(*ODD).result, server.trader.of(*EVEN).result) == (Result.LOST, Result.WON)
    assert server.trader.of(6, "map=1|team=home").result is Result.WON


def test_a_longer_format_opens_a_decided_map_again() -> None:
    server = short_map("home", "home", "home")
    server.report(f.FormatSet(at=server.later(), max_rounds=24))
    assert server.trader.of(6, "map=1|team=home").status is MarketStatus.ACTIVE


def test_a_restored_round_opens_a_decided_map_again() -> None:
    server = short_map("home", "home", "home")
    server.freeze_at(2, 0)
    assert server.trader.of(6, "map=1|team=home").status is MarketStatus.ACTIVE


def test_an_award_confirms_the_deciding_round_and_no_other() -> None:
    server = short_map("home", "home", "home", "home")
    server.match, changes = award_map(server.match, "home", server.later())
    server.trader.match = server.match
    server.trader.react(changes)
    assert server.trader.of(*ODD).result is Result.WON


def test_another_map_loaded_does_not_say_who_won_a_map_played_on_to_a_draw() -> None:
    server = Server.started(new_match(3))
    server.report(f.FormatSet(at=server.later(), max_rounds=SHORT))
    server.rounds("home", "home")
    server.change_sides()
    server.rounds("home", "away", "away", "away")
    server.report(f.MapLoaded(at=server.later(), name="de_nuke"))
    assert "loaded before" in server.match.suspended
    assert server.match.maps[0].winner is None


@pytest.mark.parametrize(
    ("score", "overtime", "decided"),
    [
        ((12, 11), 6, False),
        ((13, 11), 6, True),
        ((12, 12), 6, False),
        ((12, 12), 0, True),
        ((13, 12), 6, False),
        ((15, 14), 6, False),
        ((16, 14), 6, True),
        ((16, 15), 6, False),
        ((18, 15), 6, False),
        ((19, 15), 6, True),
        # These cannot come before the map is decided.
        ((14, 3), 6, True),
        ((17, 14), 6, True),
        ((13, 12), 0, True),
    ],
)
def test_scores_that_end_a_map(score: tuple[int, int], overtime: int, decided: bool) -> None:
    for home, away in (score, score[::-1]):
        assert is_decided(home, away, 24, overtime) is decided


@pytest.fixture
def unseen_pistol() -> TradedServer:
    """A map whose first round is in the score, though it was unseen."""
    server = TradedServer.started()
    server.score["home"] = 1
    server.freeze()
    return server


def test_an_unseen_pistol_round_is_open_again_when_play_starts_again(unseen_pistol: TradedServer) -> None:
    pistol = (12, "map=1|team=home|half=1")
    assert unseen_pistol.trader.of(*pistol).result is Result.VOID
    unseen_pistol.start_play()
    assert unseen_pistol.trader.of(*pistol).status is MarketStatus.ACTIVE


@pytest.mark.parametrize(("winner", "result"), [("away", Result.LOST), ("home", Result.VOID)])
def test_both_pistols_are_lost_with_the_second_whatever_the_first_was(
    unseen_pistol: TradedServer, winner: Team, result: Result
) -> None:
    """Only when the second is won, too, would the first be needed."""
    unseen_pistol.rounds(*("home", "away") * 5, "away")
    assert unseen_pistol.trader.of(24, "map=1|team=home").open
    unseen_pistol.change_sides()
    unseen_pistol.round(winner)
    assert unseen_pistol.trader.of(24, "map=1|team=home").result is result
