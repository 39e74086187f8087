"""A slow client misses no event and no settlement, receives the newest states, and is closed in the end."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.access.grants import PresentedKey
from app.channels.stream.connection import CloseCode, StreamConnection
from app.channels.stream.frames import Frame, join_batch
from app.domain.frame_types import ALIVE
from app.domain.tenant import Grant, Tenant

GRANT = Grant(UUID(int=1), Tenant(UUID(int=2), "acme", "Acme"), frozenset(), frozenset({"cs2"}))
STATES = ("a", "b", "c")


class Socket:
    """A transport that accepts `capacity` writes, and is congested then."""

    def __init__(self) -> None:
        self.capacity = 0
        self.written = b""
        self.ended: tuple[int, str] | None = None

    @property
    def congested(self) -> bool:
        return self.capacity <= 0

    def write(self, wire: bytes) -> None:
        assert not self.congested
        self.capacity -= 1
        self.written += wire

    def finish(self, code: int, reason: str) -> None:
        self.ended = (code, reason)

    @property
    def numbers(self) -> list[int]:
        return [int(part) for part in self.written.split()]


def connected(limit: int = 1000) -> tuple[StreamConnection, Socket]:
    socket = Socket()
    return StreamConnection(PresentedKey(GRANT, "127.0.0.1"), socket, limit), socket


def frame(seq: int, entity: str | None = None) -> Frame:
    return Frame(seq, b"%d " % seq, entity)


@given(
    st.lists(
        st.one_of(
            st.lists(st.sampled_from((*STATES, None)), min_size=1, max_size=5),
            st.integers(1, 3),
        ),
        max_size=40,
    )
)
def test_a_client_that_drains_at_last_has_received_everything(steps: list[list[str | None] | int]) -> None:
    connection, socket = connected()
    seq, last, single = 0, dict[str, int](), list[int]()
    for step in steps:
        if isinstance(step, int):
            socket.capacity = step
            connection.flush()
            continue
        batch = []
        for entity in step:
            seq += 1
            batch.append(frame(seq, entity))
            if entity is None:
                single.append(seq)
            else:
                last[entity] = seq
        connection.send_batch(join_batch(batch), seq)
        assert connection.position == seq
    socket.capacity = 10**6
    connection.flush()
    assert not connection.queued
    assert socket.numbers == sorted(set(socket.numbers))
    assert {*single, *last.values()} <= set(socket.numbers)
    assert socket.ended is None


@given(st.integers(1, 20), st.lists(st.sampled_from((*STATES, None)), max_size=60))
def test_it_is_closed_when_its_queue_is_full_and_not_before(limit: int, entities: list[str | None]) -> None:
    connection, socket = connected(limit)
    for seq, entity in enumerate(entities, start=1):
        connection.send_batch(join_batch([frame(seq, entity)]), seq)
        distinct = {one or number for number, one in enumerate(entities[:seq])}
        assert (socket.ended is not None) == connection.closed
        if not connection.closed:
            assert connection.queued == len(distinct) <= limit
    many = len({one or number for number, one in enumerate(entities)}) > limit
    assert connection.closed == many
    assert not many or (socket.ended and socket.ended[0] == CloseCode.TOO_SLOW)


def test_initial_frames_do_not_count_for_the_limit() -> None:
    connection, socket = connected(limit=3)
    connection.send_initial([frame(seq).wire for seq in range(1, 11)], 10)
    connection.send_batch(join_batch([frame(9), frame(10), frame(11)]), 11)
    assert not connection.closed
    socket.capacity = 10**6
    connection.flush()
    assert socket.numbers == list(range(1, 12))


def test_only_frames_after_its_position_are_sent() -> None:
    connection, socket = connected()
    socket.capacity = 10
    connection.send_initial([], 5)
    connection.send_batch(join_batch([frame(4), frame(5)]), 5)
    connection.send_batch(join_batch([frame(5), frame(6)]), 6)
    connection.send_batch(join_batch([]), 8)
    assert (socket.numbers, connection.position) == ([6], 8)


def test_alive_stays_behind_the_frames_that_it_covers() -> None:
    """A newer state that replaces an older one goes to the end of the queue, and `alive` behind it."""
    connection, socket = connected()
    connection.send_batch(join_batch([frame(1, "a"), frame(2)]), 2)
    connection.send_frame(Frame(2, b"0 ", ALIVE))
    connection.send_batch(join_batch([frame(3)]), 3)
    connection.send_batch(join_batch([frame(4, "a")]), 4)
    socket.capacity = 10
    connection.flush()
    assert socket.numbers == [2, 3, 4, 0]


def test_twenty_messages_in_ten_seconds_are_too_many() -> None:
    connection, socket = connected()
    for number in range(40):
        connection.count_inbound(now=float(number))
    assert not connection.closed
    for _ in range(20):
        connection.count_inbound(now=50.0)
    assert not connection.closed
    connection.count_inbound(now=59.9)
    assert socket.ended and socket.ended[0] == CloseCode.POLICY
    connection.send_batch(join_batch([frame(1)]), 1)
    connection.send_frame(frame(2))
    connection.flush()
    assert socket.numbers == []
