"""What is wrong in a run's evidence; pure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise

import msgspec

from scripts.lab.evidence import (
    Delivery,
    Entry,
    Envelope,
    Evidence,
    Finding,
    Frame,
    Kind,
    Market,
    Recovery,
    Row,
    Tenant,
)

#: Reasons by which the service, or the rules of the feed, made the client recover.
_DUE = frozenset({"connected", "notice", "gap", "silence"})
_SHOWN = 5
_OVER = ("finished", "cancelled")
Results = dict[tuple[str, Market], str]


class Verdict(msgspec.Struct, frozen=True):
    """`repeated`: deliveries of a number that the tenant had received; `received`: all of live messages."""

    findings: tuple[Finding, ...]
    received: int
    repeated: int

    def count(self, kind: Kind) -> int:
        return sum(each.kind is kind for each in self.findings)


def audit(evidence: Evidence) -> Verdict:
    """Everything that is not as it must be."""
    live = [Counter(each.number for each in tenant.deliveries if each.live) for tenant in evidence.tenants]
    received = sum(counts.total() for counts in live)
    return Verdict(tuple(_findings(evidence)), received, received - sum(map(len, live)))


def _findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _log(evidence)
    for tenant in evidence.tenants:
        yield from _feed(tenant)
        yield from _book(tenant, evidence.entries)
        yield from _stream(tenant, evidence.rows, evidence.entries)
    for failure in evidence.failures:
        yield Finding(Kind.FAILURE, "service", failure)


def _log(evidence: Evidence) -> Iterator[Finding]:
    """The change log and the ledger by themselves."""
    rows = evidence.rows
    for text in chain(_numbers(rows), _envelopes(rows), _chains(rows, evidence.marks)):
        yield Finding(Kind.LOG, "change log", text)
    for text in chain(_entries(evidence), evidence.wrong_settlements):
        yield Finding(Kind.LEDGER, "ledger", text)


def _numbers(rows: Sequence[Row]) -> Iterator[str]:
    for seq, count in Counter(row.seq for row in rows).items():
        if count > 1:
            yield f"{count} rows have the number {seq}"


def _envelopes(rows: Sequence[Row]) -> Iterator[str]:
    """The rows of a message are consecutive, about one match, of one moment."""
    published = sorted((row for row in rows if row.message), key=lambda row: row.envelope)
    for number, group in groupby(published, key=lambda row: row.envelope):
        found = list(group)
        if number != max(row.seq for row in found):
            yield f"message {number} has no row of that number, or one beyond it"
        if len({(row.match, row.message, row.at, row.previous) for row in found}) > 1:
            yield f"the rows of message {number} contradict each other"


def _chains(rows: Sequence[Row], marks: Sequence[int]) -> Iterator[str]:
    """Each message of a match names the one before it, or a mark after that one, and is later."""
    chains = defaultdict[str, dict[int, Row]](dict)
    for row in rows:
        if row.message:
            chains[row.match][row.envelope] = row
    for match, found in chains.items():
        messages = [found[number] for number in sorted(found)]
        if messages[0].previous not in (0, *marks):
            yield f"the first message about {match} names {messages[0].previous} before it"
        for before, after in pairwise(messages):
            marked = after.previous in marks and before.envelope < after.previous
            if after.previous != before.envelope and not marked:
                yield f"message {after.envelope} about {match} names {after.previous}, not {before.envelope}"
            if after.at <= before.at:
                yield f"message {after.envelope} about {match} is of {after.at}, after {before.at}"


def _entries(evidence: Evidence) -> Iterator[str]:
    """Every entry has its row in the change log, and every such row its entry."""
    logged = {row.seq for row in evidence.rows if row.entity == "settlement"}
    entered = {entry.id for entry in evidence.entries}
    yield from (f"entry {each} is not in the change log" for each in sorted(entered - logged))
    yield from (f"settlement {each} of the change log has no entry" for each in sorted(logged - entered))


def _feed(tenant: Tenant) -> Iterator[Finding]:
    """What a tenant received over AMQP, against what was published to it."""
    published = {each.number: each for each in tenant.envelopes}
    yield from (Finding(Kind.INVENTED, tenant.slug, text) for text in _invented_messages(tenant, published))
    yield from (Finding(Kind.ORDER, tenant.slug, text) for text in _order_of_messages(tenant.deliveries))
    for each in _missing(tenant):
        text = f"{each.name} {each.number} about {each.match} was neither received nor recovered"
        yield Finding(Kind.LOST, tenant.slug, text)


def _invented_messages(tenant: Tenant, published: dict[int, Envelope]) -> Iterator[str]:
    results = {(each.match, each.name, each.at) for each in tenant.envelopes}
    for got in tenant.deliveries:
        if not got.match:
            continue
        if got.live:
            yield from _invented_live(got, published.get(got.number))
        elif got.name in ("odds_change", "fixture_change"):
            continue
        elif (got.match, got.name, got.at) not in results:  # the timestamp is that of the first publication
            yield f"the replayed {got.name} of {got.at} about {got.match} was never published"


def _invented_live(got: Delivery, published: Envelope | None) -> Iterator[str]:
    if published is None:
        yield f"{got.name} {got.number} about {got.match} is not in the change log"
    elif (got.match, got.at, got.previous) != (published.match, published.at, published.previous):
        yield f"{got.name} {got.number}: its match, timestamp or x-prev-seq is not that of the change log"
    elif got.body != published.body:
        yield f"{got.name} {got.number} about {got.match} differs from the change log"


def _order_of_messages(deliveries: Sequence[Delivery]) -> Iterator[str]:
    """What the broker may not have accepted is published again, in order, up to the newest. Where a queue had
    missed the beginning of that, it comes first after newer messages; then the newest of each match must come
    again before anything newer does. A client that connects, or that is notified, recovers."""
    seen, newest, connection = set[int](), defaultdict[str, int](int), 0
    late = dict[str, Delivery]()  # by match, "" for all matches: its newest has not come again since
    for got in deliveries:
        if got.subscribed == "0":
            newest.clear()
        if got.subscribed == "0" or got.connection != connection:
            late.clear()
        connection = got.connection
        if not got.live:
            continue
        if got.number > newest[""]:
            yield from _late(late, newest)
            late.clear()
        for scope in ("", got.match):
            if got.number >= newest[scope]:
                newest[scope] = got.number
                late.pop(scope, None)
            elif got.number not in seen:
                late.setdefault(scope, got)
        seen.add(got.number)
    yield from _late(late, newest)


def _late(late: dict[str, Delivery], newest: dict[str, int]) -> Iterator[str]:
    for scope, got in late.items():
        of = f" of {scope}" if scope else ""
        yield f"{got.name} {got.number} about {got.match} came first after {newest[scope]}, the newest{of}"


def _missing(tenant: Tenant) -> list[Envelope]:
    """What was published to a tenant, and was neither received live nor covered by a recovery that the tenant
    had to request."""
    received = {each.number for each in tenant.deliveries if each.live}
    recoveries = [each for each in tenant.recoveries if each.completed and _DUE & set(each.reasons)]
    replayed = _replayed(tenant.deliveries)
    return [
        each
        for each in tenant.envelopes
        if each.number not in received
        and each.match not in tenant.uncertain
        and not any(_covers(recovery, replayed[recovery.request], each) for recovery in recoveries)
    ]


def _replayed(deliveries: Sequence[Delivery]) -> defaultdict[str, dict[str, int]]:
    """By recovery, the newest change with which each match was replayed."""
    found = defaultdict[str, dict[str, int]](dict)
    for each in deliveries:
        if each.request and each.match:
            newest = found[each.request].get(each.match, 0)
            found[each.request][each.match] = max(newest, each.number)
    return found


def _covers(recovery: Recovery, replayed: dict[str, int], missed: Envelope) -> bool:
    """A match that a recovery does not replay was over when it was requested."""
    if missed.match in replayed:
        return replayed[missed.match] >= missed.number
    return recovery.requested * 1000 > missed.at


def _book(tenant: Tenant, entries: Sequence[Entry]) -> Iterator[Finding]:
    """A tenant's book and its results, as it folded them from the feed, against REST and the ledger."""
    yield from (Finding(Kind.BOOK, tenant.slug, text) for text in _offers(tenant))
    if tenant.differences is None:
        yield Finding(Kind.BOOK, tenant.slug, "the self-check does not answer")
    elif tenant.differences:
        yield Finding(Kind.BOOK, tenant.slug, f"the self-check finds {tenant.differences} differences")
    mine = [entry for entry in entries if entry.id in tenant.entries]
    wanted = {key: state for key, state in _ledger(mine).items() if key[0] not in tenant.uncertain}
    had = _folded(tenant.deliveries)
    for key, state in wanted.items():
        mine_is = had.get(key, "pending")
        if mine_is != state:
            kind = Kind.LOST if mine_is == "pending" else Kind.BOOK
            yield Finding(kind, tenant.slug, f"{key[0]} {key[1]} is {state}, and {mine_is} to the tenant")
    for key, state in had.items():
        if key not in wanted and state != "pending" and key[0] not in tenant.uncertain:
            yield Finding(Kind.INVENTED, tenant.slug, f"{key[0]} {key[1]} is {state} to the tenant only")
    if tenant.settlements != tenant.entries:
        lacks, more = tenant.entries - tenant.settlements, tenant.settlements - tenant.entries
        text = f"REST lacks the settlements {sorted(lacks)[:_SHOWN]}, and has {sorted(more)[:_SHOWN]} more"
        yield Finding(Kind.LEDGER, tenant.slug, text)


