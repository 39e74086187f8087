from uuid import UUID

from app.amqp.envelope import Envelope
from app.amqp.frames import AmqpMessage
from app.amqp.recent_envelopes import RecentEnvelopes


def envelope(seq: int, size: int = 10) -> Envelope:
    message = AmqpMessage("x", "k", b"", f"mf-{seq}", 0, {})
    return Envelope(seq, 0, UUID(int=1), 0, "odds_change", message, b"x" * size)


def seqs(recent: RecentEnvelopes, after: int) -> list[int]:
    found = []
    while (each := recent.next(after)) is not None:
        found.append(after := each.seq)
    return found


def test_it_gives_what_comes_after_a_place() -> None:
    recent = RecentEnvelopes(10)
    recent.extend([envelope(12), envelope(15)], 17)
    recent.extend([envelope(20)], 20)
    assert seqs(recent, 10) == seqs(recent, 11) == [12, 15, 20]
    assert seqs(recent, 12) == seqs(recent, 14) == [15, 20]
    assert seqs(recent, 20) == []
    assert recent.head == 20
    assert recent.covers(10) and not recent.covers(9)


def test_it_forgets_the_oldest_by_count() -> None:
    recent = RecentEnvelopes(0)
    recent.extend((envelope(seq) for seq in range(1, 10_001)), 10_000)
    assert recent.floor > 5_000
    assert seqs(recent, recent.floor)[0] == recent.floor + 1
    assert not recent.covers(recent.floor - 1)


def test_it_forgets_the_oldest_by_size_but_keeps_the_newest() -> None:
    recent = RecentEnvelopes(0)
    recent.extend((envelope(seq, 20 * 1024 * 1024) for seq in (1, 2, 3)), 3)
    assert seqs(recent, recent.floor) == [3]
