"""Recompute every settlement of a match from its stored facts, and say what differs.

Needs nothing but what is stored: the match, its rounds and events (void ones too), its ledger.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.trading.evidence import Evidence, compose
from app.trading.rules import Verdict
from app.trading.settling import verdict
from app.trading.spec import parse
from app.trading.tables import RULES

Key = tuple[int, str]


class Difference(msgspec.Struct, frozen=True):
    """What is wrong with one market's settlement."""

    type_id: int
    specifiers: str
    problem: str


def audit(
    match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent], ledger: Iterable[LedgerEntry]
) -> list[Difference]:
    """Every difference between the ledger and what the facts say; none when all is well."""
    evidence = _evidence(match, rounds, events)
    standing = _standing(match, rounds, events)
    return [
        Difference(*key, problem)
        for key, entries in _by_market(ledger).items()
        for problem in (*_broken_links(entries), *_wrong_end(entries[-1], evidence, standing))
    ]


def _by_market(ledger: Iterable[LedgerEntry]) -> dict[Key, list[LedgerEntry]]:
    found: dict[Key, list[LedgerEntry]] = {}
    for entry in ledger:
        found.setdefault(entry.key, []).append(entry)
    return found


def _evidence(match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]) -> Evidence:
    maps = tuple(
        replace(play, rounds=tuple(one for one in rounds if one.map == play.number and not one.void))
        for play in match.maps
    )
    return compose(replace(match, maps=maps), events)


def _standing(match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]) -> frozenset[int]:
    ends = {play.end_id for play in match.maps if play.end_id is not None}
    played = {one.id for one in rounds if not one.void}
    return frozenset(ends | played | {event.id for event in events if not event.void})


def _broken_links(entries: Sequence[LedgerEntry]) -> Iterable[str]:
    """Each entry must start where the one before it ended, the first one from pending."""
    status = LedgerStatus.PENDING
    for number, entry in enumerate(entries, start=1):
        if entry.previous_status is not status or entry.new_status is status:
            yield f"entry {number} goes from {entry.previous_status} to {entry.new_status} after {status}"
        status = entry.new_status


def _wrong_end(last: LedgerEntry, evidence: Evidence, standing: frozenset[int]) -> Iterable[str]:
    if last.settled_by != "engine":
        return
    if last.type_id not in RULES:
        yield "this market type is not known"
        return
    found = _verdicts(last, evidence)
    if last.new_status is LedgerStatus.PENDING:
        if found[0] is not None:
            yield f"pending, but the facts say {found[0].result}: {found[0].reason}"
        return
    if not any(one is not None and _agrees(one, last) for one in found):
        yield f"{last.outcome}, but the facts say {found[0].result if found[0] else 'nothing yet'}"
    gone = sorted(set(last.rests_on) - standing)
    if gone:
        yield f"rests on facts {gone}, which do not stand"


def _agrees(found: Verdict, last: LedgerEntry) -> bool:
    return found.result is last.outcome and found.void_reason_id == last.void_reason_id


def _verdicts(last: LedgerEntry, evidence: Evidence) -> list[Verdict | None]:
    """The verdict now; and the one given in mid-round, before data went missing or play was broken off."""
    rule, spec = RULES[last.type_id], parse(last.specifiers)
    in_round = [replace(evidence, whole=True)] if spec.round else []
    return [verdict(rule, known, spec) for known in (evidence, *in_round)]
