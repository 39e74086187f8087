"""Recompute every settlement of a match from its stored facts, and report what differs.

Needs nothing but what is stored: the match, its rounds and events (void ones too), its ledger.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.map_play import player_kills
from app.domain.market import Result
from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.kit.grouping import grouped
from app.trading.match_facts import MatchFacts, facts_from_events
from app.trading.registry import RULES
from app.trading.rules import Settlement, parse_specifiers
from app.trading.settling import settlement_by_rule, waits_for_events, waits_for_format


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
    in_round = replace(facts, ignores_gaps=True)
    standing_ids = _standing_ids(match, rounds, events)
    differences = []
    for key, entries in grouped((entry.key, entry) for entry in ledger).items():
        problems = _broken_links(entries) + _wrong_windows(entries)
        problems += _wrong_outcome(entries, facts, in_round, standing_ids)
        if problems:
            differences += [SettlementDifference(*key, problem) for problem in problems]
    return differences


def _facts(match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]) -> MatchFacts:
    by_round = grouped(((event.map, event.round), event) for event in events)
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


def _broken_links(entries: Sequence[LedgerEntry]) -> list[str]:
    """Each entry must start from the status in which the one before it ended, the first one from pending; one
    about a window leaves status and result as they are."""
    problems = []
    status: LedgerStatus = LedgerStatus.PENDING
    result: Result | None = None
    for number, entry in enumerate(entries, start=1):
        windowed = entry.void_window is not None
        wrong = entry.previous_status is not status or (entry.new_status is status) is not windowed
        if wrong or (windowed and entry.result is not result):
            problems.append(
                f"entry {number} goes from {entry.previous_status} to {entry.new_status} after {status}"
            )
        status, result = entry.new_status, entry.result
    return problems


def _wrong_windows(entries: Sequence[LedgerEntry]) -> list[str]:
    """A window must have ended when it became void; each entry about it must change whether it is void."""
    problems = []
    void: set[VoidWindow] = set()
    for number, entry in enumerate(entries, start=1):
        window = entry.void_window
        if window is None:
            continue
        if window.start_time > window.end_time or 0 < entry.at < window.end_time:
            problems.append(f"entry {number} is about a window from {window.start_time} to {window.end_time}")
        if (window in void) is not entry.window_rolled_back:
            problems.append(f"entry {number} changes nothing about its window")
        void ^= {window}
    return problems


def _wrong_outcome(
    entries: Sequence[LedgerEntry], facts: MatchFacts, in_round: MatchFacts, standing_ids: frozenset[int]
) -> list[str]:
    """The last settlement or rollback must say what the facts say now, or for a market about a round what
    they said `in_round`, before data was missing or play stopped."""
    last = next((entry for entry in reversed(entries) if entry.void_window is None), None)
    if last is None or last.settled_by != "engine":
        return []
    rule = RULES.get(last.type_id)
    if rule is None:
        return ["this market type is not known"]
    specifiers = parse_specifiers(last.specifiers)
    if waits_for_format(rule, facts, specifiers) or waits_for_events(rule, facts, specifiers):
        return []
    found = settlement_by_rule(rule, facts, specifiers)
    if last.new_status is LedgerStatus.PENDING:
        return [f"pending, but the facts say {found.result}: {found.reason}"] if found is not None else []
    problems = []
    if not _agrees(found, last) and not (
        specifiers.round and _agrees(settlement_by_rule(rule, in_round, specifiers), last)
    ):
        problems.append(f"{last.result}, but the facts say {found.result if found else 'nothing yet'}")
    if not standing_ids.issuperset(last.rests_on):
        gone = sorted(set(last.rests_on) - standing_ids)
        problems.append(f"rests on facts {gone}, which do not stand")
    return problems


def _agrees(found: Settlement | None, last: LedgerEntry) -> bool:
    return found is not None and found.result is last.result and found.void_reason_id == last.void_reason_id
