import tracemalloc
from uuid import UUID

from msgspec.structs import replace

from app.amqp.envelope import Envelope, MessageVariants
from app.amqp.publishers import RecentEnvelopes
from app.store.changes import ChangeRow
from tests.unit.amqp.brokered import envelope


def sized(seq: int, size: int = 10) -> Envelope:
    return envelope(seq, b"x" * size)


class MarketRows:
    """Makes envelopes of so many rows, each with rows of its own."""

    def __init__(self, count: int) -> None:
        self._count = count

    def envelope(self, seq: int) -> Envelope:
        rows = [self._row(seq, number) for number in range(self._count)]
        small = sized(seq)
        variants = MessageVariants(
            (small.message, small.frames), rows, lambda probabilities, off: small.message
        )
        return replace(small, variants=variants)

    def _row(self, seq: int, number: int) -> ChangeRow:
        key = f"19:map=1|round={number}|threshold=6.5"
        return ChangeRow(
            seq * 1000 + number,
            UUID(int=seq * 1000 + number),
            seq * 1000,
            "market",
            key,
            "market.priced",
            "odds_change",
            1_800_000_000_000 + number,
            seq * 1000 + self._count,
            seq * 1000,
            b"x" * (300 + number % 2),
        )


def seqs(recent: RecentEnvelopes, after: int) -> list[int]:
    found = []
    while (each := recent.next(after)) is not None:
        found.append(after := each.seq)
    return found


def test_it_gives_what_comes_after_a_place() -> None:
    recent = RecentEnvelopes(10)
    recent.extend([sized(12), sized(15)], 17)
    recent.extend([sized(20)], 20)
    assert seqs(recent, 10) == seqs(recent, 11) == [12, 15, 20]
    assert seqs(recent, 12) == seqs(recent, 14) == [15, 20]
    assert seqs(recent, 20) == []
    assert recent.head == 20
    assert recent.covers(10) and not recent.covers(9)


def test_it_forgets_the_oldest_by_count() -> None:
    recent = RecentEnvelopes(0)
    recent.extend((sized(seq) for seq in range(1, 10_001)), 10_000)
    assert recent.floor > 5_000
    assert seqs(recent, recent.floor)[0] == recent.floor + 1
    assert not recent.covers(recent.floor - 1)


def test_it_forgets_the_oldest_by_size_but_keeps_the_newest() -> None:
    recent = RecentEnvelopes(0, max_bytes=30_000)
    recent.extend((sized(seq, 20_000) for seq in (1, 2, 3)), 3)
    assert seqs(recent, recent.floor) == [3]


def test_the_rows_behind_an_envelope_count_as_its_size() -> None:
    large = MarketRows(200)
    recent = RecentEnvelopes(0, max_bytes=2 * large.envelope(1).memory)
    tracemalloc.start()
    recent.extend((large.envelope(seq) for seq in range(1, 50)), 49)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seqs(recent, recent.floor)[-1] == 49
    assert taken < 3 * large.envelope(1).memory, "two of them at most, and not much more than they say"
