"""Single messages beside live ones on one connection: each confirm reaches the message that it is about."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pamqp import commands

from app.amqp import tenant_channels
from app.amqp.connection import BrokerError
from app.amqp.frames import CHANNEL, marshal
from app.amqp.tenant_channels import (
    MAX_BYTES,
    MAX_UNCONFIRMED,
    MIN_UNCONFIRMED,
    ConfirmedChannel,
    LiveDelay,
    Unroutable,
)
from tests.unit.amqp.brokered import ALIVE, REPLAYED, Broker, message, opened, went_on


class Live:
    """The listener of live messages: which tags are confirmed, and which rejected."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.accepted: set[int] = set()

    def _resolve(self, tag: int, multiple: bool) -> set[int]:
        done = {each for each in self.open if each <= tag} if multiple else self.open & {tag}
        self.open -= done
        return done

    def confirmed(self, tag: int, multiple: bool) -> None:
        self.accepted |= self._resolve(tag, multiple)

    def rejected(self, tag: int, multiple: bool) -> None:
        self._resolve(tag, multiple)

    def unblocked(self) -> None: ...


class World:
    """Three kinds on one connection, and what the broker has done with each message of each."""

    def __init__(self) -> None:
        self.live = Live()
        self.broker = Broker(self.live)
        self.channels: dict[int, ConfirmedChannel] = {}
        self.tasks: dict[int, list[asyncio.Task[None]]] = {ALIVE: [], REPLAYED: []}
        self.accepted: dict[int, set[int]] = {CHANNEL: set(), ALIVE: set(), REPLAYED: set()}
        self.resolved: dict[int, set[int]] = {CHANNEL: set(), ALIVE: set(), REPLAYED: set()}

    async def begin(self) -> None:
        for number in (ALIVE, REPLAYED):
            self.channels[number] = await opened(self.broker, number)

    async def publish(self, kind: int) -> None:
        if kind == CHANNEL:
            name = f"live-{len(self.broker.published.get(CHANNEL, ()))}"
            self.live.open.add(self.broker.connection.publish(marshal(message(name))))
            return
        tasks = self.tasks[kind]
        tasks.append(asyncio.create_task(self.channels[kind].publish(message(f"{kind}-{len(tasks)}"))))
        await went_on()

    def answer(self, kind: int, tag: int, *, multiple: bool, accept: bool, cut: int) -> None:
        """The broker answers for tags that were published and that it has not answered for."""
        published = len(self.broker.published.get(kind, ()))
        new = {each for each in range(1 if multiple else tag, tag + 1) if each <= published}
        new -= self.resolved[kind]
        if tag > published or tag in self.resolved[kind]:
            return
        self.resolved[kind] |= new
        if accept:
            self.accepted[kind] |= new
        (self.broker.ack if accept else self.broker.nack)(kind, tag, multiple=multiple, cut=cut)

    async def check(self) -> None:
        await went_on()
        assert self.live.accepted == self.accepted[CHANNEL]
        for kind, tasks in self.tasks.items():
            names = [f"{kind}-{number}" for number in range(len(tasks))]
            assert self.broker.published.get(kind, []) == names[: len(self.broker.published.get(kind, []))]
            for tag, task in enumerate(tasks, 1):
                assert task.done() == (tag in self.resolved[kind])
                if task.done():
                    assert (task.exception() is None) == (tag in self.accepted[kind])


kinds = st.sampled_from([CHANNEL, ALIVE, REPLAYED])
answers = st.tuples(kinds, st.integers(1, 12), st.booleans(), st.booleans(), st.integers(0, 9))
steps = st.lists(st.one_of(kinds, answers), max_size=50)


@settings(max_examples=150, deadline=None)
@given(steps)
async def test_every_confirm_is_about_one_message_of_one_kind(
    plan: list[int | tuple[int, int, bool, bool, int]],
) -> None:
    world = World()
    await world.begin()
    for step in plan:
        if isinstance(step, int):
            await world.publish(step)
        else:
            kind, tag, multiple, accept, cut = step
            world.answer(kind, tag, multiple=multiple, accept=accept, cut=cut)
        await world.check()
    world.broker.connection.abort("the broker restarts")
    await went_on()
    for kind, tasks in world.tasks.items():
        for tag, task in enumerate(tasks, 1):
            assert task.done() and (task.exception() is None) == (tag in world.accepted[kind])


async def test_so_much_of_a_replay_is_unconfirmed_and_no_more_while_live_and_alive_go_on() -> None:
    world = World()
    await world.begin()
    for _ in range(MAX_UNCONFIRMED + 5):
        await world.publish(REPLAYED)
    assert len(world.broker.published[REPLAYED]) == MAX_UNCONFIRMED
    await world.publish(CHANNEL)
    await world.publish(ALIVE)
    assert [kind for kind, _ in world.broker.order[-2:]] == [CHANNEL, ALIVE]
    world.broker.ack(REPLAYED, 3, multiple=True)
    await went_on()
    assert len(world.broker.published[REPLAYED]) == MAX_UNCONFIRMED + 3
    world.broker.connection.abort("enough")
    await asyncio.gather(*world.tasks[REPLAYED], *world.tasks[ALIVE], return_exceptions=True)


