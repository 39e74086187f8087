"""A line about play that was not understood: nothing is settled by what is known of its round."""

from app.domain import facts as f
from app.domain.doubts import UNREAD_LINE
from app.domain.market import Result
from tests.unit.trading.test_engine import TradedServer, team


def unread(server: TradedServer) -> f.LineNotUnderstood:
    return f.LineNotUnderstood(at=server.later(), reason=UNREAD_LINE)


def test_what_rests_on_the_events_of_its_round_is_void_and_the_result_counts() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    assert server.match.suspended == UNREAD_LINE
    assert not server.trader.active()
    server.win("home")
    of_kills = [market for key, market in server.trader.book.items() if key[0] in (19, 20)]
    assert of_kills and {market.result for market in of_kills} == {Result.VOID}
    assert server.trader.of(13, team(1)).result is Result.WON


def test_in_freeze_time_and_warm_up_it_changes_nothing() -> None:
    server = TradedServer.started()
    assert server.report(unread(server)) == ()
    server.report(f.WarmupStarted(at=server.later()))
    assert server.report(unread(server)) == ()
