"""What is wrong in a run's evidence; pure."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from scripts.histories import book_audit, feed_audit, log_audit, stream_audit
from scripts.histories.evidence import Evidence
from scripts.histories.finding import Finding, Kind


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
    yield from log_audit.findings(evidence)
    for tenant in evidence.tenants:
        yield from feed_audit.findings(tenant)
        yield from book_audit.findings(tenant, evidence.entries)
        yield from stream_audit.findings(tenant, evidence.rows, evidence.entries)
    for failure in evidence.failures:
        yield Finding(Kind.FAILURE, "service", failure)
