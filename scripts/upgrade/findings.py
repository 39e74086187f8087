"""What must hold after an upgrade, seen from outside: in what clients received, and in the database."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import asyncpg
import msgspec
from lxml import etree

from scripts.lab.evidence import Delivery, Frame

#: What each tenant received, in order.
Everyone = Mapping[str, Sequence[Delivery]]


class Received(msgspec.Struct, frozen=True):
    """Of all tenants together: live messages and repeated ones, numbers that were lost, that are in no change
    log, that came after a higher one, and that two different messages had, other than by attributes which one
    version adds. `missed`: lost to clients that had to reconnect, and recovered."""

    messages: int
    repeated: int
    lost: Sequence[str]
    missed: int
    invented: int
    back: int
    ambiguous: int

    def wrong(self) -> Iterator[str]:
        yield from self.lost
        for name in ("invented", "back", "ambiguous"):
            if count := getattr(self, name):
                yield f"numbers of live messages: {count} {name}"


def received(everyone: Everyone, published: Mapping[int, str], reconnected: Collection[str] = ()) -> Received:
    """Compare what the tenants received with all messages in the change log, by number."""
    live = {slug: [one for one in messages if one.live] for slug, messages in everyone.items()}
    repeated = missed = invented = back = 0
    lost = list[str]()
    bodies = defaultdict[int, set[bytes]](set)
    for slug, messages in live.items():
        times = Counter(one.number for one in messages)
        repeated += times.total() - len(times)
        missing = sorted(published.keys() - times.keys())
        if slug in reconnected:
            missed += len(missing)
        else:
            lost += [f"{slug} did not receive {published[seq]} {seq}" for seq in missing]
        invented += len(times.keys() - published.keys())
        back += _backwards(messages)
        for one in messages:
            bodies[one.number].add(one.body)
    ambiguous = sum(len(each) > 1 and not _say_the_same(each) for each in bodies.values())
    return Received(sum(map(len, live.values())), repeated, lost, missed, invented, back, ambiguous)


def _say_the_same(bodies: Collection[bytes]) -> bool:
    """Whether the longest of these messages has everything of the others: the same elements in the same
    order, and the same attributes or more."""
    *others, longest = [etree.fromstring(body) for body in sorted(bodies, key=len)]
    return all(_is_within(each, longest) for each in others)


def _is_within(part: etree._Element, whole: etree._Element) -> bool:
    mine, theirs = list(part.iter()), list(whole.iter())
    return len(mine) == len(theirs) and all(
        (a.tag, len(a), a.text) == (b.tag, len(b), b.text)
        and dict(a.attrib).items() <= dict(b.attrib).items()
        for a, b in zip(mine, theirs, strict=True)
    )


def _backwards(messages: Sequence[Delivery]) -> int:
    highest, seen, back = 0, set[int](), 0
    for one in messages:
        back += one.number < highest and one.number not in seen
        highest = max(highest, one.number)
        seen.add(one.number)
    return back


def silence(everyone: Everyone, began: float, ended: float) -> float:
    """The longest time between two messages of one tenant, the later one in this time; in seconds."""
    longest = 0.0
    for messages in everyone.values():
        times = [one.moment for one in messages]
        gaps = (after - before for before, after in pairwise(times) if began < after <= ended)
        longest = max(longest, *gaps, 0.0)
    return longest


def repeated(everyone: Everyone, began: float, ended: float) -> int:
    """Live messages of this time that their tenant had received before."""
    count = 0
    for messages in everyone.values():
        seen = set[int]()
        for one in messages:
            count += one.live and one.number in seen and began < one.moment <= ended
            seen.add(one.number)
    return count


def unfinished(everyone: Everyone, accepted: set[str]) -> list[str]:
    """The recoveries that were accepted, and of which no tenant received the end."""
    ended = {
        one.request for messages in everyone.values() for one in messages if one.name == "snapshot_complete"
    }
    return [f"recovery {each} was accepted and has no end" for each in sorted(accepted - ended)]


async def published(connection: asyncpg.Connection) -> dict[int, str]:
    """All messages that there are to publish: their names by number."""
    rows = await connection.fetch("SELECT envelope_seq, message FROM change WHERE message <> ''")
    return {row["envelope_seq"]: row["message"] for row in rows}


class Streamed(msgspec.Struct, frozen=True):
    """What the stream's client received: frames at so many connections, ids of settlements, snapshots, the
    longest silence of a connection in seconds, and what was not as it must be."""

    frames: int
    connections: int
    settlements: Sequence[int]
    snapshots: int
    silence: float
    wrong: Sequence[str]


def streamed(frames: Sequence[Frame], ledger: set[int]) -> Streamed:
    """Each settlement of the ledger comes once, none again after a connection that resumed, and numbers only
    rise."""
    times = Counter(frame.id for frame in frames if frame.id)
    wrong, silence = list(_fallen(frames)), 0.0
    for before, after in pairwise(frames):
        if before.connection == after.connection:
            silence = max(silence, after.moment - before.moment)
    if lost := ledger - times.keys():
        wrong.append(f"stream: {len(lost)} settlements lost, such as {min(lost)}")
    if invented := times.keys() - ledger:
        wrong.append(f"stream: {len(invented)} settlements invented, such as {min(invented)}")
    if again := times.total() - len(times):
        wrong.append(f"stream: {again} settlements repeated")
    return Streamed(
        frames=len(frames),
        connections=len({frame.connection for frame in frames}),
        settlements=list(times.elements()),
        snapshots=sum(frame.snapshot and frame.kind == "alive" for frame in frames),
        silence=silence,
        wrong=wrong,
    )


def _fallen(frames: Sequence[Frame]) -> Iterator[str]:
    resumed = last = connection = 0  # the highest number of earlier connections, and of this one
    for frame in frames:
        if frame.connection != connection:
            resumed, last, connection = max(resumed, last), 0, frame.connection
        if frame.seq < last and not frame.snapshot:
            yield f"stream: {frame.kind} {frame.seq} after {last}"
        if frame.id and frame.seq <= resumed:
            yield f"stream: settlement {frame.seq} again, although resumed after {resumed}"
        last = max(last, frame.seq)
