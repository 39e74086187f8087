"""What the lines of a batch do to a match, once they are read: times that fit, doubts that end; pure."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain.changes import MatchChange
from app.domain.doubts import MISSING_DATA, SILENT
from app.domain.facts import DataComplete, DataLost, Fact, FreezeStarted, SilenceEnded
from app.domain.match import Match
from app.domain.transitions import fold


def apply_facts(
    match: Match, facts: Sequence[Fact], arrived_at: int, *, may_price: bool
) -> tuple[Match, tuple[MatchChange, ...]]:
    """The match after the facts of lines of which the newest arrived at `arrived_at` (Unix ms), and its
    changes. Without `may_price` they came too late to price by."""
    after, changes = fold(match, facts)
    newest = max(after.last_arrived_at, arrived_at)
    return replace(after, last_arrived_at=newest, applied_late=not may_price), changes


def with_ended_doubts(
    match: Match, facts: Sequence[Fact], *, has_gap: bool, arrived_at: int
) -> tuple[list[Fact], bool]:
    """The facts with those that end doubts about the source, and whether bytes are still missing. A gap's
    doubt ends before the first complete round after it, a silence's doubt with the first line; without facts
    it ends at `arrived_at` (Unix ms)."""
    found = list(facts)
    doubted = {doubt.kind for doubt in match.doubts}
    round_begin = first_complete_round(found) if has_gap else 0
    if round_begin is not None and (has_gap or MISSING_DATA in doubted):
        has_gap = False
        found.insert(round_begin, DataComplete(at=_time_at(found, round_begin, arrived_at)))
    if SILENT in doubted:
        found.insert(0, SilenceEnded(at=_time_at(found, 0, arrived_at)))
    return found, has_gap


def _time_at(facts: Sequence[Fact], index: int, arrived_at: int) -> int:
    return facts[index].at if index < len(facts) else arrived_at


def fit_between(facts: Sequence[Fact], after: int, until: int) -> list[Fact]:
    """The facts with their times (ms) scaled into `after` … `until`.

    The facts of a batch that arrives at the speed of play are in that interval already and stay unchanged.
    A batch that covers more of the source's seconds than have passed here (a log played faster, a backlog)
    would otherwise have facts earlier than those of the batch before it.
    """
    first = min((fact.at for fact in facts), default=until)
    if first >= after or until <= after:
        return [replace(fact, at=max(fact.at, after)) if fact.at < after else fact for fact in facts]
    scale = (until - after) / (until - first)
    return [replace(fact, at=until - round((until - fact.at) * scale)) for fact in facts]


def first_complete_round(facts: Sequence[Fact]) -> int | None:
    """The index of the first round begun after the last gap in `facts`; None without one."""
    lost = max((index for index, fact in enumerate(facts) if isinstance(fact, DataLost)), default=-1)
    begins = (index for index, fact in enumerate(facts) if isinstance(fact, FreezeStarted) and index > lost)
    return next(begins, None)