def _offers(tenant: Tenant) -> Iterator[str]:
    for match in sorted(tenant.book.keys() | tenant.offer.keys()):
        mine, theirs = tenant.book.get(match, {}), tenant.offer.get(match, {})
        wrong = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
        if wrong:
            shown = ", ".join(f"{name}: {mine.get(name)}, REST {theirs.get(name)}" for name in wrong[:_SHOWN])
            yield f"{match} differs in {len(wrong)} markets: {shown}"


def _ledger(entries: Sequence[Entry]) -> Results:
    newest = {(each.match, each.market): each.state for each in sorted(entries, key=lambda each: each.id)}
    return {key: state for key, state in newest.items() if state != "pending"}


def _folded(deliveries: Sequence[Delivery]) -> Results:
    """The newest result of each market, by the timestamps of the messages."""
    newest = dict[tuple[str, Market], tuple[int, str]]()
    for got in deliveries:
        for market, state in got.states:
            known = newest.get((got.match, market), (0, ""))[0]
            if got.at >= known:
                newest[got.match, market] = got.at, state
    return {key: state for key, (_, state) in newest.items()}


def _stream(tenant: Tenant, rows: Sequence[Row], entries: Sequence[Entry]) -> Iterator[Finding]:
    """What a tenant received over the stream, against the change log and REST."""
    subject = f"{tenant.slug}'s stream"
    if not tenant.frames:
        return
    yield from (Finding(Kind.INVENTED, subject, text) for text in _invented_frames(tenant, rows))
    yield from (Finding(Kind.ORDER, subject, text) for text in disorder(tenant.frames))
    yield from (Finding(Kind.LOST, subject, text) for text in _lost_settlements(tenant, entries))
    yield from (Finding(Kind.BOOK, subject, text) for text in _streamed(tenant))


