"""What a process of 0.1.0, which does not know all market types, left open or settled beside ours."""

import pytest

from app.commands import former_settlements
from app.commands.settlement_audit import audit_settlements
from app.domain.market import Result
from app.kit.clock import system_clock
from app.store.connections import Store, open_store
from app.trading.registry import RULES
from tests.integration.ingest.conftest import CONFIG, Server
from tests.support import logs, stored

NO_PLANT, ROUND, SECOND = 34, "map=1|round=1", "map=1|round=2"
#: As it was before the round ended: suspended, without a result.
_LEFT_OPEN = """
UPDATE market SET status = -1, result = NULL, settled_by = '', rests_on = '', void_reason_id = NULL
WHERE type_id = $1 AND specifiers = $2
"""
#: The state as one of its processes writes it.
_FORGET = "UPDATE match SET state = (state::jsonb - 'types')::json WHERE id = $1"
_NOT_SETTLED = "DELETE FROM ledger_entry WHERE type_id = $1 AND specifiers = $2"


async def test_a_market_of_a_round_that_it_ended_is_settled_by_the_next_line(
    store: Store, server: Server, database_url: str
) -> None:
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    settled = (await stored.book(store, server.match))[NO_PLANT, ROUND]
    async with store.autocommit() as tx:
        await tx.execute(_LEFT_OPEN, NO_PLANT, ROUND)
        await tx.execute(_NOT_SETTLED, NO_PLANT, ROUND)
    async with await open_store(database_url, 2, 8) as other:  # a process that takes over
        server.store = other
        await server.send('World triggered "Nothing"')
        market = (await stored.book(other, server.match))[NO_PLANT, ROUND]
        assert (market.status, market.result) == (settled.status, settled.result)
        entries = await stored.ledger(other, server.match)
        assert [each.key for each in entries].count((NO_PLANT, ROUND)) == 1
        assert not await differences(other, server)


@pytest.fixture
async def settled_by_both(store: Store, server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Two rounds are played, their markets settled; then the server loads the backup of the second, which a
    process follows that does not know type 34 and writes the state without what 0.1.0 does not know."""
    await server.begin()
    await server.send(*logs.ct_win(1, 0), *logs.freeze(1, 0))
    await server.send(*logs.live())
    await server.send(*logs.ct_win(2, 0), *logs.freeze(2, 0))
    with monkeypatch.context() as former:
        former.delitem(RULES, NO_PLANT)
        await server.send(*logs.freeze(1, 0))
    async with store.transaction() as tx:
        await tx.execute(_FORGET, server.match.id)
    assert await differences(store, server), "what it left contradicts the facts"
    return server


async def differences(store: Store, server: Server) -> list[str]:
    async with store.autocommit() as tx:
        audited = await audit_settlements(tx, await server.state())
    return [f"{each.type_id} {each.specifiers}: {each.problem}" for each in audited.differences]


async def test_what_it_did_not_roll_back_is_rolled_back_by_the_next_line(
    store: Store, settled_by_both: Server
) -> None:
    await settled_by_both.send('World triggered "Nothing"')
    assert not await differences(store, settled_by_both)
    ledger = await stored.ledger(store, settled_by_both.match)
    last = [entry for entry in ledger if entry.key == (NO_PLANT, SECOND)][-1]
    assert (last.message, last.reason) == ("rollback_bet_settlement", "facts that it rested on are void")


async def test_a_round_that_it_restored_and_played_is_settled_anew(
    store: Store, settled_by_both: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the process of 0.1.0 follows the round when it is played again, and type 34 ends otherwise."""
    with monkeypatch.context() as former:
        former.delitem(RULES, NO_PLANT)
        await settled_by_both.send(*logs.live(), logs.plant(logs.T[0]))
        await settled_by_both.send(*logs.ct_win(2, 0))
    async with store.transaction() as tx:
        await tx.execute(_FORGET, settled_by_both.match.id)
    await settled_by_both.send(*logs.freeze(2, 0))
    assert not await differences(store, settled_by_both)
    market = (await stored.book(store, settled_by_both.match))[NO_PLANT, SECOND]
    assert market.result is Result.LOST


async def test_after_the_upgrade_the_command_completes_what_has_no_next_line(
    store: Store, settled_by_both: Server
) -> None:
    done = [each async for each in former_settlements.complete(store, system_clock, CONFIG.pricing)]
    assert [each.number for each in done] == [settled_by_both.match.number]
    assert done[0].entries > 0
    assert not await differences(store, settled_by_both)
    assert not [each async for each in former_settlements.complete(store, system_clock, CONFIG.pricing)]
