"""Crashes, restarts and backups in any order: what is published in the end is what the true branch alone
would have published."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain.map_play import is_decided
from app.domain.market import MarketKey
from app.domain.match import Side, Team
from app.domain.settlement import VoidWindow, standing_windows
from tests.unit.domain.play import Server
from tests.unit.trading.test_engine import TradedServer

ROUNDS, OVERTIME = 8, 4


class Played(NamedTuple):
    """A round: who won it, and whose kills, by the seat; `serial` differs from that of any other round."""

    winner: Team
    killer: int
    serial: int = 0


class Bets(NamedTuple):
    """The markets on which bets could be placed at a moment of a round."""

    serial: int
    at: int
    markets: frozenset[MarketKey]


class Backup(NamedTuple):
    home: int
    away: int
    home_side: Side
    branch: tuple[Played, ...]


class BackedUpServer(TradedServer):
    """A server that writes a backup for each number of rounds, over the one of an earlier branch, as servers
    do. `branch` is what has been played on the present branch."""

    def __init__(self, *args: object) -> None:
        super().__init__()
        self.branch: tuple[Played, ...] = ()
        self.backups: dict[int, Backup] = {}
        self.bets: list[Bets] = []

    def begin(self) -> None:
        self.start_map()
        self.report(f.FormatSet(at=self.later(), max_rounds=ROUNDS, overtime_rounds=OVERTIME))
        self.back_up()

    @property
    def decided(self) -> bool:
        return is_decided(self.score["home"], self.score["away"], ROUNDS, OVERTIME)

    def back_up(self) -> None:
        self.backups[len(self.branch)] = Backup(
            self.score["home"], self.score["away"], self.home_side, self.branch
        )

    def play_round(self, played: Played) -> None:
        played = played._replace(serial=len(self.bets) + 1)
        self.go_live()
        self.kill(played.winner, played.killer, 0)
        taking = frozenset(market.key for market in self.trader.active())
        self.bets.append(Bets(played.serial, self.trader.now + 1, taking))
        self.kill(played.winner, played.killer, 1)
        self.win(played.winner)
        self.branch = (*self.branch, played)
        if self.decided:
            return
        number = len(self.branch)
        if number == ROUNDS // 2 or (number > ROUNDS and (number - ROUNDS) % OVERTIME == OVERTIME // 2):
            self.swap()
        self.freeze()
        self.back_up()

    def begin_again(self) -> None:
        self.home_side, self.branch = "CT", ()
        self.start_play()
        self.back_up()

    def crash(self, *, mid_round: bool, warm_up: bool) -> None:
        if mid_round:
            self.opening_kill("home")
        self.report(f.MapLoaded(at=self.later(40), name=self.map_name))
        if warm_up:
            self.warm_up()
        self.begin_again()

    def warm_up(self) -> None:
        self.report(f.WarmupStarted(at=self.later()), f.WarmupEnded(at=self.later(60)))

    def restart(self, *, mid_round: bool, warm_up: bool) -> None:
        """By a command in play, or with a new ready-up."""
        if mid_round:
            self.opening_kill("away")
        if warm_up:
            self.warm_up()
        self.report(f.RestartAnnounced(at=self.later()))
        self.begin_again()

    def load(self, number: int, *, mid_round: bool, announced: bool) -> None:
        if mid_round:
            self.opening_kill("away")
        backup = self.backups[number]
        if announced or not number or number > len(self.branch):
            self.report(f.RestoreAnnounced(at=self.later(), round=number))
        self.home_side, self.branch = backup.home_side, backup.branch
        self.freeze_at(backup.home, backup.away)


winners: st.SearchStrategy[Team] = st.sampled_from(("home", "away"))
rounds = st.builds(Played, winners, st.integers(0, 4))
STEPS = ("rounds", "rounds", "rounds", "crash", "restart", "load", "load")


@st.composite
def histories(draw: st.DrawFn) -> BackedUpServer:
    server = BackedUpServer()
    server.begin()
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=12)):
        mid_round, other = draw(st.booleans()), draw(st.booleans())
        match step:
            case "rounds":
                for played in draw(st.lists(rounds, max_size=6)):
                    if not server.decided:
                        server.play_round(played)
            case "crash":
                server.crash(mid_round=mid_round, warm_up=other)
            case "restart":
                server.restart(mid_round=mid_round, warm_up=other)
            case "load":
                number = draw(st.sampled_from(sorted(server.backups)))
                server.load(number, mid_round=mid_round, announced=other)
        if server.decided:
            break
    while not server.decided:
        server.play_round(draw(rounds))
    server.game_over()
    return server


def alone(branch: tuple[Played, ...]) -> BackedUpServer:
    """A server that plays this branch and nothing else."""
    server = BackedUpServer()
    server.begin()
    for played in branch:
        server.play_round(played)
    server.game_over()
    return server


def shown(server: Server) -> list[tuple[object, ...]]:
    (play,) = server.match.maps
    counted = [
        (one.number, one.winner, one.winning_side, one.home_score, one.away_score) for one in play.counted
    ]
    kills = [[(kills.account, len(kills.ids)) for kills in one.kills or ()] for one in play.counted]
    return [*zip(counted, kills, strict=True), (play.winner, play.unseen)]


@settings(max_examples=10, deadline=None)
@given(histories())
def test_what_is_published_in_the_end_is_that_of_the_true_branch(server: BackedUpServer) -> None:
    check_history(server)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(histories())
def test_the_same_of_many_histories(server: BackedUpServer) -> None:
    check_history(server)


def test_no_bets_are_void_on_a_market_that_comes_back_with_its_branch() -> None:
    """The fifth round has been played on two branches that are void when the backup of the fourth round is
    loaded: its markets come back, and took no bets on the later one."""
    server = BackedUpServer()
    server.begin()
    five = [Played("home", 0)] * 4 + [Played("away", 0)]
    for played in five:
        server.play_round(played)
    server.crash(mid_round=False, warm_up=False)
    for played in five:
        server.play_round(played)
    server.restart(mid_round=False, warm_up=True)
    for played in five[:3]:
        server.play_round(played)
    server.load(4, mid_round=False, announced=True)
    assert {market.type_id for market in server.trader.active() if "round=5" in market.specifiers} >= {13, 19}


def check_history(server: BackedUpServer) -> None:
    """What is published, and the bets that are void, are as of the true branch alone."""
    check_published(server)
    check_bets(server)


def check_published(server: BackedUpServer) -> None:
    plain = alone(server.branch)
    assert server.match.over
    assert shown(server) == shown(plain)
    book, true = server.trader.book, plain.trader.book
    assert {key: book[key].result for key in book.keys() & true.keys()} == {
        key: true[key].result for key in book.keys() & true.keys()
    }
    assert all(market.closed for market in book.values())


def check_bets(server: BackedUpServer) -> None:
    """Those on the true branch are valid, and no others."""
    true = {played.serial for played in server.branch}
    windows = standing_windows(server.trader.ledger)
    for bets in server.bets:
        void = {entry.key for entry in windows if entry.void_window and _covers(entry.void_window, bets.at)}
        if bets.serial in true:
            assert not void & bets.markets
        else:
            undecided = {key for key in bets.markets if "round=" not in key[1]}
            assert undecided <= void


def _covers(window: VoidWindow, at: int) -> bool:
    return window.start_time <= at <= window.end_time
