"""What a process of 0.1.0, which does not know all market types, left open beside ours."""

import pytest

from app.commands.settlement_audit import audit_settlements
from app.store import history, markets, matches
from app.store.connections import Store, open_store
from tests.integration.ingest.conftest import Server
from tests.support import logs

pytestmark = pytest.mark.anyio
NO_PLANT, ROUND = 34, "map=1|round=1"
#: As it was before the round ended: suspended, without a result.
_LEFT_OPEN = """
UPDATE market SET status = -1, result = NULL, settled_by = '', rests_on = '', void_reason_id = NULL
WHERE type_id = $1 AND specifiers = $2
"""
_NOT_SETTLED = "DELETE FROM ledger_entry WHERE type_id = $1 AND specifiers = $2"


async def test_a_market_of_a_round_that_it_ended_is_settled_by_the_next_line(
    store: Store, server: Server, database_url: str
) -> None:
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    async with store.autocommit() as tx:
        settled = (await markets.book(tx, server.match.id))[NO_PLANT, ROUND]
        await tx.execute(_LEFT_OPEN, NO_PLANT, ROUND)
        await tx.execute(_NOT_SETTLED, NO_PLANT, ROUND)
    async with await open_store(database_url, 2, 8) as other:  # a process that takes over
        server.store = other
        await server.send('World triggered "Nothing"')
        async with other.autocommit() as tx:
            market = (await markets.book(tx, server.match.id))[NO_PLANT, ROUND]
            assert (market.status, market.result) == (settled.status, settled.result)
            entries = await history.ledger(tx, server.match.id)
            assert [each.key for each in entries].count((NO_PLANT, ROUND)) == 1
            match = await matches.get(tx, server.match.id)
            assert match and not (await audit_settlements(tx, match)).differences
