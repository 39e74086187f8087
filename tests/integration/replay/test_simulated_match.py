"""A whole match replayed: the bodies of then, and a client that ends with what the ledger has, whatever went
wrong on the way."""

import random
from collections.abc import Iterable, Sequence

import msgspec
import pytest
from lxml import etree

from app.amqp.envelope import EnvelopeRenderer
from app.amqp.frames import AmqpMessage
from app.domain.replay import Accident, AccidentKind, ReplayOptions, ReplayState
from app.domain.tenant import Tenant
from app.store import changes, tenants
from app.store.connections import Store
from scripts.consumer import Book
from tests.faults.fold import folded_with_replay, ledger_of
from tests.faults.rig import Got
from tests.integration.replay.conftest import Running, Vhost
from tests.support.replays import ended, prune_all, replay
from tests.support.season import Played, play
from tests.support.simulated import plan_between
from tests.support.story import Story, offer

CASES = 12


async def simulated(store: Store) -> Played:
    return await play(store, plan_between(0, 1, 5, best_of=1, brief=True), "Test Cup", lines=20)


async def replayed(
    store: Store, tenant: Tenant, running: Running, match: Played, accidents: Sequence[Accident] = ()
) -> list[AmqpMessage]:
    vhost, options = Vhost(), ReplayOptions(max_delay=0, accidents=tuple(accidents))
    job = await replay(store, tenant, [match.match], options)
    async with running(vhost):
        done = await ended(store, job)
    assert (done.state, done.error) == (ReplayState.COMPLETED, "")
    return vhost.messages


def received(messages: Iterable[AmqpMessage]) -> list[Got]:
    """As a client receives them; it takes each id once."""
    once = {message.message_id: message for message in messages}
    return [Got(one.routing_key, None, None, one.message_id or "", one.body, 0.0) for one in once.values()]


def book_of(messages: Iterable[AmqpMessage]) -> dict[str, dict[object, object]]:
    """What a client has on offer that compares by timestamp alone, as SDKs' users do."""
    book = Book()
    for message in messages:
        book.apply(etree.fromstring(message.body), 0, 0)
    return {
        match: {key: price for key, (_, price) in offers.items()} for match, offers in book.offers.items()
    }


@pytest.mark.parametrize("bet_stop", [False, True])
async def test_the_bodies_are_those_of_then(
    store: Store, tenant: Tenant, running: Running, bet_stop: bool
) -> None:
    async with store.transaction() as tx:
        await tenants.save(tx, msgspec.structs.replace(tenant, bet_stop=bet_stop))
    match = await simulated(store)
    async with store.autocommit() as tx:
        rows = await changes.after(tx, 0, match.match.id, 100_000)
    every = list(EnvelopeRenderer("oddsfeed", 2).envelopes(rows))
    assert any(each.name == changes.BET_STOP for each in every)
    live = [each.message for each in every if bet_stop or each.name != changes.BET_STOP]
    await Story(store).match(offer(1))
    assert await prune_all(store) >= len(rows)
    messages = await replayed(store, tenant, running, match)
    assert len(messages) == len(live) > 100
    for message, then in zip(messages, live, strict=True):
        assert (message.body, message.routing_key, message.at) == (then.body, then.routing_key, then.at)
        assert message.headers == {**then.headers, "x-replay": message.headers["x-replay"]}


async def test_accidents_leave_the_client_with_the_same(
    store: Store, tenant: Tenant, running: Running
) -> None:
    match = await simulated(store)
    plain = await replayed(store, tenant, running, match)
    ledger = await ledger_of(store)
    assert folded_with_replay(received(plain)) == ledger
    for seed in range(CASES):
        chance = random.Random(seed)
        accidents = [
            Accident(chance.choice(list(AccidentKind)), chance.randrange(len(plain)), chance.randrange(1, 80))
            for _ in range(chance.randrange(1, 5))
        ]
        messages = await replayed(store, tenant, running, match, accidents)
        assert folded_with_replay(received(messages)) == ledger, (seed, accidents)
        assert book_of(messages) == book_of(plain), (seed, accidents)


async def test_an_outage_ends_with_what_a_recovery_has(
    store: Store, tenant: Tenant, running: Running
) -> None:
    """No `bet_stop`: the odds say the same."""
    async with store.transaction() as tx:
        await tenants.save(tx, msgspec.structs.replace(tenant, bet_stop=True))
    match = await simulated(store)
    messages = await replayed(store, tenant, running, match, [Accident(AccidentKind.OUTAGE, 0, 1_000_000)])
    keys = {message.routing_key.split(".")[3] for message in messages}
    assert {"odds_change", "bet_settlement"} <= keys and changes.BET_STOP not in keys


async def test_an_outage_ends_with_what_was_missed(store: Store, tenant: Tenant, running: Running) -> None:
    """Right after it a client has the book that it would have had."""
    match = await simulated(store)
    plain = await replayed(store, tenant, running, match)
    for first in range(0, len(plain) - 40, 37):
        outage = Accident(AccidentKind.OUTAGE, first, 25)
        messages = await replayed(store, tenant, running, match, [outage])
        seqs = [message.headers["x-seq"] for message in messages]
        back = seqs.index(plain[first + 25].headers["x-seq"])
        assert len(messages) < len(plain)
        assert book_of(messages[:back]) == book_of(plain[: first + 25]), first
