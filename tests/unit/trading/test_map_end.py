"""Ends of a map that no `Game Over` reports."""

import pytest

from app.domain import changes as c
from app.domain import facts as f
from app.domain import fixture, lifecycle
from app.domain.maps import END_WAIT_MILLIS, end_due_at
from app.domain.market import Result
from app.domain.match import Side, Status, Team
from app.domain.suspension_reasons import code_of
from app.ingest.cs2log import read
from tests.unit.domain.play import new_match
from tests.unit.trading.test_engine import TradedServer
from tests.unit.trading.test_settling import short_map

WINNERS: tuple[Team, ...] = ("home", "home")
DRAWN: tuple[Team, ...] = ("home", "home", "away", "away")


def decided() -> TradedServer:
    """A map of four rounds, won 3:0, whose log ends with the deciding round."""
    server = short_map(*WINNERS)
    server.round("home")
    return server


def overdue(server: TradedServer, millis: int = END_WAIT_MILLIS) -> None:
    server.report(f.EndOverdue(at=server.map.counted[-1].ended_at + millis))


def test_a_decided_map_ends_by_the_rules_when_its_end_is_not_reported() -> None:
    server, reported = decided(), decided()
    assert end_due_at(server.match) == server.map.counted[-1].ended_at + END_WAIT_MILLIS
    overdue(server)
    reported.game_over()
    play = server.match.maps[0]
    assert (play.status, play.winner, play.end_assumed) == ("finished", "home", True)
    results = {key: market.result for key, market in server.trader.book.items() if "map=1" in key[1]}
    true = {key: market.result for key, market in reported.trader.book.items() if "map=1" in key[1]}
    assert results == true
    assert None not in results.values()


def test_a_drawn_map_settles_what_is_decided_and_voids_who_won() -> None:
    """A format without overtime, at the end of which both teams have as many rounds."""
    server = TradedServer.started(new_match())
    server.match, _ = fixture.set_format(server.match, max_rounds=4, overtime_rounds=0)
    for number, winner in enumerate(DRAWN, start=1):
        server.round(winner)
        if number == len(DRAWN) // 2:
            server.swap()
        if number < len(DRAWN):
            server.freeze()
    server.game_over()
    assert (server.match.status, server.match.winner, server.match.doubts) == (Status.FINISHED, None, ())
    won = [server.trader.of(*key).result for key in ((1, "team=home"), (6, "map=1|team=away"))]
    assert won == [Result.VOID, Result.VOID]
    rounds = [server.trader.of(13, f"map=1|round={number}|team=home").result for number in (1, 4)]
    assert rounds == [Result.WON, Result.LOST]
    assert None not in [market.result for market in server.trader.book.values()]


def test_a_drawn_round_is_played_again() -> None:
    server = TradedServer.started(new_match())
    server.round("home")
    server.freeze()
    server.opening_kill("home")
    server.report(*read('L 01/19/2026 - 19:00:02: World triggered "SFUI_Notice_Round_Draw"\n', 0).facts)
    server.freeze()
    assert (server.map.home_score, server.match.suspended) == (1, "")
    assert server.match.current is not None and not server.match.current.events
    server.round("away")
    assert server.trader.of(13, "map=1|round=2|team=away").result is Result.WON


def test_not_before_its_time_nor_once_play_goes_on() -> None:
    server = decided()
    overdue(server, END_WAIT_MILLIS - 1)
    assert server.map.status == "live"
    server.freeze()
    assert end_due_at(server.match) is None
    overdue(server)
    assert server.map.status == "live"


def test_an_undecided_map_does_not_end() -> None:
    server = short_map(*WINNERS)
    assert end_due_at(server.match) is None


@pytest.mark.parametrize(("side", "winner"), [("CT", "home"), ("T", "away")])
def test_a_surrender_gives_the_map_to_the_other_team(side: Side, winner: Team) -> None:
    server = TradedServer.started(new_match(1))
    server.rounds("home", "away")
    server.report(f.Surrendered(at=server.later(), winner=side))
    play = server.match.maps[0]
    assert (play.status, play.winner, play.awarded) == ("finished", winner, True)
    assert (play.home_score, play.away_score) == (1, 1)
    book = server.trader.book
    assert book[6, f"map=1|team={winner}"].result is Result.WON
    assert book[13, "map=1|round=1|team=home"].result is Result.WON
    assert book[8, "map=1|threshold=20.5"].result is Result.VOID
    assert all(market.closed for market in book.values())
    known = len(server.changes)
    server.game_over()
    assert len(server.changes) == known
    assert server.changes_of(c.MatchFinished)[0].winner == winner


