"""A slow reader misses no event and no settlement, gets of states the newest, and is closed in the end."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.access.grants import Presented
from app.channels.stream.closing import Code
from app.channels.stream.connection import Connection
from app.channels.stream.frames import Frame, batch
from app.domain.frames import ALIVE
from app.domain.tenant import Grant, Tenant

GRANT = Grant(UUID(int=1), Tenant(UUID(int=2), "acme", "Acme"), frozenset(), frozenset({"cs2"}))
STATES = ("a", "b", "c")


class Socket:
    """A line that takes so many pieces, then none until it is drained."""

    def __init__(self) -> None:
        self.room = 0
        self.heard = b""
        self.ended: tuple[int, str] | None = None

    @property
    def congested(self) -> bool:
        return self.room <= 0

    def write(self, wire: bytes) -> None:
        assert not self.congested
        self.room -= 1
        self.heard += wire

    def finish(self, code: int, reason: str) -> None:
        self.ended = (code, reason)

    @property
    def numbers(self) -> list[int]:
        return [int(part) for part in self.heard.split()]


def connected(limit: int = 1000) -> tuple[Connection, Socket]:
    socket = Socket()
    return Connection(Presented(GRANT, "127.0.0.1"), socket, limit), socket


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
def test_whoever_drains_in_the_end_knows_everything(steps: list[list[str | None] | int]) -> None:
    connection, socket = connected()
    seq, last, kept = 0, dict[str, int](), list[int]()
    for step in steps:
        if isinstance(step, int):
            socket.room = step
            connection.pump()
            continue
        told = []
        for entity in step:
            seq += 1
            told.append(frame(seq, entity))
            if entity is None:
                kept.append(seq)
            else:
                last[entity] = seq
        connection.tell(batch(told), seq)
        assert connection.position == seq
    socket.room = 10**6
    connection.pump()
    assert not connection.waiting
    assert socket.numbers == sorted(set(socket.numbers))
    assert {*kept, *last.values()} <= set(socket.numbers)
    assert socket.ended is None


@given(st.integers(1, 20), st.lists(st.sampled_from((*STATES, None)), max_size=60))
def test_it_is_closed_when_too_much_waits_and_not_before(limit: int, entities: list[str | None]) -> None:
    connection, socket = connected(limit)
    for seq, entity in enumerate(entities, start=1):
        connection.tell(batch([frame(seq, entity)]), seq)
        distinct = {one or number for number, one in enumerate(entities[:seq])}
        assert (socket.ended is not None) == connection.closed
        if not connection.closed:
            assert connection.waiting == len(distinct) <= limit
    many = len({one or number for number, one in enumerate(entities)}) > limit
    assert connection.closed == many
    assert not many or (socket.ended and socket.ended[0] == Code.TOO_SLOW)


def test_what_it_is_sent_on_connecting_counts_for_nothing() -> None:
    connection, socket = connected(limit=3)
    connection.open([frame(seq).wire for seq in range(1, 11)], 10)
    connection.tell(batch([frame(9), frame(10), frame(11)]), 11)
    assert not connection.closed
    socket.room = 10**6
    connection.pump()
    assert socket.numbers == list(range(1, 12))


def test_only_what_is_new_to_it_is_told() -> None:
    connection, socket = connected()
    socket.room = 10
    connection.open([], 5)
    connection.tell(batch([frame(4), frame(5)]), 5)
    connection.tell(batch([frame(5), frame(6)]), 6)
    connection.tell(batch([]), 8)
    assert (socket.numbers, connection.position) == ([6], 8)


def test_alive_waits_for_what_it_vouches_for() -> None:
    """A newer state that takes an older one's place takes `alive` along behind it."""
    connection, socket = connected()
    connection.tell(batch([frame(1, "a"), frame(2)]), 2)
    connection.say(Frame(2, b"0 ", ALIVE))
    connection.tell(batch([frame(3)]), 3)
    connection.tell(batch([frame(4, "a")]), 4)
    socket.room = 10
    connection.pump()
    assert socket.numbers == [2, 3, 4, 0]


def test_twenty_messages_in_ten_seconds_are_too_many() -> None:
    connection, socket = connected()
    for number in range(40):
        connection.heard(now=float(number))
    assert not connection.closed
    for _ in range(20):
        connection.heard(now=50.0)
    assert not connection.closed
    connection.heard(now=59.9)
    assert socket.ended and socket.ended[0] == Code.POLICY
    connection.tell(batch([frame(1)]), 1)
    connection.say(frame(2))
    connection.pump()
    assert socket.numbers == []
