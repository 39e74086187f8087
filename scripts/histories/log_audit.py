"""The change log and the ledger by themselves."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise

from scripts.histories.evidence import Evidence, Row
from scripts.histories.finding import Finding, Kind


def findings(evidence: Evidence) -> Iterator[Finding]:
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
