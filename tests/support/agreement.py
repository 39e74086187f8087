"""Check the service's view of the real match against what `truth` reads in its log."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.domain.market import Book, MarketStatus, specifier_values
from app.domain.settlement import LedgerEntry
from app.store import history, markets
from app.store.connections import Store
from tests.support import truth
from tests.support.real_match import RealMatch

_TEAMS = {"home": "team_a", "away": "team_b"}


async def check_all(store: Store, match: RealMatch, log: str) -> Sequence[LedgerEntry]:
    """All that the service has of the match once it is over; the ledger."""
    seen, true = await match.finished(), truth.derive(log)
    check_match(seen, true)
    async with store.autocommit() as tx:
        book = await markets.book(tx, UUID(match.id))
        ledger = await history.ledger(tx, UUID(match.id))
    check_settlements(book, ledger, true)
    return ledger


def check_match(match: Any, true: truth.Truth) -> None:
    """Score, rounds and kills of the match resource."""
    assert true.score() == (13, 2) and sorted(true.final_score) == [2, 13]
    assert (match["score_a"], match["score_b"], match["winner"]) == (1, 0, "team_a")
    (play,) = match["maps"]
    assert (play["name"], play["score_a"], play["score_b"]) == ("de_inferno", 13, 2)
    _check_rounds(match["rounds"], true)
    _check_kills([event for event in match["events"] if event["type"] == "kill"], true)


def _check_rounds(rounds: Any, true: truth.Truth) -> None:
    assert len(rounds) == len(true.rounds) == 15
    for number, (shown, fact) in enumerate(zip(rounds, true.rounds, strict=True), start=1):
        assert (shown["round"], shown["winner"]) == (number, _TEAMS[fact.winner])
        assert (shown["winning_side"], shown["win_reason"]) == (fact.side, fact.reason)
        assert (shown["score_a"], shown["score_b"]) == true.score(number)
        assert shown.get("bomb_site", "") == fact.site


def _check_kills(kills: Any, true: truth.Truth) -> None:
    shown = [
        (
            *(kill["round"], kill["actor"], kill["target"], kill["side"], kill["victim_side"]),
            *(kill["weapon"], kill["headshot"], kill.get("late", False)),
        )
        for kill in kills
    ]
    facts = [
        (number, k.killer, k.victim, k.side, k.victim_side, k.weapon, k.headshot, late)
        for number, played in enumerate(true.rounds, start=1)
        for late, happened in ((False, played.kills), (True, played.after))
        for k in happened
    ]
    assert shown == facts
    assert all(kill["actor_team"] == _TEAMS[true.team(kill["actor"])] for kill in kills)


def check_settlements(book: Book, ledger: Sequence[LedgerEntry], true: truth.Truth) -> None:
    """Every market is closed, every result is the truth, and the ledger's last word is the market's."""
    assert len(book) > 150 and {13, 14, 6, 8, 9} <= {type_id for type_id, _ in book}
    last = {entry.key: entry for entry in ledger}
    assert set(last) == set(book)
    for (type_id, specifiers), market in book.items():
        values, status = specifier_values(specifiers), MarketStatus.SETTLED
        expected = "won" if truth.is_won(true, type_id, values) else "lost"
        if truth.is_void(true, type_id, values):
            expected, status = "void", MarketStatus.CANCELLED
        assert (type_id, specifiers, market.status) == (type_id, specifiers, status), market
        assert (type_id, specifiers, market.result) == (type_id, specifiers, expected)
        assert last[market.key].result == expected
        assert last[market.key].rests_on
