"""A backup that is loaded: which bets become void, on each channel."""

import pytest
from lxml import etree
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer
from app.domain.match import Match
from app.domain.settlement import LedgerStatus, VoidWindow
from app.store import history
from app.store.connections import Store
from app.trading.settlement_check import check_settlements
from app.wire.views.offers import settlement_view
from tests.integration.ingest.conftest import Server
from tests.support import logs, stored

REPLAYED = (13, "map=1|round=2|team=home")


@pytest.fixture
async def restored(server: Server) -> Server:
    """Two rounds, then the backup of the second one."""
    await server.begin()
    await server.win(1, 0)
    await server.send(*logs.live())
    await server.win(2, 0)
    await server.send(*logs.freeze(1, 0))
    return server


async def envelopes(store: Store, match: Match) -> list[etree._Element]:
    rows = await stored.changes_after(store, 0)
    press = EnvelopeRenderer("oddsfeed", 2)
    return [etree.fromstring(one.message.body) for one in press.envelopes(rows) if one.match_id == match.id]


async def test_the_feed_cancels_the_bets_of_the_window_and_the_market_settles_again(
    restored: Server, store: Store, match: Match
) -> None:
    await restored.send(*logs.live())
    await restored.send(*logs.ct_win(2, 0))
    published = await envelopes(store, match)
    (cancel,) = (root for root in published if root.tag == "bet_cancel")
    stands = (await restored.state()).maps[0].counted[0]
    assert int(cancel.get("start_time", 0)) == stands.ended_at
    assert int(cancel.get("end_time", 0)) <= int(cancel.get("timestamp", 0))
    about = [root.tag for root in published for market in root.iter("market") if _key(market) == REPLAYED]
    after = about[about.index("bet_cancel") + 1 :]
    assert after[0] == "odds_change", (
        "the market's status is published at once, and it is not that of a void one"
    )
    assert after[-2:] == ["bet_settlement", "odds_change"]
    markets = [market for root in published for market in root.iter("market")]
    assert "-4" not in {market.get("status") for market in markets if _key(market) == REPLAYED}


async def test_the_ledger_shows_the_window_and_the_status_of_the_market(
    restored: Server, store: Store, match: Match
) -> None:
    entries = [entry for entry in await stored.ledger(store, match) if entry.key == REPLAYED]
    shown = settlement_view(match.id, match.number, entries[-1])
    window = entries[-1].void_window
    assert window and shown.void_window
    assert (shown.void_window.start_time, shown.void_window.end_time) == (window.start_time, window.end_time)
    assert (shown.previous_status, shown.new_status, shown.outcome) == ("pending", "pending", None)
    assert [entry.message for entry in entries] == ["bet_settlement", "rollback_bet_settlement", "bet_cancel"]


async def test_one_envelope_for_all_bets_of_a_window(restored: Server, store: Store, match: Match) -> None:
    entries = [entry for entry in await stored.ledger(store, match) if entry.void_window]
    assert len({entry.at for entry in entries}) == len({entry.void_window for entry in entries}) == 1
    assert {(6, "map=1|team=home"), REPLAYED} <= {entry.key for entry in entries}
    assert (13, "map=1|round=1|team=home") not in {entry.key for entry in entries}


async def test_the_audit_agrees_and_sees_a_wrong_window(restored: Server, store: Store, match: Match) -> None:
    present = await restored.state()
    async with store.autocommit() as tx:
        rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
        entries = await history.ledger(tx, match.id)
    assert check_settlements(present, rounds, events, entries) == []
    (last,) = [entry for entry in entries if entry.key == REPLAYED][-1:]
    backwards = replace(last, void_window=VoidWindow(last.at, last.at - 1))
    for wrong in (last, backwards, replace(last, new_status=LedgerStatus.VOIDED)):
        assert {
            found.specifiers for found in check_settlements(present, rounds, events, [*entries, wrong])
        } == {REPLAYED[1]}


async def test_a_market_is_kept_with_the_moment_at_which_it_went_off_offer(
    restored: Server, store: Store, match: Match
) -> None:
    book = await stored.book(store, match)
    gone = book[13, "map=1|round=1|team=home"]
    assert gone.priced_at < gone.offered_until <= restored.now


def _key(market: etree._Element) -> tuple[int, str]:
    return int(market.get("id", 0)), market.get("specifiers", "")
