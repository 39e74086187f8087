"""A publisher against a broker that confirms as it likes, refuses, breaks off, and a process that dies."""

import asyncio
from collections.abc import Iterator
from typing import cast
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.amqp.connection import BrokerError, PublisherConnection
from app.amqp.frames import FRAME_MAX
from app.amqp.lease import LeaseDeadline
from app.amqp.publishers import RecentEnvelopes
from app.amqp.tenant_channels import LiveDelay, TenantChannels
from app.amqp.tenant_publisher import TenantPublisher
from tests.unit.amqp.brokered import TAKEN, Broker, envelope, message, publisher_of, went_on

BOOKED, KEPT_BACK = UUID(int=2), UUID(int=3)
WINDOW = 5


class Wire:
    """What a publisher sees of a connection; remembers what was published, in order."""

    frame_max = FRAME_MAX
    writable = True

    def __init__(self) -> None:
        self.tags: dict[int, int] = {}

    def publish(self, frames: bytes) -> int:
        tag = len(self.tags) + 1
        self.tags[tag] = int(frames)
        return tag

    def cork(self) -> None: ...

    def uncork(self) -> None: ...


class World:
    """One tenant's publisher over a log whose every third envelope is of a match that it does not take."""

    def __init__(self, length: int = 30) -> None:
        self.now = 0.0
        self.log = [
            envelope(3 * n, str(3 * n).encode(), KEPT_BACK if n % 3 == 0 else BOOKED)
            for n in range(1, length + 1)
        ]
        self.wanted = [each.seq for each in self.log if each.match_id == BOOKED]
        self.recent = RecentEnvelopes(0)
        self.lease = LeaseDeadline(1000, lambda: self.now)
        self.lease.renewed(0.0)
        self.arrived: list[int] = []
        self.saved = 0
        self.starving = False
        self.given_up_before = 0
        self.publisher = self.born()
        self.wire = Wire()

    @property
    def given_up(self) -> int:
        return self.given_up_before + self.publisher.notice.lost

    def born(self) -> TenantPublisher:
        """A publisher as a new process makes it, from what was saved."""
        return publisher_of(
            replace(TAKEN, seq=self.saved),
            window=WINDOW,
            lease=self.lease,
            recent=self.recent,
            is_booked=lambda tenant, match, seq: match == BOOKED,
            request_backlog=lambda _: setattr(self, "starving", True),
        )

    def read(self, count: int) -> None:
        page = [each for each in self.log if each.seq > self.recent.head][:count]
        if page:
            self.recent.extend(page, page[-1].seq)
        self.publisher.pump()

    def connect(self) -> None:
        self.publisher.detach("gone")
        self.wire = Wire()
        self.publisher.attach(cast(PublisherConnection, self.wire))

    def die(self) -> None:
        """The process dies and another one begins: what was sent may have arrived."""
        self.arrive(len(self.wire.tags))
        self.given_up_before += self.publisher.notice.lost
        self.publisher = self.born()
        self.connect()

    def arrive(self, tag: int) -> None:
        self.arrived += [self.wire.tags[each] for each in sorted(self.wire.tags) if each <= tag]
        self.wire.tags = {each: seq if each > tag else -1 for each, seq in self.wire.tags.items()}
        self.arrived = [seq for seq in self.arrived if seq > 0]

    def save(self) -> None:
        self.saved = self.publisher.cursor
        self.publisher.checkpointed(self.saved)

    def finish(self) -> None:
        self.connect()
        for _ in range(200):
            self.read(50)
            self.arrive(len(self.wire.tags))
            self.publisher.confirmed(len(self.wire.tags), multiple=True)
            self.save()


@pytest.mark.parametrize(("wanted", "published"), [(False, [2]), (True, [1, 2])])
def test_a_bet_stop_is_published_to_tenants_that_have_requested_it_alone(
    wanted: bool, published: list[int]
) -> None:
    world, wire = World(), Wire()
    stop = replace(envelope(1, b"1", BOOKED), name="bet_stop")
    world.recent.extend([stop, envelope(2, b"2", BOOKED)], 2)
    publisher = publisher_of(
        replace(TAKEN, seq=0),
        window=WINDOW,
        recent=world.recent,
        lease=world.lease,
        receives_bet_stop=lambda tenant: wanted and tenant == TAKEN.tenant_id,
    )
    publisher.attach(cast(PublisherConnection, wire))
    assert list(wire.tags.values()) == published
    publisher.confirmed(len(published), multiple=True)
    assert publisher.cursor == 2


steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(1, 6)),
        st.tuples(st.just("ack"), st.integers(1, 40)),
        st.tuples(st.just("acks"), st.integers(1, 40)),
        st.tuples(st.just("nack"), st.integers(1, 40)),
        st.tuples(st.sampled_from(["save", "connect", "die"]), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(steps)
async def test_everything_arrives_whatever_happens(plan: list[tuple[str, int]]) -> None:
    world = World()
    world.connect()
    for what, number in plan:
        match what:
            case "read":
                world.read(number)
            case "ack" | "acks" if number in world.wire.tags:
                world.arrive(number)
                world.publisher.confirmed(number, multiple=what == "acks")
            case "nack" if number in world.wire.tags:
                world.publisher.rejected(number, multiple=False)
            case "save":
                world.save()
            case "connect":
                world.connect()
            case "die":
                world.die()
        assert world.saved <= world.publisher.cursor <= world.publisher.sent
        assert world.publisher.unsaved <= WINDOW
        assert all(seq in world.arrived for seq in world.wanted if seq <= world.saved) or world.given_up
    world.finish()
    assert set(world.arrived) <= set(world.wanted)
    assert set(world.arrived) == set(world.wanted) or world.given_up
    assert world.saved == world.log[-1].seq


def published(world: World) -> Iterator[int]:
    return iter(world.wire.tags.values())


async def test_the_window_counts_from_what_is_saved() -> None:
    world = World()
    world.connect()
    world.read(30)
    assert list(published(world)) == world.wanted[:WINDOW]
    world.publisher.confirmed(WINDOW, multiple=True)
    assert len(world.wire.tags) == WINDOW, "confirmed, but a crash would still repeat them"
    world.save()
    assert list(published(world)) == world.wanted[: 2 * WINDOW]


async def test_confirms_out_of_order_move_the_cursor_only_over_a_whole_stretch() -> None:
    world = World()
    world.connect()
    world.read(30)
    for tag in (2, 3, 5):
        world.publisher.confirmed(tag, multiple=False)
    assert world.publisher.cursor == 0
    world.publisher.confirmed(1, multiple=False)
    assert world.publisher.cursor == world.wanted[2]


async def test_nothing_is_published_once_the_lease_may_have_run_out() -> None:
    world = World()
    world.connect()
    world.now = 1.0
    world.read(30)
    assert not world.wire.tags
    assert not world.publisher.healthy


async def test_an_envelope_that_is_always_refused_is_let_go_and_counted() -> None:
    world = World(length=1)
    world.connect()
    world.read(1)
    for _ in range(3):
        world.publisher.rejected(len(world.wire.tags), multiple=False)
    assert len(world.wire.tags) == 3
    assert world.publisher.notice.lost == 1
    assert world.publisher.cursor == world.wanted[0]


async def test_a_tenant_far_behind_asks_for_its_own_page() -> None:
    world = World()
    world.recent = RecentEnvelopes(60)
    world.publisher = world.born()
    world.connect()
    assert world.starving
    backlog = RecentEnvelopes(0)
    backlog.extend(world.log[:20], 60)
    world.publisher.backlog = backlog
    world.publisher.pump()
    assert list(published(world)) == world.wanted[:WINDOW]


async def test_a_page_that_was_read_before_a_rewind_is_not_taken_for_what_comes_after_it() -> None:
    world = World()
    world.recent = RecentEnvelopes(90)
    world.publisher = world.born()
    page = RecentEnvelopes(0)
    page.extend(world.log[:4], 12)
    world.connect()
    world.publisher.backlog = page
    world.publisher.pump()
    asked_from = world.publisher.sent
    assert asked_from == 12
    world.publisher.detach("the broker restarts")  # nothing was confirmed
    late = RecentEnvelopes(asked_from)
    late.extend(world.log[4:20], 60)
    world.publisher.backlog = late
    world.starving = False
    world.connect()
    assert world.wire.tags == {} and world.starving, "it asks again, from where it is now"


async def test_an_envelope_that_cannot_be_made_is_passed_over_and_counted() -> None:
    world = World(length=3)
    world.log[0] = replace(world.log[0], frames=b"")
    world.connect()
    world.read(3)
    assert list(published(world)) == world.wanted[1:]
    assert world.publisher.notice.lost == 1


async def attached_to(broker: Broker, world: World) -> TenantChannels:
    """The channels of a connection that the publisher has now."""
    channels = await TenantChannels.open(
        broker.connection, LiveDelay(lambda: ()), may_publish=lambda: True, may_replay=lambda: True
    )
    world.publisher.attach(broker.connection, channels)
    return channels


async def test_a_tenant_is_not_released_before_what_was_replayed_is_confirmed() -> None:
    """The next holder does not fence one that released in good order: nothing of it may come later."""
    world, broker = World(length=0), Broker()
    channels = await attached_to(broker, world)
    replays = [asyncio.create_task(channels.replayed.publish(message(f"replay-{n}"))) for n in range(2)]
    await went_on()
    world.publisher.releasing = True
    (channel,) = broker.published
    broker.ack(channel, 1)
    await went_on()
    assert [each.done() for each in replays] == [True, False]
    assert (world.publisher.unconfirmed, world.publisher.drained) == (1, False)
    broker.ack(channel, 2)
    assert (world.publisher.unconfirmed, world.publisher.drained) == (0, True)
    await asyncio.gather(*replays)


async def test_what_was_replayed_on_a_connection_that_ended_does_not_hold_a_tenant() -> None:
    world, broker = World(length=0), Broker()
    channels = await attached_to(broker, world)
    replay = asyncio.create_task(channels.replayed.publish(message("replay")))
    await went_on()
    world.publisher.detach("the broker restarts")
    assert world.publisher.drained
    broker.connection.abort("the broker restarts")
    with pytest.raises(BrokerError):
        await replay
