"""Envelopes that are ready together reach a tenant's socket in one write: one read less for the broker."""

from app.amqp.envelope import Envelope
from app.amqp.frames import marshal
from app.amqp.lease import LeaseDeadline
from app.amqp.publishers import RecentEnvelopes
from app.amqp.tenant_publisher import TenantPublisher
from tests.unit.amqp.brokered import TAKEN, Broker, envelope, message, publisher_of


def attached() -> tuple[RecentEnvelopes, TenantPublisher, Broker]:
    """A publisher with a connection, what it is to publish, and the broker at its end."""
    recent, lease = RecentEnvelopes(0), LeaseDeadline(10_000)
    lease.renewed(lease.now())
    publisher = publisher_of(TAKEN, window=100, lease=lease, recent=recent)
    broker = Broker(publisher)
    publisher.attach(broker.connection)
    return recent, publisher, broker


def written(seq: int, size: int = 4) -> Envelope:
    return envelope(seq, marshal(message(f"mf-{seq}", size=size)))


async def test_what_was_read_together_is_one_write() -> None:
    recent, publisher, broker = attached()
    recent.extend([written(seq) for seq in range(1, 8)], 7)
    publisher.pump()
    assert broker.together == [7]
    assert [name for _, name in broker.order] == [f"mf-{seq}" for seq in range(1, 8)]
    recent.extend([written(8)], 8)
    publisher.pump()
    assert broker.together == [7, 1]
    broker.ack(1, 8, multiple=True)
    assert (publisher.cursor, publisher.unconfirmed) == (8, 0)


async def test_a_write_is_no_larger_than_a_socket_takes() -> None:
    """After each 64 KiB it is known again whether there is room; the rest waits for it."""
    recent, publisher, broker = attached()
    recent.extend([written(seq, size=30_000) for seq in range(1, 9)], 8)
    write = broker.writelines

    def full(pieces: list[bytes]) -> None:
        write(pieces)
        broker.connection.pause_writing()

    broker.writelines = full  # type: ignore[method-assign]
    publisher.pump()
    assert (broker.together, publisher.sent, publisher.unconfirmed) == ([3], 3, 3)
    broker.writelines = write  # type: ignore[method-assign]
    broker.connection.resume_writing()
    assert (broker.together, publisher.sent) == ([3, 3, 2], 8)
    assert [name for _, name in broker.order] == [f"mf-{seq}" for seq in range(1, 9)]


async def test_what_a_connection_lost_before_its_write_is_published_on_the_next_one() -> None:
    recent, publisher, broker = attached()
    recent.extend([written(seq) for seq in range(1, 4)], 3)
    broker.connection.ended.set_result("gone")
    publisher.pump()
    assert (broker.together, broker.order) == ([], [])
    publisher.detach("gone")
    again = Broker(publisher)
    publisher.attach(again.connection)
    assert again.together == [3]
