"""What a tenant received over AMQP, against what was published to it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from scripts.histories.evidence import Delivery, Envelope, Recovery, Tenant
from scripts.histories.finding import Finding, Kind

#: Reasons by which the service, or the rules of the feed, made the client recover.
_DUE = frozenset({"connected", "notice", "gap", "silence"})


def findings(tenant: Tenant) -> Iterator[Finding]:
    published = {each.number: each for each in tenant.envelopes}
    yield from (Finding(Kind.INVENTED, tenant.slug, text) for text in _invented(tenant, published))
    yield from (Finding(Kind.ORDER, tenant.slug, text) for text in _order(tenant.deliveries))
    for each in missing(tenant):
        text = f"{each.name} {each.number} about {each.match} was neither received nor recovered"
        yield Finding(Kind.LOST, tenant.slug, text)


def _invented(tenant: Tenant, published: dict[int, Envelope]) -> Iterator[str]:
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


def _order(deliveries: Sequence[Delivery]) -> Iterator[str]:
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


def missing(tenant: Tenant) -> list[Envelope]:
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
