"""The demonstration's bookmaker: what its book hears is what its report tells."""

from io import StringIO
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from rich.console import Console

from scripts.demonstration.bookmaker import Bookmaker
from scripts.demonstration.report import Latency, Report, now
from scripts.demonstration.snapshot import Price, Settled, Snapshot, fact_in_words
from scripts.demonstration.terminal import drawn
from scripts.demonstration.watched_book import WatchedBook

MATCH, ADDRESS = "od:match:7", "http://service.example"
DESCRIPTION = {
    "exchange": "e",
    "base_url": ADDRESS,
    "board": {"slug": "b", "amqp_url": "amqp://127.0.0.1:9", "api_key": ""},
}


def message(body: str, seq: int = 0, prev: int = 0, arrived: int = 0) -> Any:
    headers = {"x-seq": seq, "x-prev-seq": prev} | ({"x-arrived-at": arrived} if arrived else {})
    return SimpleNamespace(
        headers=headers, body=body.encode(), message_id=f"mf-{seq}", routing_key=f"hi.-.live.x.2.{MATCH}.-"
    )


def odds(at: int, *markets: tuple[int, float], request: str = "") -> str:
    row = '<market id="{}" status="{}"><outcome id="1" odds="{}"/></market>'.format
    rows = "".join(row(number, 1 if price else -1, price or 1.5) for number, price in markets)
    attribute = f' request_id="{request}"' if request else ""
    return f'<odds_change event_id="{MATCH}" timestamp="{at}"{attribute}><odds>{rows}</odds></odds_change>'


def watched() -> WatchedBook:
    return WatchedBook(Report("board"))


def kinds(book: WatchedBook) -> list[str]:
    return [line.kind for line in book.report.story]


def test_the_digest_is_the_book() -> None:
    book = watched()
    book.receive_message(message(odds(10, (1, 1.85), (2, 0)), seq=5))
    assert book.digest() == {
        "matches": [{"match": MATCH, "seq": 5, "markets": [[1, "", 1, 1.85], [2, "", -1]]}]
    }
    assert (book.report.active, book.report.suspended) == (1, 1)


def test_a_message_that_comes_again_is_told_and_changes_nothing() -> None:
    book = watched()
    for _ in range(2):
        book.receive_message(message(odds(10, (1, 1.85)), seq=5, arrived=now() - 12))
    assert kinds(book) == ["again"]
    assert [received.again for received in book.report.envelopes] == [False, True]
    assert book.report.latency.count == 1


def test_a_gap_and_the_loss_of_every_price_are_told() -> None:
    book = watched()
    book.receive_message(message(odds(10, (1, 1.85)), seq=5))
    book.receive_message(message(odds(11, (1, 0)), seq=9, prev=7))
    assert kinds(book) == ["gap", "suspended"]
    assert book.due.is_set()


def test_what_took_how_long_is_counted_once_in_one_bar() -> None:
    book = watched()
    for seq, late in ((1, 0), (2, 40), (3, 60_000)):
        book.receive_message(message(odds(seq, (1, 1.85)), seq=seq, arrived=now() - late))
    latency = book.report.latency
    assert (sum(latency.bars), latency.count, latency.bars[-1]) == (3, 3, 1)
    assert latency.slowest >= 60_000 > latency.median >= 40


def test_facts_in_words() -> None:
    view = {"team_a": "Northwind", "team_b": "Harbour"}
    kill = {"type": "kill", "round": 3, "actor": "a", "target": "b", "weapon": "awp", "headshot": True}
    assert fact_in_words(kill, view) == "round 3: a killed b with awp (headshot)"
    assert (
        fact_in_words({"type": "bomb_planted", "round": 3, "actor": "a"}, view) == "round 3: bomb planted a"
    )
    over = {"round": 3, "winner": "team_b", "win_reason": "time", "score_a": 1, "score_b": 2}
    assert fact_in_words(over, view) == "round 3: won by Harbour (time), 1:2"


def test_the_terminals_board_shows_prices_reasons_and_proofs() -> None:
    snapshot = Snapshot(
        matches=[],
        view={"team_a": "Northwind", "team_b": "Harbour", "urn": MATCH},
        prices=[
            Price("Northwind to win", 1.85, True, "", 1),
            Price("overtime", 7.5, False, "facts came late"),
        ],
        settled=[Settled("first kill", "won", "first kill of the round", ("round 3: a killed b with awp",))],
        report=Report("board", state="following", active=1, latency=Latency(count=1, median=12)),
    )
    console = Console(width=160, height=60, record=True, file=StringIO())
    console.print(drawn(snapshot, "http://127.0.0.1:8000/#key=k", ["a line"], 160))
    shown = console.export_text()
    for words in (
        "1.85",
        "suspended: facts came late",
        "↳ round 3: a killed b with awp",
        "median 12 ms",
        "a line",
    ):
        assert words in shown, words


async def test_a_lost_connection_and_a_silence_are_told_once() -> None:
    bookmaker = Bookmaker(DESCRIPTION)
    bookmaker._task.cancel()
    bookmaker._on_connected()
    bookmaker.watched.receive_message(message(odds(10, (1, 1.85)), seq=5))
    for error in (ConnectionError("closed"), OSError("refused")):
        bookmaker._on_lost(error)
    assert bookmaker.report.state == "away"
    bookmaker._on_connected()
    bookmaker._on_lost(TimeoutError("nothing received"))
    assert bookmaker.report.state == "silent"
    await bookmaker.close()
    assert kinds(bookmaker.watched) == [
        "connection",
        "connection",
        "suspended",
        "connection",
        "silent",
        "suspended",
    ]


@pytest.mark.parametrize(("status", "latest"), [(409, 3.0), (429, 40.0)])
async def test_a_recovery_that_is_in_flight_is_not_waited_out(status: int, latest: float) -> None:
    """A 409 names the latest moment at which the other recovery ends, minutes away; a rate limit is exact."""
    bookmaker = Bookmaker(DESCRIPTION)
    bookmaker._task.cancel()
    answer = httpx.MockTransport(lambda _: httpx.Response(status, headers={"Retry-After": "40"}))
    await bookmaker._http.aclose()
    bookmaker._http = httpx.AsyncClient(transport=answer, base_url=ADDRESS)
    assert await bookmaker._request_recovery("1") == (status, latest)
    await bookmaker.close()
