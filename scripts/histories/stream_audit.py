"""What a tenant received over the stream, against the change log and REST."""

from collections.abc import Iterator, Sequence

from scripts.histories.evidence import Entry, Frame, Row, Tenant
from scripts.histories.finding import Finding, Kind

_SHOWN = 5
_OVER = ("finished", "cancelled")


def findings(tenant: Tenant, rows: Sequence[Row], entries: Sequence[Entry]) -> Iterator[Finding]:
    subject = f"{tenant.slug}'s stream"
    if not tenant.frames:
        return
    yield from (Finding(Kind.INVENTED, subject, text) for text in _invented(tenant, rows))
    yield from (Finding(Kind.ORDER, subject, text) for text in _order(tenant.frames))
    yield from (Finding(Kind.LOST, subject, text) for text in _lost(tenant, entries))
    yield from (Finding(Kind.BOOK, subject, text) for text in _state(tenant))


def _invented(tenant: Tenant, rows: Sequence[Row]) -> Iterator[str]:
    """A frame has the number of a row about its match."""
    known = {row.seq: row.match for row in rows}
    for frame in tenant.frames:
        if frame.kind != "alive" and not frame.snapshot and known.get(frame.seq) != frame.match:
            yield f"{frame.kind} {frame.seq} about {frame.match} is not in the change log"


def _order(frames: Sequence[Frame]) -> Iterator[str]:
    """Within a connection numbers rise."""
    newest = dict[int, int]()
    for frame in frames:
        if frame.kind == "alive" or frame.snapshot:
            continue
        if frame.seq <= newest.get(frame.connection, 0):
            yield f"{frame.kind} {frame.seq} came after {newest[frame.connection]}"
        newest[frame.connection] = max(newest.get(frame.connection, 0), frame.seq)


def _lost(tenant: Tenant, entries: Sequence[Entry]) -> Iterator[str]:
    """Every settlement is sent, unless a later snapshot took its place."""
    received = {frame.id for frame in tenant.frames if frame.id}
    snapshot = max((f.seq for f in tenant.frames if f.snapshot and f.kind == "alive"), default=0)
    for each in entries:
        due = each.id in tenant.entries and each.match not in tenant.uncertain
        if due and each.id > snapshot and each.id not in received:
            yield f"settlement {each.id} of {each.match} was not sent"


def _state(tenant: Tenant) -> Iterator[str]:
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
