"""A tenant's book and its results, as it folded them from the feed, against REST and the ledger."""

from collections.abc import Iterator, Sequence

from scripts.histories.evidence import Delivery, Entry, Market, Tenant
from scripts.histories.finding import Finding, Kind

_SHOWN = 5
Results = dict[tuple[str, Market], str]


def findings(tenant: Tenant, entries: Sequence[Entry]) -> Iterator[Finding]:
    yield from (Finding(Kind.BOOK, tenant.slug, text) for text in _offers(tenant))
    if tenant.differences is None:
        yield Finding(Kind.BOOK, tenant.slug, "the self-check does not answer")
    elif tenant.differences:
        yield Finding(Kind.BOOK, tenant.slug, f"the self-check finds {tenant.differences} differences")
    mine = [entry for entry in entries if entry.id in tenant.entries]
    wanted = {key: state for key, state in _ledger(mine).items() if key[0] not in tenant.uncertain}
    had = folded(tenant.deliveries)
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


def folded(deliveries: Sequence[Delivery]) -> Results:
    """The newest result of each market, by the timestamps of the messages."""
    newest = dict[tuple[str, Market], tuple[int, str]]()
    for got in deliveries:
        for market, state in got.states:
            known = newest.get((got.match, market), (0, ""))[0]
            if got.at >= known:
                newest[got.match, market] = got.at, state
    return {key: state for key, (_, state) in newest.items()}
