"""Recompute every settlement of a match from its stored facts, and report what differs.

Needs nothing but what is stored: the match, its rounds and events (void ones too), its ledger.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.map_play import player_kills
from app.domain.market import MarketKey, Result
from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.trading.match_facts import MatchFacts, facts_from_events
from app.trading.registry import RULES
from app.trading.rules import Settlement, parse_specifiers
from app.trading.settling import settlement_of, waits_for_events, waits_for_format


class SettlementDifference(msgspec.Struct, frozen=True):
    """What is wrong with one market's settlement."""

    type_id: int
    specifiers: str
    problem: str


def check_settlements(
    match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent], ledger: Iterable[LedgerEntry]
) -> list[SettlementDifference]:
    """Every difference between the ledger and the facts; none when they agree."""
    facts = _facts(match, rounds, events)
    standing_ids = _standing_ids(match, rounds, events)
    return [
        SettlementDifference(*key, problem)
        for key, entries in _by_market(ledger).items()
        for problem in (
            *_broken_links(entries),
            *_wrong_windows(entries),
            *_wrong_outcome(entries, facts, standing_ids),
        )
    ]


def _by_market(ledger: Iterable[LedgerEntry]) -> dict[MarketKey, list[LedgerEntry]]:
    found: dict[MarketKey, list[LedgerEntry]] = {}
    for entry in ledger:
        found.setdefault(entry.key, []).append(entry)
    return found


def _facts(match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]) -> MatchFacts:
    by_round: dict[tuple[int, int], list[TimelineEvent]] = {}
    for event in events:
        by_round.setdefault((event.map, event.round), []).append(event)
    counted = [
        one
        if one.kills is None
        else replace(one, kills=player_kills(by_round.get((one.map, one.number), ())))
        for one in rounds
        if not one.void
    ]
    maps = tuple(
        replace(play, rounds=tuple(one for one in counted if one.map == play.number)) for play in match.maps
    )
    return facts_from_events(replace(match, maps=maps), events)


def _standing_ids(match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]) -> frozenset[int]:
    ends = {play.end_id for play in match.maps if play.end_id is not None}
    played = {one.id for one in rounds if not one.void}
    return frozenset(ends | played | {event.id for event in events if not event.void})


def _broken_links(entries: Sequence[LedgerEntry]) -> Iterable[str]:
    """Each entry must start from the status in which the one before it ended, the first one from pending; one
    about a window leaves status and result as they are."""
    status: LedgerStatus = LedgerStatus.PENDING
    result: Result | None = None
    for number, entry in enumerate(entries, start=1):
        windowed = entry.void_window is not None
        wrong = entry.previous_status is not status or (entry.new_status is status) is not windowed
        if wrong or (windowed and entry.result is not result):
            yield f"entry {number} goes from {entry.previous_status} to {entry.new_status} after {status}"
        status, result = entry.new_status, entry.result


def _wrong_windows(entries: Sequence[LedgerEntry]) -> Iterable[str]:
    """A window must have ended when it became void; each entry about it must change whether it is void."""
    void: set[VoidWindow] = set()
    for number, entry in enumerate(entries, start=1):
        window = entry.void_window
        if window is None:
            continue
        if window.start_time > window.end_time or 0 < entry.at < window.end_time:
            yield f"entry {number} is about a window from {window.start_time} to {window.end_time}"
        if (window in void) is not entry.window_rolled_back:
            yield f"entry {number} changes nothing about its window"
        void ^= {window}


def _wrong_outcome(
    entries: Sequence[LedgerEntry], facts: MatchFacts, standing_ids: frozenset[int]
) -> Iterable[str]:
    moves = [entry for entry in entries if entry.void_window is None]
    if not moves or moves[-1].settled_by != "engine":
        return
    last = moves[-1]
    if last.type_id not in RULES:
        yield "this market type is not known"
        return
    rule, specifiers = RULES[last.type_id], parse_specifiers(last.specifiers)
    if waits_for_format(rule, facts, specifiers) or waits_for_events(rule, facts, specifiers):
        return
    found = _settlements(last, facts)
    if last.new_status is LedgerStatus.PENDING:
        if found[0] is not None:
            yield f"pending, but the facts say {found[0].result}: {found[0].reason}"
        return
    if not any(one is not None and _agrees(one, last) for one in found):
        yield f"{last.result}, but the facts say {found[0].result if found[0] else 'nothing yet'}"
    gone = sorted(set(last.rests_on) - standing_ids)
    if gone:
        yield f"rests on facts {gone}, which do not stand"


def _agrees(found: Settlement, last: LedgerEntry) -> bool:
    return found.result is last.result and found.void_reason_id == last.void_reason_id


def _settlements(last: LedgerEntry, facts: MatchFacts) -> list[Settlement | None]:
    """The settlement by the facts now, and by those in mid-round, before data was missing or play stopped."""
    rule, specifiers = RULES[last.type_id], parse_specifiers(last.specifiers)
    in_round = [replace(facts, ignores_gaps=True)] if specifiers.round else []
    return [settlement_of(rule, known, specifiers) for known in (facts, *in_round)]