@pytest.mark.parametrize(("team", "loser", "side"), [("CT", "Terrorists", "CT"), ("TERRORIST", "CTs", "T")])
def test_the_line_of_a_surrender(team: str, loser: str, side: Side) -> None:
    line = (
        f'L 01/19/2026 - 18:59:42: Team "{team}" triggered "SFUI_Notice_{loser}_Surrender" (CT "11") (T "3")'
    )
    assert read(line, 7).facts == (f.Surrendered(at=7, winner=side),)


def test_play_that_goes_on_after_the_end_of_the_match_is_shown() -> None:
    server = short_map(*WINNERS, best_of=1)
    server.round("home")
    overdue(server)
    assert server.match.status is Status.FINISHED
    server.report(f.RoundWon(at=server.now, side="CT", reason="kills", ct_score=4, t_score=0))
    assert server.match.suspended == "map 1 goes on after its end at 3:0"
    assert code_of(server.match.suspended) == "map_contradiction"


def test_a_backup_of_a_map_that_has_ended_is_shown_until_an_operator_says_otherwise() -> None:
    server = decided()
    server.game_over()
    server.report(f.RestoreAnnounced(at=server.now, round=2))
    assert server.match.suspended == "map 1 goes on after its end at 3:0"
    assert not lifecycle.unsuspend(server.match)[0].suspended


@pytest.mark.parametrize(
    "fact",
    [
        f.RoundWon(at=0, side="CT", reason="kills", ct_score=3, t_score=0),
        f.RoundWon(at=0, side="CT", reason="kills", ct_score=1, t_score=0),
        f.RoundWon(at=0, side="CT", reason="kills", ct_score=2, t_score=2),
        f.RestoreAnnounced(at=0, round=0),
        f.RestoreAnnounced(at=0, round=9),
    ],
)
def test_a_repeated_line_or_another_game_says_nothing_about_the_end(fact: f.Fact) -> None:
    server = short_map(*WINNERS, best_of=1)
    server.round("home")
    overdue(server)
    server.report(fact)
    assert not server.match.suspended


@pytest.fixture
def over() -> TradedServer:
    """A match that ended 3:1, before which the score was 2:1, 2:0 and 1:0."""
    server = short_map(*WINNERS, best_of=1)
    server.round("away")
    server.freeze()
    server.round("home")
    server.game_over()
    assert server.match.status is Status.FINISHED
    return server


def test_after_the_match_another_result_of_a_round_is_shown(over: TradedServer) -> None:
    """A plugin restores a backup by the server's console, of which the log has no line: only what is played
    then shows it."""
    over.freeze_at(1, 0)
    over.report(f.RoundStarted(at=over.later()))
    assert not over.match.suspended, "not yet: lines may be repeated"
    over.report(over.won_fact("away"))
    assert over.match.suspended == "map 1 goes on after its end at 3:1"


def test_after_the_match_another_end_is_shown(over: TradedServer) -> None:
    over.score = {"home": 1, "away": 3}
    over.swap()
    over.game_over()
    assert not over.match.suspended, "the same score, whichever team is on which side"
    over.score = {"home": 2, "away": 3}
    over.game_over()
    assert over.match.suspended


def test_lines_that_come_again_after_the_match_say_nothing(over: TradedServer) -> None:
    for score in ((1, 0), (2, 0), (2, 1), (3, 1)):
        over.freeze_at(*score)
        ct_score, t_score = over.by_side()
        over.report(f.RoundWon(at=over.now, side="CT", reason="kills", ct_score=ct_score, t_score=t_score))
    over.game_over()
    assert not over.match.suspended


def test_another_game_on_the_same_server_says_nothing(over: TradedServer) -> None:
    """A game that the log shows from 0:0 on, also where the line of a round is missing."""
    over.report(f.PlayStarted(at=over.later(), map_name=over.map_name))
    over.score = {"home": 0, "away": 0}
    over.status(played=-1)
    for winner in ("away", "away", "away", "home", "away", "away"):
        over.report(f.RoundStarted(at=over.later()))
        fact = over.won_fact(winner)
        if over.score["home"]:
            over.report(fact)
        over.freeze()
    over.game_over()
    assert not over.match.suspended