def _invented_frames(tenant: Tenant, rows: Sequence[Row]) -> Iterator[str]:
    """A frame has the number of a row about its match."""
    known = {row.seq: row.match for row in rows}
    for frame in tenant.frames:
        if frame.kind != "alive" and not frame.snapshot and known.get(frame.seq) != frame.match:
            yield f"{frame.kind} {frame.seq} about {frame.match} is not in the change log"


def disorder(frames: Sequence[Frame]) -> Iterator[str]:
    """Within a connection numbers rise."""
    newest = dict[int, int]()
    for frame in frames:
        if frame.kind == "alive" or frame.snapshot:
            continue
        if frame.seq <= newest.get(frame.connection, 0):
            yield f"{frame.kind} {frame.seq} came after {newest[frame.connection]}"
        newest[frame.connection] = max(newest.get(frame.connection, 0), frame.seq)


def _lost_settlements(tenant: Tenant, entries: Sequence[Entry]) -> Iterator[str]:
    """Every settlement is sent, unless a later snapshot took its place."""
    received = {frame.id for frame in tenant.frames if frame.id}
    snapshot = max((f.seq for f in tenant.frames if f.snapshot and f.kind == "alive"), default=0)
    for each in entries:
        due = each.id in tenant.entries and each.match not in tenant.uncertain
        if due and each.id > snapshot and each.id not in received:
            yield f"settlement {each.id} of {each.match} was not sent"


def _streamed(tenant: Tenant) -> Iterator[str]:
    for match, shown in tenant.rest.items():
        if match in tenant.uncertain:
            continue
        held = tenant.streamed.get(match)
        mine = held.markets if held else {}
        wrong = sorted(n for n in mine.keys() | shown.markets.keys() if mine.get(n) != shown.markets.get(n))
        if wrong:
            name = wrong[0]
            text = f"{mine.get(name)}, REST {shown.markets.get(name)}"
            yield f"{match} differs in {len(wrong)} markets: {name}: {text}"
        # A snapshot has no match that is over: it is not known until it changes.
        known = held and (held.match or shown.match["status"] not in _OVER)
        if held and known and held.match != shown.match:
            names = [name for name in shown.match if held.match.get(name) != shown.match[name]]
            yield f"{match} differs in {', '.join(names[:_SHOWN])}"
