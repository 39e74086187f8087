"""A model that goes wrong suspends the match instead of selling its prices."""

import pytest

from app.commands import match_commands, match_reaction
from app.ingest.match_checks import reprice_due
from app.kit import metrics
from app.store.alerts import Alert, AlertKind
from app.store.connections import Store
from app.trading.forecast import Forecast
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import logs, stored
from tests.support.clocks import ManualClock
from tests.support.matches import execute

NOTHING = 'World triggered "Nothing"'


def break_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on home is said to win every round with 93 %."""
    monkeypatch.setattr(Forecast, "round_win", lambda *_: 0.93)


async def active(store: Store, server: Server) -> set[int]:
    return {market.type_id for market in await stored.active(store, server.match)}


async def alert(store: Store) -> Alert:
    (found,) = await stored.all_alerts(store, AlertKind.UNEXPLAINED_MOVE)
    return found


@pytest.fixture
async def even(server: Server) -> Server:
    """Four against four, the price about even."""
    await server.begin()
    await server.send(logs.kill(logs.T[4], logs.CT[3]))
    return server


async def test_a_jump_without_a_cause_suspends_the_match_and_is_an_alert(
    store: Store, even: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 13 in await active(store, even)
    counted = metrics.unexplained_moves._value.get()
    break_model(monkeypatch)
    await even.send(NOTHING)
    assert await active(store, even) == set()
    assert (await even.state()).suspended.startswith("a price moved without a cause: 13:map=1|round=1|team=")
    assert metrics.unexplained_moves._value.get() == counted + 1
    found = await alert(store)
    assert (found.match_id, found.since, found.ended_at) == (even.match.id, even.now, None)
    assert "to 0.930" in found.detail or "to 0.070" in found.detail
    await even.send(NOTHING)
    assert await active(store, even) == set()


async def test_the_next_round_ends_it(store: Store, even: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    break_model(monkeypatch)
    await even.send(NOTHING)
    await even.send(*logs.ct_win(1, 0))
    assert await active(store, even) == set()
    monkeypatch.undo()
    await even.send(*logs.freeze(1, 0))
    assert 13 in await active(store, even)
    assert (await alert(store)).ended_at == even.now


async def test_an_operator_ends_it(store: Store, even: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    break_model(monkeypatch)
    await even.send(NOTHING)
    await execute(store, even.match, match_commands.Unsuspend(), even.now)
    assert 13 in await active(store, even)
    assert (await alert(store)).ended_at == even.now


async def test_time_alone_moves_no_price_without_a_cause(
    store: Store, even: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with store.transaction() as tx:
        await tx.execute("UPDATE match SET reprice_at = $1", NOW)
    break_model(monkeypatch)
    assert await reprice_due(store, ManualClock(even.now + 1000), CONFIG) == 1
    assert await active(store, even) == set()
    assert (await alert(store)).ended_at is None


async def test_another_model_moves_prices_and_none_moves_them_without_a_cause_afterwards(
    store: Store, even: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of two versions price one match in turn while the service is upgraded."""
    other, own = "another", (await even.state()).priced_by
    for name in (other, own, other):
        with monkeypatch.context() as version:
            version.setattr(match_reaction, "_model", lambda name=name: name)
            if name == other:
                break_model(version)
            await even.send(NOTHING)
        state = await even.state()
        assert (state.priced_by, state.suspended) == (name, "") and 13 in await active(store, even)
    monkeypatch.setattr(match_reaction, "_model", lambda: other)
    await even.send(NOTHING)  # which moves the price back, by the same model as it says
    assert (await even.state()).suspended.startswith("a price moved without a cause")


async def test_a_kill_moves_prices(even: Server) -> None:
    await even.send(*(logs.kill(logs.CT[0], victim) for victim in logs.T[1:3]))
    assert (await even.state()).suspended == ""
