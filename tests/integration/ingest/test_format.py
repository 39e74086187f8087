"""How many rounds a map has: set at creation or by the log, or in doubt."""

import pytest

from app.commands import match_commands
from app.domain.market import MarketStatus
from app.domain.match import Match
from app.operations.api.alerts import AlertMonitor
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, Server
from tests.support import logs, stored
from tests.support.matches import create_match, execute

ROUNDS_30 = 'server_cvar: "mp_maxrounds" "30"'


async def offered(store: Store, match: Match) -> set[tuple[int, str]]:
    return {market.key for market in await stored.active(store, match)}


async def open_alerts(store: Store) -> list[AlertSubject]:
    return [alert.about for alert in await stored.open_alerts(store)]


async def set_rounds(store: Store, match: Match, rounds: int) -> Match:
    command = match_commands.SetFormat(max_rounds=rounds)
    return await execute(store, match, command, NOW + 99_000)


async def test_a_match_is_offered_in_the_format_that_it_is_created_in(store: Store) -> None:
    match = await create_match(store, NOW, scheduled_at=NOW, max_rounds=30, overtime_rounds=0)
    assert (match.max_rounds, match.overtime_rounds, match.format_status.set_by) == (30, 0, "operator")
    assert (8, "map=1|threshold=26.5") in await offered(store, match)


@pytest.mark.parametrize("by", ["operator", "log"])
async def test_every_type_is_on_offer_again_after_a_change_before_play(
    store: Store, server: Server, by: str
) -> None:
    before = await offered(store, server.match)
    if by == "operator":
        await set_rounds(store, server.match, 30)
    else:
        await server.send(ROUNDS_30)
    after = await offered(store, server.match)
    assert {key[0] for key in after} == {key[0] for key in before} - {23}
    ledger = await stored.ledger(store, server.match)
    voided = {entry.key for entry in ledger if entry.void_window is None}
    assert not voided & after
    assert {entry.message for entry in ledger} == {"bet_cancel"}


async def test_a_contradiction_suspends_and_is_an_alert_until_an_operator_sets_the_format(
    store: Store, server: Server
) -> None:
    await set_rounds(store, server.match, 24)
    await server.send(ROUNDS_30)
    await server.begin()
    assert "the server plays 30" in (await server.state()).suspended
    assert await offered(store, server.match) == set()
    about = AlertSubject(AlertKind.FORMAT_CONTRADICTION, match_id=server.match.id)
    assert await open_alerts(store) == [about]
    match = await set_rounds(store, server.match, 30)
    assert (match.suspended, match.max_rounds) == ("", 30)
    assert await open_alerts(store) == []
    assert await offered(store, server.match)


async def play_to_the_end_in_doubt(store: Store, server: Server) -> None:
    """A map that is over by the rounds of its server, and not by those of the operator."""
    await set_rounds(store, server.match, 24)
    await server.send(ROUNDS_30)
    await server.begin()
    for ct_score in range(1, 17):
        await server.send(*logs.ct_win(ct_score, 0), *logs.freeze(ct_score, 0), *logs.live())
    await server.send(f"Game Over: competitive  {logs.MAP} score 16:0 after 40 min")


async def test_a_format_in_doubt_is_an_alert_until_an_operator_sets_it_although_the_match_is_over(
    store: Store, server: Server
) -> None:
    await play_to_the_end_in_doubt(store, server)
    monitor = AlertMonitor(store, lambda: server.now, dead_seconds=15)
    await monitor.update()
    assert (await server.state()).over
    about = AlertSubject(AlertKind.FORMAT_CONTRADICTION, match_id=server.match.id)
    assert [one for one in await open_alerts(store) if one.match_id] == [about]
    await set_rounds(store, server.match, 30)
    assert [one for one in await open_alerts(store) if one.match_id] == []


async def test_a_market_that_waits_for_its_format_is_settled_after_the_match(
    store: Store, server: Server
) -> None:
    await play_to_the_end_in_doubt(store, server)
    book = await stored.book(store, server.match)
    assert book[6, "map=1|team=home"].status is MarketStatus.SETTLED
    assert book[12, "map=1|team=home|half=2"].open
    await set_rounds(store, server.match, 30)
    book = await stored.book(store, server.match)
    assert "round 16" in book[12, "map=1|team=home|half=2"].reason
    assert not [market for market in book.values() if market.open]