async def test_large_messages_fill_the_window_sooner_and_one_that_exceeds_it_is_published_alone() -> None:
    broker = Broker()
    channel = await opened(broker)
    sizes = (MAX_BYTES // 2, MAX_BYTES // 2, 2 * MAX_BYTES)
    tasks = [
        asyncio.create_task(channel.publish(message(str(number), size=size)))
        for number, size in enumerate(sizes)
    ]
    for published in (["0"], ["0", "1"], ["0", "1", "2"]):
        await went_on()
        assert broker.published[REPLAYED] == published
        broker.ack(REPLAYED, len(published))
    await asyncio.gather(*tasks)


async def test_a_replay_yields_while_live_messages_wait_and_takes_its_window_back() -> None:
    now, waiting = 0.0, [0.0]
    live = LiveDelay(lambda: waiting, lambda: now)
    broker = Broker()
    channel = await opened(broker, live=live)
    now = 1.0  # a live message has waited for a second
    tasks = [asyncio.create_task(channel.publish(message(str(number)))) for number in range(400)]
    unconfirmed = []
    for _ in range(20):
        await went_on()
        unconfirmed.append(len(broker.published[REPLAYED]) - sum(task.done() for task in tasks))
        channel._yielded_at -= 1  # as if time had passed
        broker.ack(REPLAYED, len(broker.published[REPLAYED]), multiple=True)
    assert unconfirmed[-1] == MIN_UNCONFIRMED < unconfirmed[0]
    waiting.clear()
    while not all(task.done() for task in tasks):
        await went_on()
        unconfirmed.append(len(broker.published[REPLAYED]) - sum(task.done() for task in tasks))
        broker.ack(REPLAYED, len(broker.published[REPLAYED]), multiple=True)
        await went_on()
    assert max(unconfirmed[20:]) == MAX_UNCONFIRMED
    assert live.replaying == 0


async def test_nothing_is_written_once_the_lease_may_have_expired_while_it_waited() -> None:
    held = True
    broker = Broker()
    channel = await opened(broker, may_publish=lambda: held)
    tasks = [asyncio.create_task(channel.publish(message(str(n)))) for n in range(MAX_UNCONFIRMED + 1)]
    await went_on()
    held = False
    broker.ack(REPLAYED, MAX_UNCONFIRMED, multiple=True)
    with pytest.raises(BrokerError, match="no longer ours"):
        await tasks[-1]
    assert len(broker.published[REPLAYED]) == MAX_UNCONFIRMED


@pytest.mark.parametrize("cut", [0, 1, 7])
async def test_a_mandatory_message_that_no_queue_receives_is_known_by_its_id(cut: int) -> None:
    broker = Broker()
    channel = await opened(broker)
    ends = [asyncio.create_task(channel.publish(message(f"end-{n}", mandatory=True))) for n in range(2)]
    await went_on()
    broker.return_(REPLAYED, "end-1", cut=cut)
    broker.ack(REPLAYED, 2, multiple=True, cut=cut)
    await ends[0]
    with pytest.raises(Unroutable):
        await ends[1]
    again = asyncio.create_task(channel.publish(message("end-1", mandatory=True)))
    await went_on()
    broker.ack(REPLAYED, 3)
    await again


async def test_a_confirm_that_does_not_come_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_channels, "CONFIRM_SECONDS", 0.05)
    broker = Broker()
    channel = await opened(broker)
    with pytest.raises(BrokerError, match="confirmed nothing"):
        await channel.publish(message("1"))
    assert broker.connection.ended.done()


async def test_a_blocked_broker_is_waited_for_and_gets_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_channels, "CONFIRM_SECONDS", 0.05)
    broker = Broker()
    channel = await opened(broker)
    written = asyncio.create_task(channel.publish(message("1")))
    await went_on()
    broker.send(0, commands.Connection.Blocked("memory"))
    with pytest.raises(BrokerError, match="accepts nothing: memory"):
        await channel.publish(message("2"))
    assert not written.done() and not broker.connection.ended.done()
    broker.send(0, commands.Connection.Unblocked())
    broker.ack(REPLAYED, 1)
    await written
    assert broker.published[REPLAYED] == ["1"]


async def test_a_message_whose_publisher_was_cancelled_still_counts_until_it_is_confirmed() -> None:
    broker = Broker()
    channel = await opened(broker)
    tasks = [asyncio.create_task(channel.publish(message(str(n)))) for n in range(MAX_UNCONFIRMED + 1)]
    await went_on()
    tasks[0].cancel()
    await went_on()
    assert len(broker.published[REPLAYED]) == MAX_UNCONFIRMED
    broker.ack(REPLAYED, MAX_UNCONFIRMED, multiple=True)
    await went_on()
    broker.ack(REPLAYED, MAX_UNCONFIRMED + 1)
    await asyncio.gather(*tasks[1:])
